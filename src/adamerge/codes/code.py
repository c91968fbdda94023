r"""Vectors <-> codes of 8, 4, 2 or 1 bits a coordinate. Nothing is trained.

The code of a vector v of length |v| in d dimensions, R being the rotation of rotation.py:

    y = R v                                    coordinates like draws of a Gaussian of deviation |v| / sqrt(d)
    c = the level nearest to y sqrt(d) / |v|   coordinate by coordinate, levels of levels.py
    s = <y, y> / <y, c>                        the scale, one float32 a vector
    v is about s Rᵀ c                          what `decode` gives

By the choice of s the inner product of v with its own code is |v|² exactly. With any other vector q it is
<q, v> + e. Over rotations e has the mean 0, and where q is at right angles to v the deviation

    sqrt(D / (1 - D)) |q| |v| / sqrt(d),       D = 0.3634, 0.1175, 0.0095, 0.0000412 for 1, 2, 4, 8 bits

In part along v there is no error. A level is kept as its number, 0 the lowest, in planes: the highest bit of all
coordinates, then the next. The highest bit is 1 where y >= 0, whatever the bits: plane 0 is the 1-bit code.
"""

from dataclasses import dataclass

import numpy as np

from adamerge import arrays
from adamerge.arrays import ArrayLike, Doubles, Floats
from adamerge.codes import planes as bit_planes
from adamerge.codes.levels import BITS, LEVELS, Integers
from adamerge.codes.planes import Numbers, Plane, plane_bytes
from adamerge.codes.rotation import BLOCK, LARGEST_D, NAME, rotate_back, rotate_columns
from adamerge.errors import BadInput, BadShape, TooNew

SCALE_BYTES = 4


@dataclass(frozen=True, eq=False)
class Codes:
    """The codes of some vectors (rows, d).

    planes    `bits` arrays (rows, ceil(d / 8)) of uint8, sign first
    scales    (rows,) float32; 0 for a vector of zeros
    rotation  the name of the rotation that made them
    """

    bits: int
    d: int
    planes: tuple[Plane, ...]
    scales: Floats
    rotation: str = NAME

    def __post_init__(self) -> None:
        """Refuse planes that do not fit together."""
        check_bits(self.bits)
        check_dimension(self.d)
        if self.rotation != NAME:
            raise TooNew(
                f"codes of the rotation {self.rotation!r} need another version of adamerge; "
                f"this one has {NAME!r}"
            )
        expected = (len(self.scales), plane_bytes(self.d))
        if len(self.planes) != self.bits:
            raise BadShape(f"{self.bits} bits need {self.bits} planes, got {len(self.planes)}")
        for plane in self.planes:
            if plane.shape != expected or plane.dtype != np.uint8:
                raise BadShape(
                    f"a plane must be uint8 of shape {expected} (rows, ceil(d / 8)), "
                    f"got {plane.dtype} of shape {plane.shape}"
                )

    def __len__(self) -> int:
        """The number of vectors."""
        return len(self.scales)

    @property
    def bytes(self) -> int:
        """What planes and scales take."""
        return len(self) * bytes_per_vector(self.d, self.bits)


def bytes_per_vector(d: int, bits: int) -> int:
    """Bytes of the code of one vector, with its scale."""
    return bits * plane_bytes(d) + SCALE_BYTES


def encode(vectors: ArrayLike, bits: int) -> Codes:
    """The codes of vectors (rows, d), 1 <= d <= 4096, in 8, 4, 2 or 1 bits a coordinate.

    The same vectors have the same codes on every machine, to the bit. A row of zeros has scale 0. So has a row so
    short that float32 has no such scale.
    """
    check_bits(bits)
    rows = arrays.floats(vectors, "vectors", rank=2)
    d = rows.shape[1]
    check_dimension(d)

    planes = tuple(np.empty((len(rows), plane_bytes(d)), np.uint8) for _ in range(bits))
    scales = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        numbers, scales[block] = _encode_block(rows[block], bits)
        for plane, part in zip(planes, bit_planes.split(numbers, bits), strict=True):
            plane[block] = part

    if not np.isfinite(scales).all():
        row = int(np.argmin(np.isfinite(scales)))
        raise BadInput(
            f"row {row} of vectors {rows.shape} is too long for a float32 scale: divide it first"
        )
    return Codes(bits, d, planes, scales)


