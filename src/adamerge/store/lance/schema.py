"""Entries <-> Arrow: one row a page, every column of an explicit type.

    vectors   list<fixed_size_list<float16 | float32 | int8, d>>   m groups, then `extra` rows
    scales    list<float32>                                        a factor per row, of int8 only
    mean      fixed_size_list<float32, d>                          of the rows; proposes pages where there are many
    groups    list<int32>                                          row of each patch, -1 where it was pruned
    boxes     list<fixed_size_list<float16, 4>>                    of each patch; null where a grid tells
    words     list<string>, with word_boxes
    written   int64                                                grows with every write of a page, so readers see it
    vectors_checksum, details_checksum   uint64                    from version 2 on: see checksum.py

and a column per name of metadata.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adamerge.codes import StoredRows
from adamerge.errors import Damaged
from adamerge.search import PageVectors
from adamerge.store.about import About
from adamerge.store.entry import Entry, entry_of, row_of
from adamerge.store.lance.checksum import check, damaged_page, details_checksum, vectors_checksum
from adamerge.store.lance.errors import damaged

HALF = pa.float16()
BOXES = pa.list_(pa.list_(HALF, 4))
KINDS = {
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "time": pa.timestamp("us", tz="UTC"),
    "date": pa.date32(),
}
CHECKSUMS = {"vectors_checksum": pa.uint64(), "details_checksum": pa.uint64()}
# Columns that are read as NumPy arrays: a Python object for each number would take too long.
MATRICES = ("vectors", "scales", "boxes", "word_boxes", "mean")
VECTORS = ("id", "vectors", "scales")  # what a search reads of a page, beside its checksum


def schema_of(about: About) -> pa.Schema:
    """The columns of a store without metadata."""
    number = {"float16": HALF, "float32": pa.float32(), "int8": pa.int8()}[about.dtype]
    columns = {
        "id": pa.string(),
        "source": pa.string(),
        "number": pa.int32(),
        "pages": pa.int32(),
        "root": pa.string(),
        "hash": pa.string(),
        "written": pa.int64(),
        "patches": pa.int32(),
        "rows": pa.int32(),
        "extra": pa.int32(),
        "vectors": pa.list_(pa.list_(number, about.dimension)),
        "scales": pa.list_(pa.float32()),
        "mean": pa.list_(pa.float32(), about.dimension),
        "groups": pa.list_(pa.int32()),
        "boxes": BOXES,
        "grid": pa.list_(pa.int32(), 2),
        "merges": pa.int32(),
        "theta": pa.float64(),
        "gap": pa.float64(),
        "words": pa.list_(pa.string()),
        "word_boxes": BOXES,
        "thumbnail": pa.binary(),
    }
    if about.has_checksums:
        columns |= CHECKSUMS
    return pa.schema(list(columns.items()))


def check_schema(schema: pa.Schema, about: About) -> None:
    """Refuse a table whose columns are not those that its description promises."""
    expected = schema_of(about)
    for field in expected:
        if field.name not in schema.names:
            raise Damaged(f"the store has lost its column '{field.name}': restore it")
        found = schema.field(field.name).type
        if found != field.type:
            raise Damaged(
                f"the store says it keeps {about.dtype} vectors of {about.dimension} dimensions, so its column "
                f"'{field.name}' should be {field.type}; it is {found}: restore it"
            )
    for field in schema:
        if field.name not in expected.names and field.type not in KINDS.values():
            raise Damaged(
                f"the store has a column '{field.name}' of {field.type}, which adamerge never writes: restore it"
            )


def vector_columns(about: About) -> list[str]:
    """The columns that a search reads."""
    if about.has_checksums:
        return [*VECTORS, "vectors_checksum"]
    return list(VECTORS)


def metadata_of(schema: pa.Schema, about: About) -> dict[str, str]:
    """The kind of each column of metadata."""
    kinds = {type: kind for kind, type in KINDS.items()}
    own = schema_of(about).names
    return {field.name: kinds[field.type] for field in schema if field.name not in own}


def fields_of(columns: Mapping[str, str]) -> pa.Schema:
    """Columns of metadata as Arrow has them."""
    return pa.schema([(name, KINDS[kind]) for name, kind in columns.items()])


def to_table(entries: Sequence[Entry], about: About, schema: pa.Schema, written: int) -> pa.Table:
    """A row per entry, in the columns of a schema that has all of their metadata."""
    columns = _matrix_columns(entries, about, schema)
    rows = []
    for entry in entries:
        own = {"written": written, "thumbnail": entry.thumbnail}
        rows.append(row_of(entry) | own | dict(entry.metadata))
    for field in schema:
        if field.name not in columns and field.name not in CHECKSUMS:
            columns[field.name] = pa.array([row.get(field.name) for row in rows], field.type)
    if about.has_checksums:
        columns |= _checksums(pa.record_batch(columns))
    return pa.table([columns[field.name] for field in schema], schema=schema)


def _matrix_columns(
    entries: Sequence[Entry], about: About, schema: pa.Schema
) -> dict[str, pa.Array]:
    """The columns that hold a matrix or a vector of each page."""
    vectors, scales, means, boxes, word_boxes = [], [], [], [], []
    for entry in entries:
        page = entry.page
        rows = page.rows_in(about.dtype)
        vectors.append(rows.parts[0])
        scales.append(rows.scales)
        means.append(page.stored.mean(0))
        boxes.append(_half_boxes(page.boxes))
        word_boxes.append(_half_boxes([word.box for word in entry.words]))
    return {
        "vectors": _matrices(vectors, schema.field("vectors").type),
        "scales": pa.array(scales, schema.field("scales").type),
        "mean": _vectors(np.stack(means), schema.field("mean").type),
        "boxes": _matrices(boxes, BOXES),
        "word_boxes": _matrices(word_boxes, BOXES),
    }


def _half_boxes(boxes: Any) -> NDArray[np.float16] | None:
    if boxes is None:
        return None
    return np.asarray(boxes, np.float16).reshape(-1, 4)


def _matrices(parts: Sequence[NDArray[Any] | None], type: pa.DataType) -> pa.ListArray:
    """A column with a matrix per page; null where there is none."""
    lengths = [0 if part is None else len(part) for part in parts]
    offsets = np.cumsum([0, *lengths]).astype(np.int32)
    present = [part for part in parts if part is not None]
    values = pa.array([], type.value_type)
    if present:
        values = _vectors(np.concatenate(present), type.value_type)
    is_missing = pa.array([part is None for part in parts])
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=type, mask=is_missing)


def _vectors(matrix: NDArray[Any], type: pa.DataType) -> pa.FixedSizeListArray:
    """A column with a row of a matrix per page."""
    numbers = pa.array(np.ascontiguousarray(matrix).ravel(), type.value_type)
    return pa.FixedSizeListArray.from_arrays(numbers, type=type)


def _checksums(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """The two columns of checksums of a batch that has all others; computed from Arrow, as when a page is read."""
    vectors, details = [], []
    for i, row in enumerate(_plain_rows(batch)):
        vectors.append(vectors_checksum(row["id"], rows_of(batch, i)))
        details.append(details_checksum(row, *_detail_matrices(batch, i)))
    return {
        "vectors_checksum": pa.array(vectors, pa.uint64()),
        "details_checksum": pa.array(details, pa.uint64()),
    }


# ------------------------------------------------------------------------------------------- reading entries


def to_entries(batch: pa.RecordBatch, about: About, metadata: Iterable[str]) -> Iterator[Entry]:
    """The entries of a batch with every column; a damaged page is refused by its id."""
    for i, row in enumerate(_plain_rows(batch)):
        try:
            entry = _to_entry(batch, i, row, about, metadata)
        except Damaged:
            raise
        except (ValueError, TypeError, IndexError, AttributeError):
            raise damaged_page(row["id"]) from None
        yield entry


def _plain_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a batch as Python objects, without matrices."""
    try:
        rows: list[dict[str, Any]] = batch.drop_columns(list(MATRICES)).to_pylist()
    except UnicodeDecodeError:
        raise damaged("a text in it is not UTF-8") from None
    return rows


