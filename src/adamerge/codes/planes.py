"""Numbers of few bits <-> bit planes: plane 0 has the highest bit of every coordinate, plane 1 the next."""

import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.uint8]
Numbers = NDArray[np.uint8]


def plane_bytes(d: int) -> int:
    """Bytes of one vector in one plane: eight coordinates a byte, the last byte filled up with zeros."""
    return (d + 7) // 8


def split(numbers: Numbers, bits: int) -> tuple[Plane, ...]:
    """Numbers (rows, d) below 2^bits as `bits` planes (rows, plane_bytes(d)).

    Bit i of byte j belongs to coordinate 8 j + i.
    """
    planes = []
    for place in reversed(range(bits)):
        bit = (numbers >> place) & 1
        planes.append(np.packbits(bit, axis=1, bitorder="little"))
    return tuple(planes)


def join(planes: tuple[Plane, ...], d: int) -> Numbers:
    """The inverse of `split`: numbers (rows, d)."""
    numbers: Numbers = np.zeros((len(planes[0]), d), np.uint8)
    for plane in planes:
        bit = np.unpackbits(plane, axis=1, count=d, bitorder="little")
        np.left_shift(numbers, 1, out=numbers)
        np.bitwise_or(numbers, bit, out=numbers)
    return numbers
