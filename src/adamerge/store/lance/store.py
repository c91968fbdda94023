"""The embedded store: a Lance table in a folder or a bucket, searched by our own kernel.

Lance keeps the rows and their versions. Its own multi-vector search is not used: an index over many vectors a page
loses results, and a scan of float16 takes longer than our kernel does. Every write is one commit, so a reader sees a
page whole or not at all, and a process that is killed leaves nothing half done. Every read is of one version.
"""

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from shutil import rmtree
from threading import RLock
from typing import Any

import pyarrow as pa

from adamerge import files
from adamerge.arrays import Floats
from adamerge.errors import BadInput, Mismatch, StoreUnavailable
from adamerge.search import Ranking
from adamerge.store.about import About
from adamerge.store.base import AnyEncoder, Store
from adamerge.store.entry import Entry, Source
from adamerge.store.filters import quoted
from adamerge.store.lance.errors import MissingVersion
from adamerge.store.lance.folder import JOB, check_own_folder, jobs, remove_unmade
from adamerge.store.lance.fragments import RowWriter
from adamerge.store.lance.loaded_vectors import LoadedVectors
from adamerge.store.lance.loaded_words import LoadedWords
from adamerge.store.lance.rank import RankPages, found_ids, rank_pages, rank_pages_by_both
from adamerge.store.lance.schema import fields_of, has_mean, metadata_of, schema_of, to_table
from adamerge.store.lance.snapshot import Snapshot, ids_filter
from adamerge.store.lance.summary import facts_of_version, sources_of
from adamerge.store.lance.table import LanceTable, described
from adamerge.store.limits import INDEX_FROM, LANCE_MEMORY
from adamerge.store.metadata import columns_of

WRITES_BEFORE_TIDYING = 256  # after so many writes a writer tidies up, even if it is not closed
NO_LOCK = -1  # stands for the lock of a bucket, which has none


