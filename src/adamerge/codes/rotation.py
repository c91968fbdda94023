"""One fixed rotation for every dimension: after it the coordinates of any vector look like draws of a Gaussian.

A round permutes the coordinates, gives each a sign, and multiplies by Hadamard matrices, which takes d log d
additions. If d is a power of two, there is one matrix of size d. Otherwise there are two of the largest power of
two below d: one for the first coordinates, one for the last, so some coordinates pass both. Such dimensions take
four rounds instead of two: after two, a vector of one coordinate is not yet spread evenly at d = 384.

The rotation is the same to the bit on every machine: permutations and signs come from SHAKE-256, and the
arithmetic is additions and products of float32 in a fixed order.
"""

import hashlib
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adamerge.arrays import Floats, Longs

NAME = "hadamard-v1"  # another rotation needs another name: codes of two rotations do not compare
LARGEST_D = 4096
BLOCK = 1024  # rows at a time: they stay in the cache


class Round(NamedTuple):
    """What comes before the Hadamard matrices: coordinate i is signs[i] times coordinate order[i] of before."""

    order: Longs  # (d,)
    signs: Floats  # (d, 1)


def rotate(vectors: Floats) -> Floats:
    """The rows of vectors (rows, d), rotated. Lengths and inner products stay, but for float32 rounding."""
    rotated = np.empty(vectors.shape, np.float32)
    for start in range(0, len(vectors), BLOCK):
        block = slice(start, start + BLOCK)
        rotated[block] = rotate_columns(vectors[block].T).T
    return rotated


def rotate_back(vectors: Floats) -> Floats:
    """The inverse of `rotate`."""
    original = np.empty(vectors.shape, np.float32)
    for start in range(0, len(vectors), BLOCK):
        block = slice(start, start + BLOCK)
        original[block] = _columns_back(vectors[block].T).T
    return original


def rotate_columns(columns: Floats) -> Floats:
    """As `rotate`, for vectors that are the columns of an array (d, rows)."""
    for order, signs in rounds(len(columns)):
        columns = columns[order] * signs
        for block in _hadamard_blocks(len(columns)):
            _hadamard(columns[block])
    return columns


def _columns_back(columns: Floats) -> Floats:
    d = len(columns)
    for order, signs in reversed(rounds(d)):
        columns = np.ascontiguousarray(columns)
        for block in reversed(_hadamard_blocks(d)):
            _hadamard(columns[block])

        before = np.empty_like(columns)
        before[order] = columns * signs
        columns = before
    return columns


@cache
def rounds(d: int) -> tuple[Round, ...]:
    """The permutations and signs of dimension d."""
    count = 2
    if len(_hadamard_blocks(d)) > 1:
        count = 4
    return tuple(_round(d, number) for number in range(count))


def _round(d: int, number: int) -> Round:
    order = np.argsort(_random_words(f"{NAME} order d={d} round={number}", d), kind="stable")
    is_negative = _random_words(f"{NAME} signs d={d} round={number}", d) % 2 == 1
    signs = np.where(is_negative, np.float32(-1), np.float32(1))
    return Round(order.astype(np.int64), signs[:, None])


def _random_words(name: str, count: int) -> NDArray[np.uint64]:
    """As many random numbers, always the same for a name."""
    stream = hashlib.shake_256(name.encode()).digest(8 * count)
    return np.frombuffer(stream, "<u8").astype(np.uint64)


def _hadamard_blocks(d: int) -> list[slice]:
    """The coordinates that a Hadamard matrix takes: all, or the first and the last power of two."""
    size = 1 << (d.bit_length() - 1)
    if size == d:
        return [slice(0, d)]
    return [slice(0, size), slice(d - size, d)]


def _hadamard(columns: Floats) -> None:
    """Multiply by the Hadamard matrix of unit rows, its own inverse: columns (2^k, rows), in place."""
    size, rows = columns.shape
    half = 1
    while half < size:
        pairs = columns.reshape(size // (2 * half), 2, half, rows)
        sums = pairs[:, 0] + pairs[:, 1]
        np.subtract(pairs[:, 0], pairs[:, 1], out=pairs[:, 1])
        pairs[:, 0] = sums
        half *= 2
    columns *= np.float32(1 / np.sqrt(size))
