"""Entries <-> Arrow: one row a page, every column of an explicit type.

    the rows of a page                                      row_columns.py: vectors or planes, and scales
    mean      fixed_size_list<float32, d>                   of the rows; proposes pages where there are many; no codes
    groups    list<int32>                                   row of each patch, -1 where it was pruned
    boxes     list<fixed_size_list<float16, 4>>             of each patch; null where a grid tells
    words     list<string>, with word_boxes
    written   int64                                         grows with every write of a page, so readers see it
    vectors_checksum, signs_checksum, details_checksum      uint64, from version 2 on: see checksum.py

and a column per name of metadata.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adamerge.arrays import Floats
from adamerge.codes import BITS_OF_CODES, StoredRows, to_vectors
from adamerge.errors import Damaged
from adamerge.store.about import About
from adamerge.store.entry import Entry, entry_of, row_of
from adamerge.store.lance.checksum import check, damaged_page, details_checksum
from adamerge.store.lance.errors import damaged
from adamerge.store.lance.row_columns import (
    checksums_of,
    matrix_column,
    row_fields,
    sign_columns,
    stored_columns,
    to_page_vectors,
    to_row_columns,
    unchecked_pages,
    vector_column,
)

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
CHECKSUMS = ("vectors_checksum", "signs_checksum", "details_checksum")
# Columns that are read as NumPy arrays, as those of rows are: a Python object for each number would take too long.
MATRICES = ("boxes", "word_boxes", "mean")


def schema_of(about: About) -> pa.Schema:
    """The columns of a store without metadata."""
    columns: dict[str, pa.DataType] = {
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
        **row_fields(about),
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
    if has_mean(about):
        columns["mean"] = pa.list_(pa.float32(), about.dimension)
    columns |= dict.fromkeys(checksum_names(about), pa.uint64())
    return pa.schema(list(columns.items()))


def has_mean(about: About) -> bool:
    """Whether a page has a mean vector: in codes, its sign plane is what proposes it."""
    return about.dtype not in BITS_OF_CODES


def checksum_names(about: About) -> list[str]:
    """The columns of checksums."""
    if not about.has_checksums:
        return []
    names = ["vectors_checksum", "details_checksum"]
    if sign_columns(about) is not None:
        names.append("signs_checksum")
    return names


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
    columns = _matrix_columns(entries, about)
    rows = []
    for entry in entries:
        own = {"written": written, "thumbnail": entry.thumbnail}
        rows.append(row_of(entry) | own | dict(entry.metadata))
    for field in schema:
        if field.name not in columns and field.name not in CHECKSUMS:
            columns[field.name] = pa.array([row.get(field.name) for row in rows], field.type)
    if about.has_checksums:
        columns |= _checksums(pa.record_batch(columns), about)
    return pa.table([columns[field.name] for field in schema], schema=schema)


def _matrix_columns(entries: Sequence[Entry], about: About) -> dict[str, pa.Array]:
    """The columns that hold a matrix or a vector of each page."""
    rows, means, boxes, word_boxes = [], [], [], []
    for entry in entries:
        page = entry.page
        rows.append(page.rows_in(about.dtype))
        means.append(page.stored.mean(0))
        boxes.append(_half_boxes(page.boxes))
        word_boxes.append(_half_boxes([word.box for word in entry.words]))

    columns = to_row_columns(rows, about)
    columns["boxes"] = matrix_column(boxes, BOXES)
    columns["word_boxes"] = matrix_column(word_boxes, BOXES)
    if has_mean(about):
        columns["mean"] = vector_column(np.stack(means), pa.list_(pa.float32(), about.dimension))
    return columns


def _half_boxes(boxes: Any) -> NDArray[np.float16] | None:
    if boxes is None:
        return None
    return np.asarray(boxes, np.float16).reshape(-1, 4)


def _checksums(batch: pa.RecordBatch, about: About) -> dict[str, pa.Array]:
    """The columns of checksums of a batch that has all others; computed from Arrow, as when a page is read."""
    details = []
    for i, row in enumerate(_plain_rows(batch, about)):
        details.append(details_checksum(row, *_detail_matrices(batch, i)))
    vectors = checksums_of(unchecked_pages(batch, stored_columns(about)))
    columns = {"vectors_checksum": vectors, "details_checksum": details}

    signs = sign_columns(about)
    if signs is not None:
        columns["signs_checksum"] = checksums_of(unchecked_pages(batch, signs))
    return {name: pa.array(values, pa.uint64()) for name, values in columns.items()}


# ------------------------------------------------------------------------------------------- reading entries


def to_entries(batch: pa.RecordBatch, about: About, metadata: Iterable[str]) -> Iterator[Entry]:
    """The entries of a batch with every column; a damaged page is refused by its id."""
    pages = to_page_vectors(batch, stored_columns(about))
    signs = sign_columns(about)
    if signs is not None:
        to_page_vectors(batch, signs)  # refuses a page whose 1-bit code is damaged

    vectors = to_vectors(pages.rows)
    for i, row in enumerate(_plain_rows(batch, about)):
        own = slice(int(pages.begins[i]), int(pages.ends[i]))
        rows = pages.rows[own] if pages.rows.scales is not None else None
        try:
            # a copy: a view would keep the vectors of the whole batch as long as one of its pages is kept
            entry = _to_entry(batch, i, row, vectors[own].copy(), rows, about, metadata)
        except Damaged:
            raise
        except (ValueError, TypeError, IndexError, AttributeError):
            raise damaged_page(row["id"]) from None
        yield entry


def _plain_rows(batch: pa.RecordBatch, about: About) -> list[dict[str, Any]]:
    """The rows of a batch as Python objects, without matrices."""
    arrays = {*MATRICES, *row_fields(about)}
    plain = [name for name in batch.schema.names if name not in arrays]
    try:
        rows: list[dict[str, Any]] = batch.select(plain).to_pylist()
    except UnicodeDecodeError:
        raise damaged("a text in it is not UTF-8") from None
    return rows


def _to_entry(
    batch: pa.RecordBatch,
    i: int,
    row: dict[str, Any],
    vectors: Floats,
    rows: StoredRows | None,
    about: About,
    metadata: Iterable[str],
) -> Entry:
    matrices = _detail_matrices(batch, i)
    if about.has_checksums:
        check(row["id"], row["details_checksum"], details_checksum(row, *matrices))

    boxes, word_boxes = matrices[:2]
    if boxes is not None:
        boxes = boxes.astype(np.float32)
    boxes_of_words = []
    if word_boxes is not None:
        boxes_of_words = word_boxes.astype(np.float64).tolist()
    return entry_of(
        row,
        vectors,
        rows,
        boxes,
        boxes_of_words,
        about.method,
        row["thumbnail"],
        {name: row[name] for name in metadata if row[name] is not None},
    )


def _detail_matrices(batch: pa.RecordBatch, i: int) -> list[NDArray[Any] | None]:
    """The matrices of page i that no search compares: its boxes, those of its words, and its mean if it has one."""
    matrices = [_matrix(batch.column("boxes"), i), _matrix(batch.column("word_boxes"), i)]
    if "mean" in batch.schema.names:
        matrices.append(batch.column("mean")[i].values.to_numpy())
    return matrices


def _matrix(column: pa.ListArray, i: int) -> NDArray[Any] | None:
    """The matrix in row i of a column of lists of lists of one size; None where it is null."""
    rows = column[i].values
    if rows is None:
        return None
    numbers = rows.flatten().to_numpy(zero_copy_only=True)
    matrix: NDArray[Any] = numbers.reshape(len(rows), rows.type.list_size)
    return matrix