class LanceStore(Store):
    """Pages in a folder (`reports`) or a bucket (`s3://bucket/reports`)."""

    def __init__(
        self,
        path: str | Path,
        *,
        encoder: AnyEncoder | None = None,
        dtype: str | None = None,
        memory: int = LANCE_MEMORY,
        storage_options: dict[str, str] | None = None,
    ) -> None:
        """Open a store; the folder is made by the first page. A search holds `memory` bytes of vectors."""
        super().__init__(encoder, dtype)
        self.path = str(path)
        self._table = LanceTable(self.path, storage_options)
        folder = None if self._table.is_remote else Path(self.path)
        self._cache = LoadedVectors(memory, folder)
        self._words = LoadedWords()
        self._searching = RLock()  # one thread at a time uses the cache
        self._lock: int | None = None  # of the one writer: what os.close() releases
        self._writes = 0  # since the writer last tidied up
        # What the writer knows of the pages, as of version `_seen`: their ids, and the number of the last write.
        self._ids: set[str] = set()
        self._last_write = 0
        self._seen = -1
        self.refresh()

    def __str__(self) -> str:
        """The folder or the address of the bucket."""
        return self.path

    def __len__(self) -> int:
        """Pages in the store."""
        self.refresh()
        if self.about is None:
            return 0
        return self._table.read(Snapshot.count)

    def refresh(self) -> None:
        """See what other processes did to the store: they may have made it, or replaced it by another one."""
        snapshot = self._table.newest()
        if snapshot is None:
            self.about = None
        elif self.about is None or snapshot.about.made != self.about.made:
            self.about = None
            self._seen = -1
            self._set_about(snapshot.about)

    # ------------------------------------------------------------------------------------------------- writing

    def begin_writing(self) -> None:
        """Become the one writer, and learn which pages are there; the system releases the lock even after kill -9."""
        with self._changing:
            if self._lock is None:
                self._lock = NO_LOCK if self._table.is_remote else self._lock_folder()
            self._check_folder()
            self._table.newest(at_once=True)  # others may write to a bucket too
            self.refresh()
            if self.about is not None:
                self._table.read(self._learn_ids)

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
        if self._lock is None or self._lock == NO_LOCK:
            return
        try:
            is_same = os.path.samestat(os.fstat(self._lock), os.stat(self.path))
        except OSError:
            is_same = False
        if not is_same:
            raise StoreUnavailable(
                "the store could not be written: its folder was moved or removed while it was open"
            )

    def _learn_ids(self, snapshot: Snapshot) -> None:
        """Learn the ids of the pages and the number of the last write, unless this writer made the version."""
        if snapshot.version == self._seen:
            return
        listed = snapshot.read(["id", "written"])
        self._ids = set(listed["id"].to_pylist())
        self._last_write = max(listed["written"].to_pylist(), default=0)
        self._seen = snapshot.version

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the one writer, also among threads; afterwards merge small files where there are many."""
        with self._changing:
            self.begin_writing()
            yield
            self._writes += 1
            self._table.merge_small_files()
            if self._writes >= WRITES_BEFORE_TIDYING:
                self._tidy()
            self._seen = self._table.required().version

    def _write(self, entries: list[Entry], about: About) -> None:
        with self._writing():
            if self.about is not None and self.about != about:
                raise Mismatch(
                    f"{self.path} holds pages of {self.about} since a moment ago, not of {about}"
                )
            self.remove_other_jobs("")  # what they planned is no longer what there is to do
            self._last_write = max(self._last_write + 1, time.time_ns())
            schema = schema_of(about) if self.about is None else self._table.required().schema
            new_columns = self._new_columns([entry.metadata for entry in entries], schema, about)
            rows = to_table(entries, about, pa.schema([*schema, *new_columns]), self._last_write)
            ids = {entry.id for entry in entries}

            if self.about is None:
                self._table.create(rows, about)
            else:
                if len(new_columns):
                    self._table.add_columns(new_columns)
                if self._ids.isdisjoint(ids):
                    self._table.insert(rows)
                else:
                    self._table.replace(rows)
            self._ids |= ids

    def row_writer(self, about: About, metadata: Iterable[Mapping[str, Any]]) -> RowWriter:
        """What other processes need to write rows of this store, which commit_rows() makes its pages.

        metadata  of the pages to come: the store gets a column for each new name
        """
        with self._changing:
            self.begin_writing()
            is_new = self.about is None
            schema = schema_of(about) if is_new else self._table.required().schema
            new_columns = self._new_columns(metadata, schema, about)
            if is_new:
                schema = described(pa.schema([*schema, *new_columns]), about)
            elif len(new_columns):
                self._table.add_columns(new_columns)
                schema = self._table.required().schema
            self._last_write = max(self._last_write + 1, time.time_ns())
            table = self._table
            return RowWriter(table.address, schema, about, self._last_write, table.storage_options)

    def commit_rows(
        self, rows: RowWriter, fragments: Sequence[str], gone: Collection[str], key: str
    ) -> None:
        """Take rows that other processes wrote, and remove the pages of some ids, in one commit."""
        with self._changing:
            self.begin_writing()
            if not fragments and not (gone and self.about):
                return
            passing = ids_filter(sorted(gone)) if gone else ""
            self._table.commit_rows(rows, fragments, passing, key)
            self.about = rows.about
            self._writes += 1
            self._table.merge_small_files()
            self._seen = -1  # the ids of the new pages are learnt by the next write

    def job_address(self, key: str) -> str:
        """Where the notes of a job on a cluster are."""
        return f"{self.path}/{JOB}{key}"

    def remove_other_jobs(self, key: str) -> None:
        """Give up jobs of another key that were not finished; the files that they wrote are removed at the end."""
        for job in jobs(self.path):
            if job.name != f"{JOB}{key}":
                rmtree(job, ignore_errors=True)

    def _new_columns(
        self, rows: Iterable[Mapping[str, Any]], schema: pa.Schema, about: About
    ) -> pa.Schema:
        """A column for every new name of metadata; a name of two kinds is refused."""
        known = metadata_of(schema, about)
        columns = columns_of(rows, known)
        return fields_of({name: kind for name, kind in columns.items() if name not in known})

    def delete(self, *ids: str, source: str | None = None) -> int:
        """Remove pages by id, or all pages of a source file, and return how many there were."""
        self.require_about()
        clauses = []
        if ids:
            clauses.append(ids_filter(ids))
        if source is not None:
            clauses.append(f"source = {quoted(source)}")
        if not clauses:
            raise BadInput("delete what? give ids, or a source")

        passing = " OR ".join(clauses)
        with self._changing:
            found = set(self._table.read(lambda snapshot: snapshot.ids(passing)))
            if found:
                with self._writing():
                    self._table.delete(passing)
                    self._ids -= found
        return len(found)

    def set_metadata(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Set metadata of all pages of some source files: source -> values by name."""
        about = self.require_about()
        with self._writing():
            schema = self._table.required().schema
            new_columns = self._new_columns(values.values(), schema, about)
            if len(new_columns):
                self._table.add_columns(new_columns)
            self._set_by_source(values)

    def set_roots(self, roots: Mapping[str, str]) -> None:
        """Note in which folder each of some source files is now."""
        with self._writing():
            self._set_by_source({source: {"root": root} for source, root in roots.items()})

    def _set_by_source(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Set columns by source file, in one commit for all files that have the same names."""
        schema = self._table.required().schema
        sources_by_names: dict[tuple[str, ...], list[str]] = {}
        for source, row in values.items():
            names = tuple(name for name in schema.names if name in row)
            if names:  # a name that never had a value has no column
                sources_by_names.setdefault(names, []).append(source)

        for names, sources in sources_by_names.items():
            fields = pa.schema([schema.field(name) for name in ("source", *names)])
            rows = [{**values[source], "source": source} for source in sources]
            self._table.update(pa.Table.from_pylist(rows, fields), "source")

    def compact(self, keep: timedelta | None = None) -> None:
        """Merge all small files into few, index the means of many pages, and remove old versions.

        keep  how long a version stays after a newer one took its place: some minutes, for those who still read it
        """
        with self._changing:
            self.begin_writing()
            if self.about is None:
                return
            self._table.compact()
            self._index_many()
            self._table.remove_old_versions(keep)
            self._writes = 0
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
                self._release_lock(self._lock)
                self._lock = None

    def _release_lock(self, lock: int) -> None:
        if lock == NO_LOCK:
            return
        with suppress(OSError):
            Path(self.path).rmdir()  # where nothing was written; a folder with files stays
        os.close(lock)

    def _tidy(self) -> None:
        """Leave out deleted pages, index many pages, remove old versions and what killed writers left."""
        if self._writes:
            if self._table.has_deletions():
                self._table.compact()
            self._index_many()
        self._table.remove_old_versions()
        self._writes = 0

    def _index_many(self) -> None:
        """Index the mean vectors, if there are many."""
        about = self.require_about()
        if has_mean(about) and len(self) >= INDEX_FROM:
            self._table.index_means()

    # ------------------------------------------------------------------------------------------------- reading

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries of those ids that are there, in the order of `ids`."""
        self.require_about()
        entries = self._table.read(lambda snapshot: snapshot.entries_by_id(ids))
        return [entries[id] for id in ids if id in entries]

    def entries(self, where: str = "") -> Iterator[Entry]:
        """All entries that pass a filter, a batch at a time, each once.

        They are of one version, unless a writer removes that version meanwhile: then the rest is of the next one.
        """
        self.require_about()
        passing = self._table.required().filter(where)
        return self._each_entry(passing)

    def _each_entry(self, passing: str) -> Iterator[Entry]:
        snapshot = self._table.required()
        seen = set[str]()
        while True:
            try:
                for entry in snapshot.entries(passing):
                    if entry.id not in seen:
                        seen.add(entry.id)
                        yield entry
                return
            except MissingVersion as error:
                snapshot = self._table.successor(snapshot, error)

    def columns(self) -> dict[str, str]:
        """The names of metadata, and the kind of each."""
        self.refresh()
        if self.about is None:
            return {}
        return dict(self._table.required().metadata)

    def sources(self) -> dict[str, Source]:
        """The files whose pages are in the store, by name."""
        self.refresh()
        if self.about is None:
            return {}
        return self._table.read(sources_of)

    def facts(self) -> dict[str, Any]:
        """What the store holds: pages, vectors, bytes, and what made them."""
        self.require_about()
        total_bytes = self._table.bytes()
        return self._table.read(lambda snapshot: facts_of_version(snapshot, total_bytes))

    # ----------------------------------------------------------------------------------------------- searching

    def _rank(
        self, queries: list[Floats], k: int, where: str, exact: bool
    ) -> tuple[list[Ranking], dict[str, Entry]]:
        return self._search(where, partial(rank_pages, queries=queries, k=k, exact=exact))

    def _rank_by_both(
        self, queries: list[Floats], texts: Sequence[str], k: int, where: str, exact: bool
    ) -> tuple[list[Ranking], dict[str, Entry]]:
        asked: dict[str, Any] = {"queries": queries, "texts": texts, "k": k, "exact": exact}
        return self._search(where, partial(rank_pages_by_both, words=self._words, **asked))

    def _search(self, where: str, rank: RankPages) -> tuple[list[Ranking], dict[str, Entry]]:
        """The rankings of one version, and the entries of the pages that were found."""

        def search(snapshot: Snapshot) -> tuple[list[Ranking], dict[str, Entry]]:
            passing = snapshot.filter(where)
            with self._searching:
                rankings = rank(snapshot, self._cache.update(snapshot), passing)
            return rankings, snapshot.entries_by_id(found_ids(rankings))

        return self._table.read(search)
