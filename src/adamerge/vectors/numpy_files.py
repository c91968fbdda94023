"""Arrays of .npy and .npz files -> pages. What a header promises is compared with the file before memory is taken."""

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy

from adamerge.errors import BadFile
from adamerge.types import MultiVector
from adamerge.vectors import named_arrays
from adamerge.vectors.options import ReadOptions
from adamerge.vectors.row_columns import Array

ARCHIVE = b"PK"  # how a zip file begins
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}

# A few megabytes of zip can unpack to gigabytes of zeros. Vectors do not pack so well.
ALWAYS_UNPACKED = 64 << 20  # bytes
MOST_UNPACKED = 64  # times the size of the file


def read(path: Path, options: ReadOptions) -> Iterator[MultiVector]:
    """The pages of a file; an array `ids` has the ids of its pages."""
    arrays = read_arrays(path)
    ids: list[str] = []
    if "ids" in arrays:
        ids = [str(id) for id in arrays.pop("ids").ravel()]
    return named_arrays.to_pages(arrays, ids, path, options)


def read_arrays(path: Path) -> dict[str, Array]:
    """The arrays of a file by their names; the one of an .npy file is called `vectors`. No pickle is ever read."""
    with path.open("rb") as file:
        start = file.read(len(npy.MAGIC_PREFIX))
        file.seek(0)
        if start == npy.MAGIC_PREFIX:
            return {"vectors": _read_array(file, path.stat().st_size, path, "vectors")}
        if not start.startswith(ARCHIVE):
            raise BadFile(f"{path} is no file of NumPy, a pickle perhaps: np.savez writes .npz")
        with ZipFile(file) as archive:
            return _read_archive(archive, path)


def check_unpacked_size(archive: ZipFile, path: Path) -> None:
    """Refuse an archive that would take far more memory than its file is large."""
    packed = path.stat().st_size
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > max(ALWAYS_UNPACKED, MOST_UNPACKED * packed):
        raise BadFile(
            f"{path} would unpack from {packed:,} to {unpacked:,} bytes, more than "
            f"{MOST_UNPACKED} times its size: vectors do not pack so well"
        )


def _read_archive(archive: ZipFile, path: Path) -> dict[str, Array]:
    check_unpacked_size(archive, path)
    arrays = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        with archive.open(member) as file:
            arrays[name] = _read_array(file, member.file_size, path, name)
    return arrays


def _read_array(file: IO[bytes], size: int, path: Path, name: str) -> Array:
    """The array of an open file of `size` bytes, which may be part of an archive."""
    version = npy.read_magic(file)
    if version not in HEADERS:
        raise BadFile(f"{path}: '{name}' has NumPy's format {version}, we read (1, 0) and (2, 0)")
    shape, _, dtype = HEADERS[version](file)
    if dtype.hasobject:
        raise BadFile(f"{path}: '{name}' holds Python objects, and a pickle is never read")

    promised = prod(shape) * dtype.itemsize
    follow = size - file.tell()
    if promised > follow or dtype.itemsize == 0:
        raise BadFile(
            f"{path}: '{name}' promises {dtype} of shape {shape}, {promised:,} bytes, "
            f"and {max(follow, 0):,} follow"
        )

    file.seek(0)
    array: Any = npy.read_array(file, allow_pickle=False)
    return np.asarray(array)