def decode(codes: Codes) -> Floats:
    """The vectors (rows, d) that codes stand for: s Rᵀ c."""
    vectors = np.empty((len(codes), codes.d), np.float32)
    for start in range(0, len(codes), BLOCK):
        block = slice(start, start + BLOCK)
        levels = _levels_of(codes, block).astype(np.float32)
        vectors[block] = rotate_back(levels) * codes.scales[block, None]
    return vectors


def sign_code(codes: Codes) -> Codes:
    """The 1-bit code of what a code stands for: its first plane, not copied, with scales that fit it.

    The scale is s <c, c> / <c, sign c>, which is what `encode(decode(codes), 1)` has.
    """
    scales = np.empty(len(codes), np.float32)
    for start in range(0, len(codes), BLOCK):
        block = slice(start, start + BLOCK)
        levels = _levels_of(codes, block).astype(np.int64)
        ratio = (levels * levels).sum(axis=1) / np.abs(levels).sum(axis=1)
        scales[block] = codes.scales[block] * ratio
    return Codes(1, codes.d, codes.planes[:1], scales, codes.rotation)


def check_bits(bits: int) -> None:
    """Refuse a number of bits that there is no code of."""
    if bits not in BITS:
        raise BadInput(f"bits must be 8, 4, 2 or 1, got {bits!r}")


def check_dimension(d: int) -> None:
    """Refuse a dimension that there is no rotation of."""
    if not 1 <= d <= LARGEST_D:
        raise BadShape(f"codes need vectors of 1 to {LARGEST_D} dimensions, got {d}")


def _levels_of(codes: Codes, block: slice) -> Integers:
    """The levels c (rows, d) of some rows."""
    planes = tuple(plane[block] for plane in codes.planes)
    numbers = bit_planes.join(planes, codes.d)
    levels: Integers = LEVELS[codes.bits].values[numbers]
    return levels


def _encode_block(rows: Floats, bits: int) -> tuple[Numbers, Floats]:
    """The numbers of the levels (rows, d), and the scales (rows,)."""
    values, boundaries, unit = LEVELS[bits]
    largest = np.abs(rows).max(axis=1)
    _, exponents = np.frexp(largest)
    # by a power of two, which is exact: nothing overflows or vanishes after it
    columns = rotate_columns(np.ldexp(rows, -exponents[:, None]).T)

    squares = _sum_of_products(columns, columns)
    per_deviation = np.zeros(len(rows))
    per_deviation[squares > 0] = np.sqrt(rows.shape[1] / squares[squares > 0])
    positions = columns * (unit * per_deviation).astype(np.float32)

    numbers = np.searchsorted(boundaries, positions, side="right").astype(np.uint8)
    own_product = _sum_of_products(columns, values[numbers])
    scales = np.zeros(len(rows))
    np.divide(squares, own_product, out=scales, where=own_product > 0)

    with np.errstate(over="ignore"):
        # a scale beyond float32 becomes infinite, and `encode` refuses its row
        return numbers.T, np.ldexp(scales, exponents).astype(np.float32)


def _sum_of_products(a: Floats, b: Floats | Integers) -> Doubles:
    """The inner products of the columns of two arrays (d, rows), summed in the order of the coordinates.

    NumPy's own sums may run in another order on another machine.
    """
    total = np.zeros(a.shape[1])
    for left, right in zip(a, b, strict=True):
        total += left.astype(np.float64) * right
    return total
