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

from adamerge import kernels
from adamerge.errors import Damaged
from adamerge.store.checksum import check, details_checksum, vectors_checksum
from adamerge.store.entry import About, Entry, entry_of, row_of
from adamerge.types import Compressed
from adamerge.vectors.columns import cast

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
MATRICES = (
    "vectors",
    "scales",
    "boxes",
    "word_boxes",
    "mean",
)  # read without a Python object a number
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
    if about.version >= 2:
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
    return [*VECTORS, "vectors_checksum"] if about.version >= 2 else [*VECTORS]


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
    stored = [_stored(entry.page, about.dtype) for entry in entries]
    means = np.stack([entry.page.stored.mean(0) for entry in entries])
    columns: dict[str, Any] = {
        "vectors": _matrices([rows for rows, _ in stored], schema.field("vectors").type),
        "scales": pa.array([scales for _, scales in stored], schema.field("scales").type),
        "mean": _vectors(means, schema.field("mean").type),
        "boxes": _matrices([_halves(e.page.boxes) for e in entries], BOXES),
        "word_boxes": _matrices([_halves([w.box for w in e.words]) for e in entries], BOXES),
    }
    plain = {"written": written}
    rows = [row_of(e) | plain | {"thumbnail": e.thumbnail} | dict(e.metadata) for e in entries]
    for field in schema:
        if field.name not in columns and field.name not in CHECKSUMS:
            columns[field.name] = pa.array([row.get(field.name) for row in rows], field.type)
    if about.version >= 2:
        columns |= _checksums(pa.record_batch(columns))
    return pa.table([columns[field.name] for field in schema], schema=schema)


def _checksums(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """The columns of checksums of a batch that has all others; computed from Arrow, as they are when it is read."""
    rows = batch.drop_columns(list(MATRICES)).to_pylist()
    vectors, details = [], []
    for i, row in enumerate(rows):
        vectors.append(vectors_checksum(row["id"], *vectors_of(batch, i)))
        details.append(details_checksum(row, *_details(batch, i)))
    return {
        "vectors_checksum": pa.array(vectors, pa.uint64()),
        "details_checksum": pa.array(details, pa.uint64()),
    }


def _details(batch: pa.RecordBatch, i: int) -> list[NDArray[Any] | None]:
    """The matrices of page i that only show it: its boxes, those of its words, and its mean."""
    boxes = matrix_of(batch.column("boxes"), i)
    word_boxes = matrix_of(batch.column("word_boxes"), i)
    mean = batch.column("mean")[i].values.to_numpy()
    return [boxes, word_boxes, mean]


def to_entries(batch: pa.RecordBatch, about: About, metadata: Iterable[str]) -> Iterator[Entry]:
    """The entries of a batch with every column; a damaged page is refused by its id."""
    rows = batch.drop_columns(list(MATRICES)).to_pylist()
    for i, row in enumerate(rows):
        try:
            yield _to_entry(batch, i, row, about, metadata)
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            if isinstance(error, Damaged):
                raise
            raise Damaged(
                f"page {row['id']!r} is damaged on disk: restore the store, "
                f"or delete the page and index its file again"
            ) from None


def _to_entry(
    batch: pa.RecordBatch, i: int, row: dict[str, Any], about: About, metadata: Iterable[str]
) -> Entry:
    vectors, scales = vectors_of(batch, i)
    boxes, word_boxes, mean = _details(batch, i)
    if about.version >= 2:
        check(row["id"], row["vectors_checksum"], vectors_checksum(row["id"], vectors, scales))
        details = details_checksum(row, boxes, word_boxes, mean)
        check(row["id"], row["details_checksum"], details)
    return entry_of(
        row,
        restored(vectors, scales),
        None if boxes is None else boxes.astype(np.float32),
        [] if word_boxes is None else word_boxes.astype(np.float64).tolist(),
        about.method,
        thumbnail=row["thumbnail"],
        metadata={name: row[name] for name in metadata if row[name] is not None},
    )


class StoredVectors(NamedTuple):
    """What a search compares of one page: its stored rows (m + e, d), and their scales in int8."""

    id: str
    vectors: NDArray[Any]
    scales: NDArray[np.float32] | None


def stored_vectors(batch: pa.RecordBatch) -> Iterator[StoredVectors]:
    """The vectors of each page of a batch; one whose checksum differs is refused by its id."""
    checksums = None
    if "vectors_checksum" in batch.schema.names:
        checksums = batch.column("vectors_checksum").to_pylist()
    for i, id in enumerate(batch.column("id").to_pylist()):
        vectors, scales = vectors_of(batch, i)
        if checksums is not None:
            check(id, checksums[i], vectors_checksum(id, vectors, scales))
        yield StoredVectors(id, vectors, scales)


def flat_vectors(batch: pa.RecordBatch) -> tuple[Any, Any, Any, Any]:
    """Vectors (rows, d), begins and ends of the pages of a batch, and scales of int8; no copy."""
    lists = batch["vectors"]
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths).astype(np.int64)
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    matrix = lists.flatten()
    vectors = matrix.flatten().to_numpy(zero_copy_only=True).reshape(len(matrix), -1)
    scales = batch["scales"].flatten().to_numpy() if vectors.dtype == np.int8 else None
    return vectors, begins, ends, scales


def vector_bytes(about: About) -> int:
    """Bytes of one stored vector."""
    scale = 4 if about.dtype == "int8" else 0
    return about.dimension * np.dtype(about.dtype).itemsize + scale


def vectors_of(batch: pa.RecordBatch, i: int) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    """The stored rows (m + e, d) of page i of a batch, and their scales in int8; views, not copies."""
    rows = matrix_of(batch.column("vectors"), i)
    if rows is None:
        raise Damaged(f"page '{batch.column('id')[i]}' is damaged on disk: its vectors are missing")
    scales = batch.column("scales")[i].values
    return rows, None if scales is None else scales.to_numpy()


def restored(rows: NDArray[Any], scales: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """Stored rows as float32."""
    rows = rows.astype(np.float32)
    return rows if scales is None else rows * scales[:, None]


def matrix_of(column: pa.ListArray, i: int) -> NDArray[Any] | None:
    """The matrix in row i of a column of lists of lists of one size; None where it is null."""
    rows = column[i].values
    if rows is None:
        return None
    matrix: NDArray[Any] = (
        rows.flatten().to_numpy(zero_copy_only=True).reshape(len(rows), rows.type.list_size)
    )
    return matrix


def _stored(page: Compressed, dtype: str) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    return (
        kernels.quantise(page.stored)
        if dtype == "int8"
        else (cast(page.stored, dtype, page.id), None)
    )


def _halves(boxes: Any) -> NDArray[np.float16] | None:
    return None if boxes is None else np.asarray(boxes, np.float16).reshape(-1, 4)


def _matrices(parts: Sequence[NDArray[Any] | None], type: pa.DataType) -> pa.ListArray:
    flat = [part for part in parts if part is not None]
    ends = np.cumsum([0, *(0 if part is None else len(part) for part in parts)]).astype(np.int32)
    values = (
        _vectors(np.concatenate(flat), type.value_type) if flat else pa.array([], type.value_type)
    )
    missing = pa.array([part is None for part in parts])
    return pa.ListArray.from_arrays(pa.array(ends), values, type=type, mask=missing)


def _vectors(matrix: NDArray[Any], type: pa.DataType) -> pa.FixedSizeListArray:
    numbers = pa.array(np.ascontiguousarray(matrix).ravel(), type.value_type)
    return pa.FixedSizeListArray.from_arrays(numbers, type=type)