def _to_entry(
    batch: pa.RecordBatch, i: int, row: dict[str, Any], about: About, metadata: Iterable[str]
) -> Entry:
    id = row["id"]
    rows = rows_of(batch, i)
    boxes, word_boxes, mean = _detail_matrices(batch, i)
    if about.has_checksums:
        check(id, row["vectors_checksum"], vectors_checksum(id, rows))
        check(id, row["details_checksum"], details_checksum(row, boxes, word_boxes, mean))

    if boxes is not None:
        boxes = boxes.astype(np.float32)
    boxes_of_words = []
    if word_boxes is not None:
        boxes_of_words = word_boxes.astype(np.float64).tolist()
    return entry_of(
        row,
        rows,
        boxes,
        boxes_of_words,
        about.method,
        row["thumbnail"],
        {name: row[name] for name in metadata if row[name] is not None},
    )


def _detail_matrices(batch: pa.RecordBatch, i: int) -> list[NDArray[Any] | None]:
    """The matrices of page i that a search does not compare: its boxes, those of its words, and its mean."""
    boxes = _matrix(batch.column("boxes"), i)
    word_boxes = _matrix(batch.column("word_boxes"), i)
    mean = batch.column("mean")[i].values.to_numpy()
    return [boxes, word_boxes, mean]


