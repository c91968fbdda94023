"""The embedded store: a Lance table in a folder or a bucket, searched by our own kernel. Needs the extra `store`.

Lance keeps and versions the rows. Its own multi-vector search is not used: an index over many vectors a page loses
results, and a scan of float16 costs more than our kernel's. Every write is one commit, so a reader sees a page whole or
not at all, and a process that is killed leaves nothing half done. Every read is of one version.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from threading import RLock
from typing import Any

import pyarrow as pa

from adamerge import files
from adamerge.arrays import Floats
from adamerge.errors import BadInput, Mismatch, StoreUnavailable
from adamerge.store.base import AnyEncoder, Ranking, Source, Store, facts_of
from adamerge.store.entry import About, Entry
from adamerge.store.folder import check_own_folder, remove_unmade
from adamerge.store.lance_errors import MissingVersion
from adamerge.store.lance_read import Snapshot, ids_filter
from adamerge.store.lance_search import ResidentVectors, rank_on_disk, rank_resident
from adamerge.store.lance_table import LanceTable
from adamerge.store.metadata import columns_of
from adamerge.store.schema import fields_of, metadata_of, schema_of, to_table
from adamerge.store.sql import quoted

COMPACT = 256  # writes after which a writer tidies up without being closed
INDEX_FROM = 10_000  # pages from which the mean vectors get an index


class LanceStore(Store):
    """Pages in a folder (`reports`) or a bucket (`s3://bucket/reports`)."""

    def __init__(
        self,
        path: str | Path,
        *,
        encoder: AnyEncoder | None = None,
        dtype: str | None = None,
        memory: int = 4 << 30,
        storage_options: dict[str, str] | None = None,
    ) -> None:
        """Open a store; the folder is made by the first page. `memory` bytes of vectors are searched exactly."""
        super().__init__(encoder, dtype)
        self.path = str(path)
        self._table = LanceTable(self.path, storage_options)
        self._resident = ResidentVectors(memory)
        self._searching = RLock()
        # what os.close() lets go of; -1 in a bucket, which has no lock
        self._lock: int | None = None
        self._writes = 0  # since a writer last tidied up
        self._ids: set[str] = set()  # of a writer: what is there as of version `_seen`
        self._clock, self._seen = 0, -1
        self.refresh()

    def __str__(self) -> str:
        """Where it is."""
        return self.path

    def __len__(self) -> int:
        """Pages in the store."""
        self.refresh()
        return 0 if self.about is None else self._table.read(Snapshot.count)

    def refresh(self) -> None:
        """See what others have made of the store since: made it, or put another in its place."""
        snapshot = self._table.newest()
        if snapshot is None:
            self.about = None
        elif self.about is None or snapshot.about.made != self.about.made:
            self.about, self._seen = None, -1
            self._opened(snapshot.about)

    # ------------------------------------------------------------------------------------------------- writing

    def begin(self) -> None:
        """Become the one writer, and learn what is there; the system takes the lock back even after kill -9."""
        with self._changing:
            if self._lock is None:
                self._lock = -1 if self._table.is_remote else self._lock_folder()
            self._check_folder()
            self._table.newest(at_once=True)  # in a bucket others may write too
            self.refresh()
            if self.about is not None:
                self._table.read(self._learn)

    def _lock_folder(self) -> int:
        try:
            check_own_folder(self.path)
            lock = files.lock_folder(Path(self.path))
        except OSError as error:
            raise StoreUnavailable(f"the store could not be written: {error.strerror}") from None
        remove_unmade(self.path)
        return lock

    def _check_folder(self) -> None:
        """Refuse to write into another folder than the one that is locked, such as one that was put in its place."""
        if self._lock is None or self._lock < 0:
            return
        try:
            is_same = os.path.samestat(os.fstat(self._lock), os.stat(self.path))
        except OSError:
            is_same = False
        if not is_same:
            raise StoreUnavailable(
                "the store could not be written: its folder was moved or removed while it was open"
            )

    def _learn(self, snapshot: Snapshot) -> None:
        """Learn the ids that are there, and the last write, unless this is the version we wrote."""
        if snapshot.version == self._seen:
            return
        listed = snapshot.read(["id", "written"])
        self._ids = set(listed["id"].to_pylist())
        self._clock = max(listed["written"].to_pylist(), default=0)
        self._seen = snapshot.version

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the one writer, of threads too; gather small files as they come."""
        with self._changing:
            self.begin()
            yield
            self._writes += 1
            self._table.gather()
            if self._writes >= COMPACT:
                self._tidy()
            self._seen = self._table.required().version

    def _write(self, entries: list[Entry], about: About) -> None:
        with self._writing():
            if self.about is not None and self.about != about:
                raise Mismatch(
                    f"{self.path} holds pages of {self.about} since a moment ago, not of {about}"
                )
            self._clock = max(self._clock + 1, time.time_ns())
            schema = schema_of(about) if self.about is None else self._table.required().schema
            new = self._new_columns([entry.metadata for entry in entries], schema, about)
            rows = to_table(entries, about, pa.schema([*schema, *new]), self._clock)
            ids = set(rows["id"].to_pylist())
            if self.about is None:
                self._table.create(rows, about)
            else:
                if len(new):
                    self._table.add_columns(new)
                put = self._table.insert if self._ids.isdisjoint(ids) else self._table.replace
                put(rows)
            self._ids |= ids

    def _new_columns(
        self, rows: Iterable[Mapping[str, Any]], schema: pa.Schema, about: About
    ) -> pa.Schema:
        """A column for every new name of metadata; a name of two kinds is refused."""
        known = metadata_of(schema, about)
        columns = columns_of(rows, known)
        return fields_of({name: kind for name, kind in columns.items() if name not in known})

    def delete(self, *ids: str, source: str | None = None) -> int:
        """Remove pages by id, or all pages of a source file, and return how many there were."""
        self.known()
        clauses = [ids_filter(ids)] if ids else []
        if source is not None:
            clauses.append(f"source = {quoted(source)}")
        if not clauses:
            raise BadInput("delete what? give ids, or a source")
        where = " OR ".join(clauses)
        with self._changing:
            there = set(self._table.read(lambda snapshot: snapshot.ids(where)))
            if there:
                with self._writing():
                    self._table.delete(where)
                    self._ids -= there
        return len(there)

    def label(self, labels: Mapping[str, Mapping[str, Any]]) -> None:
        """Set metadata of all pages of some source files."""
        about = self.known()
        with self._writing():
            schema = self._table.required().schema
            new = self._new_columns(labels.values(), schema, about)
            if len(new):
                self._table.add_columns(new)
            self._set(labels)

    def moved(self, roots: Mapping[str, str]) -> None:
        """Note that source files are in other folders now."""
        with self._writing():
            self._set({source: {"root": root} for source, root in roots.items()})

    def _set(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Set columns by source file, in one commit for all files that have the same names."""
        schema = self._table.required().schema
        alike: dict[tuple[str, ...], list[str]] = {}
        for source, row in values.items():  # a name that never had a value has no column
            names = tuple(name for name in schema.names if name in row)
            alike.setdefault(names, []).append(source)
        for names, sources in alike.items():
            fields = pa.schema([schema.field(name) for name in ("source", *names)])
            rows = [{**values[source], "source": source} for source in sources]
            if names:
                self._table.update(pa.Table.from_pylist(rows, fields), "source")

    def compact(self, keep: timedelta | None = None) -> None:
        """Gather all small files into few, index the means of many pages, and remove old versions.

        keep  how long a version stays after a newer one took its place: some minutes, for those who still read it
        """
        with self._changing:
            self.begin()
            if self.about is None:
                return
            self._table.compact()
            self._tidy(keep)
            self._seen = self._table.required().version

    def close(self) -> None:
        """Tidy up what was written and let the next writer in; the store can still be read."""
        with self._changing:
            if self._lock is None:
                return
            try:
                self._check_folder()
                if self._table.newest() is not None:
                    self._tidy()
                elif not self._table.is_remote:
                    remove_unmade(self.path)
            finally:
                if self._lock >= 0:
                    with suppress(OSError):
                        Path(self.path).rmdir()  # where nothing was written
                    os.close(self._lock)
                self._lock = None

    def _tidy(self, keep: timedelta | None = None) -> None:
        """Leave out deleted pages, index many, remove old versions and what killed writers left."""
        if self._writes and self._table.has_deletions():
            self._table.compact()
        if self._writes and len(self) >= INDEX_FROM:
            self._table.index_means()
        self._table.remove_old_versions(keep)
        self._writes = 0

    # ------------------------------------------------------------------------------------------------- reading

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries of those ids that are there, in the order of `ids`."""
        self.known()
        return self._table.read(lambda snapshot: _entries_of(snapshot, ids))

    def entries(self, where: str = "") -> Iterator[Entry]:
        """All entries that pass a filter, a batch at a time, each once.

        They are of one version, unless a writer removes that while it is being read: then the rest is of the next one.
        """
        self.known()
        passing = self._table.required().filter(where)
        return self._each_entry(passing)

    def _each_entry(self, where: str) -> Iterator[Entry]:
        snapshot = self._table.required()
        seen = set[str]()
        while True:
            try:
                for entry in snapshot.entries(where):
                    if entry.id not in seen:
                        seen.add(entry.id)
                        yield entry
                return
            except MissingVersion as error:
                snapshot = self._table.successor(snapshot, error)

    def columns(self) -> dict[str, str]:
        """The names of metadata, and the kind of each."""
        self.refresh()
        return {} if self.about is None else dict(self._table.required().metadata)

    def sources(self) -> dict[str, Source]:
        """The files whose pages are here, by name."""
        self.refresh()
        return {} if self.about is None else self._table.read(_sources_of)

    def facts(self) -> dict[str, Any]:
        """What it holds: pages, vectors, bytes, and what made them."""
        self.known()
        total = self._table.bytes()
        return self._table.read(lambda snapshot: _facts_of(snapshot, total))

    # ----------------------------------------------------------------------------------------------- searching

    def _rank(
        self, queries: list[Floats], k: int, where: str, exact: bool
    ) -> tuple[list[Ranking], dict[str, Entry]]:
        def rank(snapshot: Snapshot) -> tuple[list[Ranking], dict[str, Entry]]:
            rankings = self._rank_version(snapshot, queries, k, where, exact)
            ids = {id: None for ranking in rankings for id, _ in ranking.best}
            return rankings, {entry.id: entry for entry in _entries_of(snapshot, list(ids))}

        return self._table.read(rank)

    def _rank_version(
        self, snapshot: Snapshot, queries: list[Floats], k: int, where: str, exact: bool
    ) -> list[Ranking]:
        """The best pages of one version for each query."""
        passing = snapshot.filter(where)
        only = snapshot.ids(passing) if passing else None
        with self._searching:
            memory = self._resident.update(snapshot)
            if memory is not None:
                return rank_resident(memory, queries, k, only)
        pages = snapshot.count() if only is None else len(only)
        return [rank_on_disk(snapshot, query, k, passing, pages, exact) for query in queries]


def _entries_of(snapshot: Snapshot, ids: Sequence[str]) -> list[Entry]:
    """The entries of those ids that are there, in the order of `ids`."""
    if not ids:
        return []
    found = {entry.id: entry for entry in snapshot.entries(ids_filter(ids))}
    return [found[id] for id in ids if id in found]


def _sources_of(snapshot: Snapshot) -> dict[str, Source]:
    """The files whose pages a version holds, by name."""
    metadata = snapshot.metadata
    columns = ["id", "source", "hash", "root", "pages", "rows", "written", *metadata]
    listed = snapshot.read(columns)
    found: dict[str, Source] = {}
    for row in listed.to_pylist():
        labels = {name: row[name] for name in metadata if row[name] is not None}
        source = found.setdefault(row["source"], Source({}, row["pages"], row["root"], labels))
        source.ids[row["id"]] = row["hash"]
        source.rows[row["id"]] = row["rows"]
        source.written[row["id"]] = row["written"]
    return found


def _facts_of(snapshot: Snapshot, total: int) -> dict[str, Any]:
    """What a version holds; `total` are the bytes of all files."""
    listed = snapshot.read(["patches", "rows", "extra", "source"])
    sums = {name: int(listed[name].to_numpy().sum()) for name in ("patches", "rows", "extra")}
    return facts_of(
        snapshot.about,
        snapshot.metadata,
        pages=len(listed),
        files=len(listed["source"].unique()),
        **sums,
        vectors=sums["rows"] * snapshot.about.vector_bytes,
        total=total,
    )
