"""A safetensors file in a bucket, of which only the parts are read that are asked for.

The format: eight bytes with the length of the header, the header as JSON, and then the bytes of all arrays. The library
reads only files on a disk.
"""

import json
from typing import Any, NamedTuple

import numpy as np

from adamerge.buckets import BucketPath
from adamerge.vectors.row_columns import Array

DTYPES = {
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
    "I8": "i1",
    "U8": "u1",
    "I32": "<i4",
    "I64": "<i8",
}
MOST_HEADER = 100_000_000  # bytes, as the library has it
READ_AT_ONCE = 1 << 16  # bytes of a first read, which most headers fit in


class Slice(NamedTuple):
    """An array that is not read yet."""

    shape: list[int]

    def get_shape(self) -> list[int]:
        """Its shape."""
        return self.shape


class SafetensorsObject:
    """The same questions as those of safetensors.safe_open."""

    def __init__(self, path: BucketPath) -> None:
        """Read the header."""
        self._path = path
        begin = path.read_range(0, READ_AT_ONCE)
        length = int.from_bytes(begin[:8], "little")
        if len(begin) < 8 or length > MOST_HEADER:
            raise ValueError("it has no header of safetensors")
        header = begin[8 : 8 + length]
        if len(header) < length:
            header = path.read_range(8, length)
        self._arrays: dict[str, Any] = json.loads(header)
        self._metadata: dict[str, str] | None = self._arrays.pop("__metadata__", None)
        self._start = 8 + length

    def metadata(self) -> dict[str, str] | None:
        """What is said of the arrays."""
        return self._metadata

    def keys(self) -> list[str]:
        """The names of the arrays."""
        return list(self._arrays)

    def get_slice(self, name: str) -> "Slice":
        """An array that is not read yet."""
        return Slice(self._arrays[name]["shape"])

    def get_tensor(self, name: str) -> Array:
        """An array; ValueError if the object ends before it."""
        about = self._arrays[name]
        start, stop = about["data_offsets"]
        content = self._path.read_range(self._start + start, stop - start)
        return np.frombuffer(content, DTYPES[about["dtype"]]).reshape(about["shape"])
