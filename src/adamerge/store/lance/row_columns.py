"""Stored rows <-> columns of Arrow, in every dtype.

dtype              columns                                                           a list has
float16, float32   vectors      list<fixed_size_list<number, d>>                     the m + e rows of a page
int8               vectors, and scales   list<float32>                               a factor per row
int4, int2, int1   plane0, plane1 ...    list<fixed_size_list<uint8, ceil(d / 8)>>   a bit of every number, sign first
                   scales                list<float32>                               a factor per row
int4, int2         sign_scales           list<float32>                               a factor per row of plane0 alone

plane0 and sign_scales are the 1-bit code of a page. A search may read it without the rest, so it has its own checksum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adamerge.arrays import Longs
from adamerge.codes import BITS_OF_CODES, StoredRows, sign_code
from adamerge.codes.planes import plane_bytes
from adamerge.search import PageVectors
from adamerge.store.about import About
from adamerge.store.lance.checksum import check, damaged_page, rows_checksum
from adamerge.store.lance.errors import damaged

NUMBERS = {"float16": pa.float16(), "float32": pa.float32(), "int8": pa.int8()}
SCALES = pa.list_(pa.float32())


@dataclass(frozen=True)
class RowColumns:
    """The columns that hold the rows of pages: all that is stored of them, or their 1-bit code.

    parts     of the arrays of StoredRows, in their order
    scales    "" where there are none
    checksum  "" in stores of version 1
    """

    dtype: str
    d: int
    parts: tuple[str, ...]
    scales: str
    checksum: str

    @property
    def names(self) -> list[str]:
        """What a search reads of a page: its id, its rows, and the checksum of both."""
        names = ["id", *self.parts, self.scales, self.checksum]
        return [name for name in names if name]


def stored_columns(about: About) -> RowColumns:
    """The columns of all that is stored of the rows of a page."""
    checksum = "vectors_checksum" if about.has_checksums else ""
    scales = "scales" if about.dtype not in ("float16", "float32") else ""
    return RowColumns(about.dtype, about.dimension, part_names(about), scales, checksum)


def sign_columns(about: About) -> RowColumns | None:
    """The columns of the 1-bit code of a page; None where it is not kept apart."""
    if not has_sign_scales(about):
        return None
    return RowColumns("int1", about.dimension, ("plane0",), "sign_scales", "signs_checksum")


def part_names(about: About) -> tuple[str, ...]:
    """The columns of the arrays of StoredRows."""
    bits = BITS_OF_CODES.get(about.dtype)
    if bits is None:
        return ("vectors",)
    return tuple(f"plane{i}" for i in range(bits))


def has_sign_scales(about: About) -> bool:
    """Whether the first plane has scales of its own; that of int1 is the whole code."""
    return about.dtype in ("int4", "int2")


def row_fields(about: About) -> dict[str, pa.DataType]:
    """The type of each column that holds rows. Floats have an empty column of scales, as in version 1."""
    part = pa.list_(pa.list_(pa.uint8(), plane_bytes(about.dimension)))
    if about.dtype in NUMBERS:
        part = pa.list_(pa.list_(NUMBERS[about.dtype], about.dimension))
    fields = dict.fromkeys(part_names(about), part)
    fields["scales"] = SCALES
    if has_sign_scales(about):
        fields["sign_scales"] = SCALES
    return fields


# ------------------------------------------------------------------------------------------------- writing


def to_row_columns(pages: Sequence[StoredRows], about: About) -> dict[str, pa.Array]:
    """The columns of the rows of some pages."""
    fields = row_fields(about)
    columns = {}
    for i, name in enumerate(part_names(about)):
        parts = [rows.parts[i] for rows in pages]
        columns[name] = matrix_column(parts, fields[name])
    columns["scales"] = pa.array([rows.scales for rows in pages], SCALES)
    if has_sign_scales(about):
        columns["sign_scales"] = pa.array([_sign_scales(rows) for rows in pages], SCALES)
    return columns


def _sign_scales(rows: StoredRows) -> NDArray[np.float32]:
    codes = rows.codes
    assert codes is not None  # int4 and int2 are codes
    return sign_code(codes).scales


def matrix_column(parts: Sequence[NDArray[Any] | None], type: pa.DataType) -> pa.ListArray:
    """A column with a matrix per page; null where there is none."""
    lengths = [0 if part is None else len(part) for part in parts]
    offsets = np.cumsum([0, *lengths]).astype(np.int32)
    present = [part for part in parts if part is not None]
    values = pa.array([], type.value_type)
    if present:
        values = vector_column(np.concatenate(present), type.value_type)
    is_missing = pa.array([part is None for part in parts])
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=type, mask=is_missing)


def vector_column(matrix: NDArray[Any], type: pa.DataType) -> pa.FixedSizeListArray:
    """A column with a row of a matrix per page."""
    numbers = pa.array(np.ascontiguousarray(matrix).ravel(), type.value_type)
    return pa.FixedSizeListArray.from_arrays(numbers, type=type)


# ------------------------------------------------------------------------------------------------- reading


def to_page_vectors(batch: pa.RecordBatch, columns: RowColumns) -> PageVectors:
    """The rows of all pages of a batch, not copied; a page that is damaged is refused by its id."""
    pages = unchecked_pages(batch, columns)
    if columns.checksum:
        written = batch.column(columns.checksum).to_pylist()
        for id, expected, found in zip(pages.ids, written, checksums_of(pages), strict=True):
            check(id, expected, found)
    return pages


def checksums_of(pages: PageVectors) -> list[int]:
    """The checksum of each page: of its id, its rows and their scales."""
    arrays = list(pages.rows.parts)
    if pages.rows.scales is not None:
        arrays.append(pages.rows.scales)
    checksums = []
    bounds = zip(pages.begins.tolist(), pages.ends.tolist(), strict=True)
    for id, (begin, end) in zip(pages.ids, bounds, strict=True):
        checksums.append(rows_checksum(id, [array[begin:end] for array in arrays]))
    return checksums


def unchecked_pages(batch: pa.RecordBatch, columns: RowColumns) -> PageVectors:
    """The rows of all pages of a batch, without a look at their checksums."""
    ids = batch.column("id").to_pylist()
    if None in ids:
        raise damaged("a page has no id")
    lengths = _lengths(batch, columns, ids)
    ends = np.cumsum(lengths)
    begins = ends - lengths

    try:
        parts = tuple(_matrix(batch.column(name)) for name in columns.parts)
        scales = None
        if columns.scales:
            scales = batch.column(columns.scales).flatten().to_numpy(zero_copy_only=True)
        rows = StoredRows(columns.dtype, columns.d, parts, scales)
    except ValueError:
        raise damaged("the vectors of a page are not there") from None
    return PageVectors(ids, rows, begins, ends)


def _lengths(batch: pa.RecordBatch, columns: RowColumns, ids: list[str]) -> Longs:
    """How many rows each page has; a page of which a column is empty or of another length is refused."""
    lengths = _column_lengths(batch, columns.parts[0])
    for name in [*columns.parts, columns.scales]:
        if not name:
            continue
        others = _column_lengths(batch, name)
        is_wrong = (others != lengths) | (others < 0)
        if is_wrong.any():
            raise damaged_page(ids[int(np.argmax(is_wrong))])
    return lengths


def _column_lengths(batch: pa.RecordBatch, name: str) -> Longs:
    """How long the list of each page is; -1 where there is none."""
    lengths = pc.fill_null(batch.column(name).value_lengths(), -1)
    longs: Longs = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
    return longs


def _matrix(column: pa.ListArray) -> NDArray[Any]:
    """The rows of all pages of a column of lists of lists of one size."""
    rows = column.flatten()
    numbers = rows.flatten().to_numpy(zero_copy_only=True)
    matrix: NDArray[Any] = numbers.reshape(len(rows), rows.type.list_size)
    return matrix
