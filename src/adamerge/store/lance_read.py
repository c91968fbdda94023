"""One version of a Lance table: everything that is read from it is of the same moment, whatever writers do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from adamerge.arrays import Floats
from adamerge.store.entry import About, Entry
from adamerge.store.filters import parse, to_sql
from adamerge.store.lance_errors import damaged, reading
from adamerge.store.schema import metadata_of, to_entries
from adamerge.store.sql import quoted

PAGES_AT_ONCE = 256  # that are read into memory by a scan


@dataclass(frozen=True)
class Snapshot:
    """A version of a table, and what the store says of itself in it."""

    dataset: Any
    about: About

    @property
    def version(self) -> int:
        """The number of the version."""
        return int(self.dataset.version)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns, as Arrow has them."""
        with reading():
            return self.dataset.schema

    @cached_property
    def metadata(self) -> dict[str, str]:
        """The names of metadata, and the kind of each."""
        return metadata_of(self.schema, self.about)

    def filter(self, where: str) -> str:
        """A filter of a user, checked, as Lance takes it."""
        return to_sql(parse(where, self.metadata))

    def count(self) -> int:
        """Pages in this version."""
        with reading():
            return int(self.dataset.count_rows())

    def scan(self, columns: Sequence[str], where: str = "") -> Iterator[pa.RecordBatch]:
        """Batches of some columns of the pages that pass a filter."""
        with reading():
            batches = iter(
                self.dataset.to_batches(
                    columns=list(columns), filter=where or None, batch_size=PAGES_AT_ONCE
                )
            )
        while True:
            with reading():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def read(self, columns: Sequence[str], where: str = "") -> pa.Table:
        """Some columns of the pages that pass a filter."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        return pa.Table.from_batches(self.scan(columns, where), schema)

    def ids(self, where: str = "") -> list[str]:
        """The ids of the pages that pass a filter."""
        return _texts(self.read(["id"], where)["id"])

    def entries(self, where: str = "") -> Iterator[Entry]:
        """The entries of the pages that pass a filter."""
        for batch in self.scan(self.schema.names, where):
            yield from to_entries(batch, self.about, self.metadata)

    def nearest(self, mean: Floats, n: int, where: str = "") -> list[str]:
        """The n pages whose mean vector has the largest inner product with a vector (d,)."""
        parts = max(20, n // 8)  # of the index: many candidates lie in many of its parts
        nearest = {"column": "mean", "q": mean, "k": n, "metric": "dot", "nprobes": parts}
        with reading():
            found = self.dataset.scanner(
                columns=["id", "_distance"],
                nearest=nearest,
                filter=where or None,
                prefilter=True,
            ).to_table()
        return _texts(found["id"])


def ids_filter(ids: Sequence[str]) -> str:
    """The filter that passes some ids."""
    return f"id IN ({', '.join(map(quoted, ids))})"


def _texts(column: pa.ChunkedArray) -> list[str]:
    try:
        texts: list[str] = column.to_pylist()
    except UnicodeDecodeError:
        raise damaged("the id of a page is no text") from None
    return texts