# ------------------------------------------------------------------------------------------- reading vectors


class RowsOfPage(NamedTuple):
    """What a search compares of one page: its m + e stored rows."""

    id: str
    rows: StoredRows


def rows_of_pages(batch: pa.RecordBatch) -> Iterator[RowsOfPage]:
    """The stored rows of each page of a batch; a page whose checksum differs is refused by its id."""
    checksums = None
    if "vectors_checksum" in batch.schema.names:
        checksums = batch.column("vectors_checksum").to_pylist()
    for i, id in enumerate(batch.column("id").to_pylist()):
        if id is None:
            raise damaged("a page has no id")
        rows = rows_of(batch, i)
        if checksums is not None:
            check(id, checksums[i], vectors_checksum(id, rows))
        yield RowsOfPage(id, rows)


def page_vectors(batch: pa.RecordBatch) -> PageVectors:
    """The vectors of all pages of a batch in one matrix, not copied; a damaged page is refused by its id."""
    ids = [page.id for page in rows_of_pages(batch)]
    lists = batch["vectors"]
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths).astype(np.int64)
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    matrix = lists.flatten()
    vectors = matrix.flatten().to_numpy(zero_copy_only=True).reshape(len(matrix), -1)
    scales = None
    if vectors.dtype == np.int8:
        scales = batch["scales"].flatten().to_numpy()
    rows = StoredRows(str(vectors.dtype), vectors.shape[1], (vectors,), scales)
    return PageVectors(ids, rows, begins, ends)


def rows_of(batch: pa.RecordBatch, i: int) -> StoredRows:
    """The stored rows of page i of a batch, not copied."""
    vectors = _matrix(batch.column("vectors"), i)
    if vectors is None:
        raise damaged_page(batch.column("id")[i].as_py())
    scales = None
    if vectors.dtype == np.int8:
        values = batch.column("scales")[i].values
        if values is None or len(values) != len(vectors):
            raise damaged_page(batch.column("id")[i].as_py())
        scales = values.to_numpy()
    return StoredRows(str(vectors.dtype), vectors.shape[1], (vectors,), scales)


def _matrix(column: pa.ListArray, i: int) -> NDArray[Any] | None:
    """The matrix in row i of a column of lists of lists of one size; None where it is null."""
    rows = column[i].values
    if rows is None:
        return None
    numbers = rows.flatten().to_numpy(zero_copy_only=True)
    matrix: NDArray[Any] = numbers.reshape(len(rows), rows.type.list_size)
    return matrix
