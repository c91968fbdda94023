"""A safetensors file on a disk, whose arrays are read into memory of NumPy.

The library copies an array out of a mapped file, with a page fault for every 4 kB of the file and of the copy. NumPy
asks the system for large pages: `adamerge compress` of 3,000 pages had 62,000 page faults, and 200,000 before.
"""

import json
from typing import Any, BinaryIO

import numpy as np

from adamerge.vectors.row_columns import Array
from adamerge.vectors.safetensors_object import DTYPES


class SafetensorsFile:
    """The same questions as those of safetensors.safe_open, which has checked the header."""

    def __init__(self, checked: Any, content: BinaryIO) -> None:
        """Read the header again, for the places of the arrays.

        checked  what safe_open gives
        content  the same file, opened
        """
        self._checked = checked
        self._content = content
        length = int.from_bytes(content.read(8), "little")
        self._header: dict[str, Any] = json.loads(content.read(length))
        self._start = 8 + length

    def metadata(self) -> dict[str, str] | None:
        """What is said of the arrays."""
        metadata: dict[str, str] | None = self._checked.metadata()
        return metadata

    def keys(self) -> list[str]:
        """The names of the arrays."""
        return list(self._checked.keys())

    def get_slice(self, name: str) -> Any:
        """An array that is not read yet."""
        return self._checked.get_slice(name)

    def get_tensor(self, name: str) -> Array:
        """An array; ValueError if the file ends before it."""
        about = self._header[name]
        if about["dtype"] not in DTYPES:
            unusual: Array = self._checked.get_tensor(name)
            return unusual
        array = np.empty(about["shape"], DTYPES[about["dtype"]])
        self._content.seek(self._start + about["data_offsets"][0])
        if self._content.readinto(array) != array.nbytes:  # type: ignore[attr-defined]
            raise ValueError(f"it ends before its array '{name}' does")
        return array
