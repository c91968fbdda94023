"""Vectors in the numbers in which they are kept: one noun for floats, int8 and bit planes.

dtype    bytes of a vector of d coordinates   what a number is
float32  4 d                                  the number itself
float16  2 d                                  the number, rounded
int8     d + 4                                a whole number from -127 to 127, times the scale of its vector
int4     d / 2 + 4                            a code in four bit planes, with the scale of its vector (code.py)
int2     d / 4 + 4                            a code in two
int1     d / 8 + 4                            a code in one: its sign
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adamerge import kernels
from adamerge.arrays import Floats, zero_rows
from adamerge.codes.code import SCALE_BYTES, Codes, decode, encode
from adamerge.codes.planes import plane_bytes
from adamerge.errors import BadInput, BadShape

DTYPES = ("float32", "float16", "int8", "int4", "int2", "int1")  # from most bytes to fewest
BITS_OF_CODES = {"int4": 4, "int2": 2, "int1": 1}
FLOATS = ("float32", "float16")
BEYOND = {"float32": np.inf, "float16": 65520.0}  # the least that is rounded to infinity


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Vectors (rows, d) in a dtype.

    parts   floats and int8: one array (rows, d); codes: an array (rows, ceil(d / 8)) of uint8 per plane, sign first
    scales  (rows,) float32 of int8 and codes; None of floats
    """

    dtype: str
    d: int
    parts: tuple[NDArray[Any], ...]
    scales: Floats | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that are not what the dtype promises."""
        count, width, number = _layout(self.dtype, self.d)
        has_parts = len(self.parts) == count
        for part in self.parts:
            has_parts = has_parts and part.shape == (len(self), width) and part.dtype == number
        if not has_parts:
            found = [f"{part.dtype} {part.shape}" for part in self.parts]
            raise BadShape(
                f"{self.dtype} in {self.d} dimensions has {count} arrays of {number} (rows, {width}), got {found}"
            )

        has_scales = self.scales is not None
        if has_scales == (self.dtype in FLOATS):
            raise BadShape(
                f"{self.dtype}: int8 and codes have a scale per vector, floats have none"
            )
        if self.scales is not None and self.scales.shape != (len(self),):
            raise BadShape(f"{len(self)} vectors need as many scales, got {self.scales.shape}")

    def __len__(self) -> int:
        """The number of vectors."""
        return len(self.parts[0])

    def __getitem__(self, rows: slice) -> "StoredRows":
        """Some of the vectors, not copied."""
        parts = tuple(part[rows] for part in self.parts)
        scales = None if self.scales is None else self.scales[rows]
        return StoredRows(self.dtype, self.d, parts, scales)

    @property
    def bytes(self) -> int:
        """What the vectors take, with their scales."""
        return len(self) * bytes_per_row(self.d, self.dtype)

    @property
    def codes(self) -> Codes | None:
        """The same as codes, not copied; None of floats and int8."""
        if self.dtype not in BITS_OF_CODES or self.scales is None:
            return None
        return Codes(BITS_OF_CODES[self.dtype], self.d, self.parts, self.scales)


def check_dtype(dtype: str) -> None:
    """Refuse a dtype that vectors cannot be kept in."""
    if dtype not in DTYPES:
        raise BadInput(f"dtype must be one of {', '.join(DTYPES)}; got {dtype!r}")


def bytes_per_row(d: int, dtype: str) -> int:
    """Bytes of one vector of d coordinates, with its scale."""
    count, width, number = _layout(dtype, d)
    scale = 0 if dtype in FLOATS else SCALE_BYTES
    return count * width * number.itemsize + scale


def empty_rows(dtype: str, d: int, rows: int) -> StoredRows:
    """Room for vectors: arrays whose numbers are not set yet."""
    count, width, number = _layout(dtype, d)
    parts = tuple(np.empty((rows, width), number) for _ in range(count))
    scales = None
    if dtype not in FLOATS:
        scales = np.empty(rows, np.float32)
    return StoredRows(dtype, d, parts, scales)


def to_rows(vectors: Floats, dtype: str, what: str = "the matrix") -> StoredRows:
    """Vectors (rows, d) of float32 in a dtype.

    Refused where a number is beyond float16, or where a vector would become zeros. `what` names them in the error.
    """
    check_dtype(dtype)
    d = vectors.shape[1]
    if dtype in FLOATS:
        return StoredRows(dtype, d, (_cast(vectors, dtype, what),))
    if dtype == "int8":
        values, scales = kernels.quantise(vectors)
        return StoredRows(dtype, d, (values,), scales)
    codes = encode(vectors, BITS_OF_CODES[dtype])
    return StoredRows(dtype, d, codes.planes, codes.scales)


def to_vectors(rows: StoredRows) -> Floats:
    """The float32 vectors (rows, d) that some rows stand for."""
    codes = rows.codes
    if codes is not None:
        return decode(codes)
    if rows.dtype == "float16":
        return kernels.widen(np.ascontiguousarray(rows.parts[0]))
    vectors: Floats = rows.parts[0].astype(np.float32)
    if rows.scales is not None:
        vectors *= rows.scales[:, None]
    return vectors


def concatenate(several: Sequence[StoredRows]) -> StoredRows:
    """Rows of one dtype and dimension, one after the other."""
    first = several[0]
    parts = []
    for i in range(len(first.parts)):
        parts.append(np.concatenate([rows.parts[i] for rows in several]))
    scales = None
    if first.scales is not None:
        scales = np.concatenate([rows.scales for rows in several if rows.scales is not None])
    return StoredRows(first.dtype, first.d, tuple(parts), scales)


def _layout(dtype: str, d: int) -> tuple[int, int, np.dtype[Any]]:
    """How many arrays a dtype has, how wide they are, and of which numbers."""
    check_dtype(dtype)
    if dtype in BITS_OF_CODES:
        return BITS_OF_CODES[dtype], plane_bytes(d), np.dtype(np.uint8)
    return 1, d, np.dtype(dtype)


def _cast(vectors: Floats, dtype: str, what: str) -> NDArray[Any]:
    """Vectors in another float; refused where a number or a direction would be lost."""
    largest = np.abs(vectors).max(initial=0)
    if not largest < BEYOND[dtype]:  # nor is nan
        raise BadInput(f"{what} holds {largest:g}, beyond {dtype}: store it as float32")
    if dtype == "float32":
        return vectors.copy()

    out = kernels.narrow(np.ascontiguousarray(vectors))
    zero = zero_rows(out) if len(out) else ()
    if not len(zero):
        return out
    lost = np.setdiff1d(zero, zero_rows(vectors))
    if len(lost):
        raise BadInput(
            f"row {lost[0]} of {what} is too small for {dtype} and would vanish: "
            "store it as float32"
        )
    return out
