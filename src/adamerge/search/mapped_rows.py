"""Rows in a file without a name: the system reads what a search needs of it, and forgets what others need room for."""

import os
import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from adamerge.codes import StoredRows, empty_rows
from adamerge.errors import StoreUnavailable


def mapped_rows(dtype: str, d: int, rows: int, folder: Path | None) -> StoredRows:
    """Room for vectors as `empty_rows` gives it, in a temporary file of a folder that is gone when nobody uses it.

    None, or a folder that nobody may write to, stands for the folder of temporary files. A disk that is full is told
    now: to write to a mapped file for which there is no room ends the process.
    """
    one = empty_rows(dtype, d, 1)
    parts = tuple(_mapped(part, rows, folder) for part in one.parts)
    scales = None
    if one.scales is not None:
        scales = _mapped(one.scales, rows, folder)
    return StoredRows(dtype, d, parts, scales)


def _mapped(row: NDArray[Any], rows: int, folder: Path | None) -> NDArray[Any]:
    """An array of as many rows like this one, in a file of its own."""
    size = max(row.nbytes * rows, 1)  # an empty file cannot be mapped
    try:
        with _temporary_file(folder) as file:
            if hasattr(os, "posix_fallocate"):  # not on macOS
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
            numbers = np.memmap(file, np.uint8, "r+", shape=size)
    except OSError as error:
        raise StoreUnavailable(
            f"there is no room to map {size / 1e6:,.0f} MB of sign planes from disk ({error.strerror}): "
            "free some, or let the search have more --memory"
        ) from None
    shape = (rows, *row.shape[1:])
    return numbers[: row.nbytes * rows].view(row.dtype).reshape(shape)


def _temporary_file(folder: Path | None) -> IO[bytes]:
    if folder is not None:
        try:
            return tempfile.TemporaryFile(dir=folder)
        except PermissionError:
            pass  # a store that may only be read
    return tempfile.TemporaryFile()
