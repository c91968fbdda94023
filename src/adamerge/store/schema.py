"""Entries <-> Arrow: one row a page, every column of an explicit type.

    vectors   list<fixed_size_list<float16 | float32 | int8, d>>   m groups, then `extra` rows
    scales    list<float32>                                        a factor per row, of int8 only
    mean      fixed_size_list<float32, d>                          of the rows; proposes pages where there are many
    groups    list<int32>                                          row of each patch, -1 where it was pruned
    boxes     list<fixed_size_list<float16, 4>>                    of each patch; null where a grid tells
    words     list<string>, with word_boxes
    written   int64                                                grows with every write of a page, so readers see it

and a column per name of metadata.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adamerge import kernels
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
    return pa.schema(list(columns.items()))


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
    columns: dict[str, Any] = {
        "vectors": _matrices([rows for rows, _ in stored], schema.field("vectors").type),
        "scales": pa.array([scales for _, scales in stored], schema.field("scales").type),
        "mean": _vectors(
            np.stack([e.page.stored.mean(0) for e in entries]), schema.field("mean").type
        ),
        "boxes": _matrices([_halves(e.page.boxes) for e in entries], BOXES),
        "word_boxes": _matrices([_halves([w.box for w in e.words]) for e in entries], BOXES),
    }
    plain = {"written": written}
    rows = [row_of(e) | plain | {"thumbnail": e.thumbnail} | dict(e.metadata) for e in entries]
    for field in schema:
        if field.name not in columns:
            columns[field.name] = pa.array([row.get(field.name) for row in rows], field.type)
    return pa.table([columns[field.name] for field in schema], schema=schema)


def to_entries(batch: pa.RecordBatch, about: About, metadata: Iterable[str]) -> Iterator[Entry]:
    """The entries of a batch with every column."""
    for i, row in enumerate(
        batch.drop_columns(["vectors", "scales", "boxes", "word_boxes", "mean"]).to_pylist()
    ):
        boxes, word_boxes = (matrix_of(batch.column(name), i) for name in ("boxes", "word_boxes"))
        yield entry_of(
            row,
            restored(*vectors_of(batch, i)),
            None if boxes is None else boxes.astype(np.float32),
            [] if word_boxes is None else word_boxes.astype(np.float64).tolist(),
            about.method,
            thumbnail=row["thumbnail"],
            metadata={name: row[name] for name in metadata if row[name] is not None},
        )


def vectors_of(batch: pa.RecordBatch, i: int) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    """The stored rows (m + e, d) of page i of a batch, and their scales in int8; views, not copies."""
    rows = matrix_of(batch.column("vectors"), i)
    assert rows is not None
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
