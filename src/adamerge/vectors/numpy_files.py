"""Arrays of .npy and .npz files. What a header promises is compared with what the file holds before memory is taken."""

from math import prod
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy

from adamerge.errors import BadFile
from adamerge.vectors.columns import Array

ARCHIVE = b"PK"  # how a zip file begins
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}

# A few megabytes of zip can unpack to gigabytes of zeros. Vectors do not pack so well.
ALWAYS_UNPACKED = 64 << 20  # bytes
MOST_UNPACKED = 64  # times the size of the file


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


def _read_archive(archive: ZipFile, path: Path) -> dict[str, Array]:
    unpacked, packed = sum(m.file_size for m in archive.infolist()), path.stat().st_size
    if unpacked > max(ALWAYS_UNPACKED, MOST_UNPACKED * packed):
        raise BadFile(
            f"{path} would unpack from {packed:,} to {unpacked:,} bytes, more than "
            f"{MOST_UNPACKED} times its size: vectors do not pack so well"
        )
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
    promised, there = prod(shape) * dtype.itemsize, size - file.tell()
    if promised > there or dtype.itemsize == 0:
        raise BadFile(
            f"{path}: '{name}' promises {dtype} of shape {shape}, {promised:,} bytes, "
            f"and {max(there, 0):,} follow"
        )
    file.seek(0)
    array: Any = npy.read_array(file, allow_pickle=False)
    return np.asarray(array)
