"""Stored rows <-> flat arrays of a shard, in every dtype.

floats            vectors (rows, d)
int8              vectors (rows, d), and scales (rows,)
int4, int2, int1  vectors (rows, bits * ceil(d / 8)) of uint8, the planes of a row one after the other; scales (rows,);
                  dimensions (1,), which is d

The same for the rows of `extra`, with extra_scales.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adamerge.arrays import row_offsets
from adamerge.codes import BITS_OF_CODES, StoredRows, concatenate
from adamerge.codes.planes import plane_bytes
from adamerge.codes.rotation import LARGEST_D
from adamerge.errors import Damaged
from adamerge.types import Compressed

Array = NDArray[Any]
Columns = Mapping[str, Array]

SCALES = {"vectors": "scales", "extra": "extra_scales"}
PLAIN = ("float32", "float16", "int8")


def of_stored_rows(pages: Sequence[Compressed], dtype: str) -> dict[str, Array]:
    """The arrays of the vectors and extra rows of compressed pages."""
    vectors, extra = [], []
    for page in pages:
        rows = page.rows_in(dtype)
        vectors.append(rows[: len(page)])
        extra.append(rows[len(page) :])

    columns = _of_rows(concatenate(vectors), "vectors")
    columns["offsets"] = row_offsets(vectors)
    if any(len(rows) for rows in extra):
        columns |= _of_rows(concatenate(extra), "extra")
        columns["extra_offsets"] = row_offsets(extra)
    if dtype in BITS_OF_CODES:
        columns["dimensions"] = np.array([vectors[0].d], np.int32)
    return columns


def _of_rows(rows: StoredRows, name: str) -> dict[str, Array]:
    columns = {name: np.concatenate(rows.parts, axis=1)}
    if rows.scales is not None:
        columns[SCALES[name]] = rows.scales
    return columns


def to_rows_of_page(columns: Columns, name: str, begin: int, end: int) -> StoredRows:
    """The rows begin .. end of `vectors` or `extra`, not copied; `check_rows` was called before."""
    values = columns[name][begin:end]
    dtype, d = _dtype_and_dimensions(columns)
    parts: tuple[Array, ...] = (values,)
    if dtype in BITS_OF_CODES:
        width = plane_bytes(d)
        parts = tuple(values[:, at : at + width] for at in range(0, values.shape[1], width))
    scales = columns.get(SCALES[name])
    if scales is not None:
        scales = scales[begin:end]
    return StoredRows(dtype, d, parts, scales)


def dtype_of(columns: Columns, where: str) -> str:
    """The dtype of a shard of compressed pages; arrays that are of none are refused."""
    vectors = columns.get("vectors")
    if vectors is None or vectors.ndim != 2:
        raise Damaged(f"{where}: there is no array 'vectors' of vectors")
    is_plain = vectors.dtype.name in PLAIN and "dimensions" not in columns
    is_code = vectors.dtype == np.uint8 and _has_planes(columns, vectors.shape[1])
    if not is_plain and not is_code:
        raise Damaged(
            f"{where}: 'vectors' of {vectors.dtype} {vectors.shape} are of no dtype of ours"
        )
    return _dtype_and_dimensions(columns)[0]


def check_rows(columns: Columns, where: str) -> None:
    """Refuse rows that do not fit together: int8 and codes have a scale a row, floats have none."""
    dtype = dtype_of(columns, where)
    extra = columns.get("extra")
    if extra is not None and extra.dtype != columns["vectors"].dtype:
        raise Damaged(f"{where}: 'extra' is of {extra.dtype}, and 'vectors' are in {dtype}")

    needed = set()
    for name, scales in SCALES.items():
        if name in columns and columns["vectors"].dtype.kind != "f":
            needed.add(scales)
    if needed != set(SCALES.values()) & set(columns):
        listed = ", ".join(sorted(needed)) or "no scales"
        raise Damaged(f"{where}: rows of {dtype} have {listed}")


def _dtype_and_dimensions(columns: Columns) -> tuple[str, int]:
    vectors = columns["vectors"]
    if "dimensions" not in columns:
        return vectors.dtype.name, vectors.shape[1]
    d = int(columns["dimensions"][0])
    return f"int{vectors.shape[1] // plane_bytes(d)}", d


def _has_planes(columns: Columns, width: int) -> bool:
    """Whether `dimensions` is a number of coordinates whose planes are so wide together."""
    given = columns.get("dimensions")
    if given is None or given.dtype.kind not in "iu" or given.shape != (1,):
        return False
    d = int(given[0])
    if not 1 <= d <= LARGEST_D:
        return False
    bits, rest = divmod(width, plane_bytes(d))
    return not rest and f"int{bits}" in BITS_OF_CODES
