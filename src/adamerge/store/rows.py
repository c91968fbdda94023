"""Reading a LanceDB table: batches of some columns, and what to do when a version is gone."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from adamerge.errors import AdamergeError, Damaged
from adamerge.store.filters import quoted

T = TypeVar("T")
SCAN = 256  # pages read at a time
LANCE = (ValueError, RuntimeError, OSError)  # what LanceDB raises
TRIES = 5  # of a read, when the version it reads is compacted away under it


def scan(table: Any, columns: Sequence[str], where: str = "") -> Iterator[pa.RecordBatch]:
    """Batches of some columns of the rows that pass a filter."""
    try:
        query = table.search().where(where) if where else table.search()
        yield from query.select(list(columns)).limit(None).to_batches(SCAN)
    except LANCE as error:
        raise unreadable(error) from None


def read(table: Any, columns: Sequence[str], where: str = "") -> pa.Table:
    """Some columns of the rows that pass a filter."""
    schema = pa.schema([table.schema.field(name) for name in columns])
    return retried(lambda: pa.Table.from_batches(scan(table, columns, where), schema))


def flat(batch: pa.RecordBatch) -> tuple[Any, Any, Any, Any]:
    """Vectors (rows, d), begins and ends of the pages of a batch, and scales of int8; no copy."""
    lists = batch["vectors"]
    ends = np.cumsum(lists.value_lengths().to_numpy(zero_copy_only=False)).astype(np.int64)
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    matrix = lists.flatten()
    vectors = matrix.flatten().to_numpy(zero_copy_only=True).reshape(len(matrix), -1)
    scales = batch["scales"].flatten().to_numpy() if vectors.dtype == np.int8 else None
    return vectors, begins, ends, scales


def among(ids: Sequence[str]) -> str:
    """The filter that passes some ids."""
    return f"id IN ({', '.join(map(quoted, ids))})"


def retried(read: Callable[[], T]) -> T:
    """What `read` returns; read again if a compaction removed what it was reading; Damaged if that is no help."""
    try:
        return again(read)
    except AdamergeError:
        raise
    except LANCE as error:
        raise unreadable(error) from None


def again(read: Callable[[], T]) -> T:
    """What `read` returns, after some tries if something was not found."""
    for _ in range(TRIES - 1):
        try:
            return read()
        except LANCE as error:
            if not gone(error):
                raise
    return read()


def gone(error: Exception) -> bool:
    """Whether something was not found, as where a compaction has removed a version."""
    return "not found" in str(error).lower()


def unreadable(error: Exception) -> Damaged:
    """The error for a table that LanceDB cannot read."""
    return Damaged(
        f"the store cannot be read ({plain(error)}): restore it, or index into another one"
    )


def plain(error: Exception) -> str:
    """What LanceDB says, without where in its own code it says so."""
    return re.sub(
        r",? \S+\.rs:\d+(:\d+)?", "", str(error).splitlines()[0].split(" Valid fields")[0]
    ).rstrip(". ")
