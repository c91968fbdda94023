"""Reading one version of a Lance table: all that is read is of the same moment, whatever writers do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from adamerge.arrays import Floats, Longs
from adamerge.search import PageVectors
from adamerge.store.about import About
from adamerge.store.entry import Entry
from adamerge.store.filters import quoted, to_sql
from adamerge.store.lance.errors import damaged, reading
from adamerge.store.lance.remembered_entries import RememberedEntries
from adamerge.store.lance.row_columns import RowColumns, to_page_vectors
from adamerge.store.lance.schema import metadata_of, to_entries

PAGES_AT_ONCE = 256  # that are read into memory by a scan
FEWEST_PARTITIONS = 20  # of the index that are read
REMEMBERED_BYTES = 64 << 20  # of the entries of pages that were found lately
CANDIDATES_PER_PARTITION = 8  # many candidates are in many partitions


class Listing(NamedTuple):
    """The pages of a version in the order in which they lie: their ids, their numbers of rows, and their writes."""

    ids: list[str]
    rows: Longs
    written: list[int]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A version of a table: its dataset, its columns, and what the store says of itself in it."""

    dataset: Any
    schema: pa.Schema
    about: About
    # A version never changes, so what is remembered of it stays true.
    _remembered: RememberedEntries = field(
        default_factory=lambda: RememberedEntries(REMEMBERED_BYTES), repr=False
    )

    @property
    def version(self) -> int:
        """The number of the version."""
        return int(self.dataset.version)

    @cached_property
    def metadata(self) -> dict[str, str]:
        """The names of metadata, and the kind of each."""
        return metadata_of(self.schema, self.about)

    def filter(self, where: str) -> str:
        """The filter of a user, checked, as Lance takes it."""
        if not where.strip():
            return ""
        from adamerge.store.filter_parser import parse_filter  # sqlglot takes long to import

        return to_sql(parse_filter(where, self.metadata))

    def count(self) -> int:
        """Pages in this version."""
        with reading():
            return int(self.dataset.count_rows())

    def scan(self, columns: Sequence[str], passing: str = "") -> Iterator[pa.RecordBatch]:
        """Batches of some columns of the pages that pass a filter of Lance."""
        with reading():
            scanned = self.dataset.to_batches(
                columns=list(columns), filter=passing or None, batch_size=PAGES_AT_ONCE
            )
            batches = iter(scanned)
        while True:
            with reading():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def read(self, columns: Sequence[str], passing: str = "") -> pa.Table:
        """Some columns of the pages that pass a filter of Lance."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        return pa.Table.from_batches(self.scan(columns, passing), schema)

    def ids(self, passing: str = "") -> list[str]:
        """The ids of the pages that pass a filter of Lance."""
        return _texts(self.read(["id"], passing)["id"])

    @cached_property
    def listing(self) -> Listing:
        """All pages; read once for all searches of this version."""
        table = self.read(["id", "rows", "written"])
        rows = table["rows"].to_numpy().astype(np.int64)
        return Listing(_texts(table["id"]), rows, table["written"].to_pylist())

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each page lies among all pages."""
        return {id: i for i, id in enumerate(self.listing.ids)}

    def take(self, columns: Sequence[str], ids: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Some columns of the pages of some ids that are there, read where they lie: no other page is looked at."""
        positions = [self.positions[id] for id in ids if id in self.positions]
        if not positions:
            return
        with reading():
            table = self.dataset.take(positions, columns=list(columns)).combine_chunks()
        yield from table.to_batches()

    def entries(self, passing: str = "") -> Iterator[Entry]:
        """The entries of the pages that pass a filter of Lance."""
        for batch in self.scan(self.schema.names, passing):
            yield from to_entries(batch, self.about, self.metadata)

    def entries_by_id(self, ids: Sequence[str]) -> dict[str, Entry]:
        """The entries of those ids that are there, in the order of `ids`."""
        found = self._remembered.get(ids)
        unknown = [id for id in ids if id not in found]
        if unknown:
            for entry in self._read_entries(unknown):
                self._remembered.put(entry)
                found[entry.id] = entry
        return {id: found[id] for id in ids if id in found}

    def _read_entries(self, ids: list[str]) -> Iterator[Entry]:
        """The entries of some ids: where they lie, if a search has listed all pages, else by a look at every id."""
        if "listing" not in vars(self):
            yield from self.entries(ids_filter(ids))
            return
        for batch in self.take(self.schema.names, ids):
            yield from to_entries(batch, self.about, self.metadata)

    def vectors(self, columns: RowColumns, passing: str = "") -> Iterator[PageVectors]:
        """The stored rows, or their signs, of the pages that pass a filter of Lance, a batch at a time."""
        for batch in self.scan(columns.names, passing):
            yield to_page_vectors(batch, columns)

    def vectors_of(self, columns: RowColumns, ids: Sequence[str]) -> Iterator[PageVectors]:
        """The same of the pages of some ids."""
        for batch in self.take(columns.names, ids):
            yield to_page_vectors(batch, columns)

    def words(self, passing: str = "") -> Iterator[tuple[str, list[str]]]:
        """The id and the words of each page that passes a filter of Lance."""
        for batch in self.scan(["id", "words"], passing):
            ids = _texts(batch.column("id"))
            try:
                words = batch.column("words").to_pylist()
            except UnicodeDecodeError:
                raise damaged("a word of a page is not UTF-8") from None
            for id, of_page in zip(ids, words, strict=True):
                yield id, of_page or []

    def nearest_means(self, vector: Floats, n: int, passing: str = "") -> list[str]:
        """The ids of the n pages whose mean vector has the largest inner product with a vector (d,)."""
        partitions = max(FEWEST_PARTITIONS, n // CANDIDATES_PER_PARTITION)
        nearest = {"column": "mean", "q": vector, "k": n, "metric": "dot", "nprobes": partitions}
        with reading():
            scanner = self.dataset.scanner(
                columns=["id", "_distance"],
                nearest=nearest,
                filter=passing or None,
                prefilter=True,
            )
            found = scanner.to_table()
        return _texts(found["id"])


def ids_filter(ids: Sequence[str]) -> str:
    """The filter that passes some ids."""
    return f"id IN ({', '.join(map(quoted, ids))})"


def _texts(column: pa.Array | pa.ChunkedArray) -> list[str]:
    try:
        texts: list[str] = column.to_pylist()
    except UnicodeDecodeError:
        raise damaged("the id of a page is not UTF-8") from None
    return texts
