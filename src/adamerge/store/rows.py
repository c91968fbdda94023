"""Reading a LanceDB table: batches of some columns, filters that are checked, and what to do when a version is gone."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from adamerge.errors import AdamergeError, BadInput, Damaged

T = TypeVar("T")
SCAN = 256  # pages read at a time
TRIES = 5  # of a read, when the version it reads is compacted away under it


def scan(table: Any, columns: Sequence[str], where: str = "") -> Iterator[pa.RecordBatch]:
    """Batches of some columns of the rows that pass a filter."""
    query = table.search().where(where) if where else table.search()
    yield from query.select(list(columns)).limit(None).to_batches(SCAN)


def read(table: Any, columns: Sequence[str], where: str = "") -> pa.Table:
    """Some columns of the rows that pass a filter."""
    schema = pa.schema([table.schema.field(name) for name in columns])
    return retried(lambda: pa.Table.from_batches(scan(table, columns, where), schema))


def check_filter(table: Any, where: str, names: Sequence[str]) -> None:
    """Refuse a filter that the database cannot apply; `names` are what it can use."""
    if not where:
        return
    try:
        table.search().where(where).select(["id"]).limit(1).to_arrow()
    except (ValueError, RuntimeError, OSError) as error:
        reason = re.sub(r",? \S+\.rs:\d+:\d+", "", str(error).splitlines()[0].split(" Valid fields")[0]).rstrip(".")
        raise BadInput(f"the filter {where!r} cannot be applied: {reason}; it can use {', '.join(names)}") from None


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


def quoted(text: str) -> str:
    """A string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def retried(read: Callable[[], T]) -> T:
    """What `read` returns; read again if a compaction removed what it was reading."""
    for last in (False,) * (TRIES - 1) + (True,):
        try:
            return read()
        except AdamergeError:
            raise
        except (ValueError, RuntimeError, OSError) as error:
            if last or "not found" not in str(error).lower():
                raise Damaged(f"the store cannot be read: {error}") from None
    raise AssertionError
