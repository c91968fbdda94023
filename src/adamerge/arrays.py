"""Anything like an array -> a NumPy array we can trust, or an error that says what came.

NumPy arrays, lists and torch tensors of any dtype and device come in; torch is never imported.
"""

from collections.abc import Iterable, Sized
from typing import Any, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from adamerge.errors import BadDtype, BadInput, BadShape

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Halves = NDArray[np.float16]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.int8]
Bits = NDArray[np.uint8]  # eight a byte
Stored = NDArray[np.float32] | NDArray[np.float16] | NDArray[np.int8]
Bools = NDArray[np.bool_]
ArrayLike = Any  # np.typing.ArrayLike has no place for torch tensors

SHAPES = {1: "(n,)", 2: "(n, d)"}


def floats(values: ArrayLike, what: str, rank: int) -> Floats:
    """`values` as a read-only, contiguous float32 array of that rank with finite entries."""
    array = _numbers(values, what)
    if array.ndim != rank:
        raise BadShape(f"{what} must have shape {SHAPES[rank]}, got {array.shape}")
    return _frozen(_finite(array, what), np.float32)


def weights(values: ArrayLike, what: str) -> Floats:
    """`values` as a read-only float32 array (n,), n >= 1, of numbers >= 0."""
    array = floats(values, what, rank=1)
    if not len(array):
        raise BadShape(f"{what} must have at least one value, got shape {array.shape}")
    if array.min() < 0:
        first = int((array < 0).argmax())
        raise BadInput(
            f"{what} must not be negative: {array[first]} at [{first}] of shape {array.shape}"
        )
    return array


def one_of(value: object, choices: Any, what: str) -> None:
    """Refuse a word that is none of a Literal's."""
    if value not in get_args(choices):
        raise BadInput(f"{what} must be {' or '.join(get_args(choices))}, got {value!r}")


def directions(values: ArrayLike, what: str) -> Floats:
    """`values` as a read-only float32 array (n, d), n and d >= 1, without rows of zeros."""
    array = floats(values, what, rank=2)
    if array.size == 0:
        raise BadShape(
            f"a page needs at least one vector of one dimension, got shape {array.shape}"
        )
    if len(zero := zero_rows(array)):
        raise BadInput(
            f"row {zero[0]} of {what} {array.shape} is all zeros and has no direction ({len(zero)} such): "
            f"padding? keep only the rows that the attention mask marks as real"
        )
    return array


def zero_rows(vectors: Floats | Halves) -> Ints:
    """Indices of the rows that are all zeros: few begin with a zero, so few are looked at."""
    begins_with_zero = vectors[:, 0] == 0
    if not begins_with_zero.any():
        return np.zeros(0, np.int32)
    suspects = np.flatnonzero(begins_with_zero)
    return suspects[~vectors[suspects].any(axis=1)].astype(np.int32)


def groups(values: ArrayLike) -> Ints:
    """`values` as a read-only, contiguous int32 array of rank 1."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise BadShape(
            f"groups must be integers of shape (n,), got {array.dtype} of shape {array.shape}"
        )
    if len(array) and not -1 <= array.min() <= array.max() < len(array):
        raise BadInput(
            f"groups must be -1 .. n-1, got {array.min()} .. {array.max()} for {len(array)} patches"
        )
    return _frozen(array, np.int32)


def row_offsets(parts: Iterable[Sized]) -> Longs:
    """Where each of some arrays begins when they stand one after the other: (arrays + 1,)."""
    lengths = [len(part) for part in parts]
    return np.cumsum([0, *lengths], dtype=np.int64)


def _numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    try:
        if hasattr(values, "detach"):
            values = _from_torch(values)
        array = np.asarray(values)
    # rows of different length, a sparse tensor
    except (ValueError, TypeError, RuntimeError) as error:
        raise BadShape(f"{what} must be one array of numbers: {error}") from None
    if array.dtype.kind not in "fiu" and array.dtype.name != "bfloat16":
        raise BadDtype(
            f"{what} must hold real numbers (float16, float32 or float64), got dtype {array.dtype}"
        )
    if array.dtype.itemsize == 1:
        raise BadDtype(
            f"{what} must hold real numbers, got {array.dtype}: undo the quantisation first"
        )
    return array


def _from_torch(tensor: Any) -> NDArray[Any]:
    """bfloat16, devices and gradients are things NumPy does not know."""
    tensor = tensor.detach().cpu()
    if tensor.is_floating_point():
        tensor = tensor.float()
    array: NDArray[Any] = tensor.numpy()
    return array


def _finite(array: NDArray[Any], what: str) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        # a float64 beyond float32 becomes infinite, and is refused as that
        array = array.astype(np.float32, copy=False)
    if not np.isfinite(array).all():
        first = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise BadInput(
            f"{what} must be finite: {array[first]} at {list(first)} of shape {array.shape}"
        )
    return array


def _frozen(array: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    view = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view
