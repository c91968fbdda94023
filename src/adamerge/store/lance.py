"""The embedded store: a LanceDB table in a folder or a bucket, searched by our own kernel. Needs the extra `store`.

LanceDB keeps and versions the rows. Its own multi-vector search is not used: an index over many vectors a page loses
results, and a scan of float16 costs more than our kernel's. Every write is one commit, so a reader sees a page whole or
not at all, and a process that is killed leaves nothing half done.
"""

import json
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from threading import RLock
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import IvfFlat

from adamerge import files
from adamerge.arrays import Floats
from adamerge.errors import AdamergeError, BadFile, BadInput, Damaged, Mismatch, StoreUnavailable
from adamerge.search import Memory, best, double, maxsim
from adamerge.store.base import AnyEncoder, Ranked, Source, Store, facts_of
from adamerge.store.entry import About, Entry
from adamerge.store.filters import parse, quoted, to_sql
from adamerge.store.metadata import columns_of
from adamerge.store.rows import (
    LANCE,
    TRIES,
    again,
    among,
    flat,
    gone,
    plain,
    read,
    retried,
    scan,
    unreadable,
)
from adamerge.store.schema import (
    fields_of,
    metadata_of,
    schema_of,
    to_entries,
    to_table,
    vectors_of,
)

TABLE = "pages"
KEY = b"adamerge"  # of the schema's metadata, which holds `about`
COMPACT = 256  # writes between two compactions: every version lists all fragments, so many of them cost their square
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
        self.path, self.memory = str(path), memory
        self._options = storage_options
        self._table: Any = None
        self._lock: int | None = None
        self._writes = 0
        self._ids: set[str] = (
            set()
        )  # of a writer: what is there, and the last `written`, as of version `_seen`
        self._clock, self._seen = 0, -1
        self._held: Memory | None = (
            None  # vectors in memory, as of `_version`; none of them later than `_newest`
        )
        self._version, self._newest = -1, -1
        self._searching = RLock()
        self.refresh()

    def __str__(self) -> str:
        """Where it is."""
        return self.path

    def __len__(self) -> int:
        """Pages in the store."""
        self.refresh()
        return 0 if self._table is None else retried(self._table.count_rows)

    @property
    def _about(self) -> About:
        """What made the pages, as it was when the call began."""
        assert self.about is not None
        return self.about

    @property
    def _remote(self) -> bool:
        return "://" in self.path

    def _connect(self) -> Any:
        old = timedelta(
            seconds=1 if self._remote else 0
        )  # that a read may be: in a bucket, each look costs a request
        return lancedb.connect(
            self.path, read_consistency_interval=old, storage_options=self._options
        )

    def refresh(self) -> None:
        """See what others have made of the store since: made it, or put another in its place."""
        about = self._described()
        if about is None or self.about is None or about.made != self.about.made:
            self._held, self._version, self._newest, self._seen, self.about = None, -1, -1, -1, None
            if about is None:
                self._table = None
            else:
                self._opened(about)

    def _described(self) -> About | None:
        """What the table says of itself now; None where there is none, or one that a killed process did not finish."""
        if not self._remote and not is_table(self.path):
            return None
        try:
            described = again(self._metadata)
        except LANCE as error:
            if self._remote and gone(error):
                return None
            raise unreadable(error) from None
        try:
            return About(**json.loads(described[KEY]))
        except (KeyError, TypeError, ValueError):
            raise BadFile(
                f"{self.path} holds a LanceDB table that is not a store of adamerge"
            ) from None

    def _metadata(self) -> dict[bytes, bytes]:
        self._table = self._table or self._connect().open_table(TABLE)
        return self._table.schema.metadata or {}

    # ------------------------------------------------------------------------------------------------- writing

    def begin(self) -> None:
        """Become the one writer, and learn what is there; the system takes the lock back even after kill -9."""
        with self._changing:
            if self._lock is None:
                self._lock = -1 if self._remote else files.lock_folder(Path(self.path))
                self.refresh()
            if self._remote and self._table is not None:
                self._table.checkout_latest()  # others may write too: a bucket has no lock
            if self._table is not None and self._table.version != self._seen:
                self._seen = self._table.version
                listed = read(self._table, ["id", "written"])
                self._ids = set(listed["id"].to_pylist())
                self._clock = max(listed["written"].to_pylist(), default=0)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the one writer, of threads too, and say in one line what LanceDB could not write."""
        with self._changing:
            try:
                self.begin()
                yield
            except AdamergeError:
                raise
            except LANCE as error:
                raise StoreUnavailable(f"the store could not be written: {plain(error)}") from None
            self._seen = self._table.version
            self._writes += 1
            if self._writes >= COMPACT:
                self.compact()

    def _write(self, entries: list[Entry], about: About) -> None:
        with self._writing():
            if self.about is not None and self.about != about:
                raise Mismatch(
                    f"{self.path} holds pages of {self.about} since a moment ago, not of {about}"
                )
            self._clock = max(self._clock + 1, time.time_ns())
            new = self._new_columns([entry.metadata for entry in entries], about)
            schema = pa.schema(
                [*(schema_of(about) if self._table is None else self._table.schema), *new]
            )
            rows = to_table(entries, about, schema, self._clock)
            self._put(rows, new, about)
            self._ids |= set(rows["id"].to_pylist())

    def _put(self, rows: pa.Table, new: pa.Schema, about: About) -> None:
        if self._table is None:  # with its first pages, so that there never is a store without any
            rows = rows.replace_schema_metadata({KEY: json.dumps(about.json())})
            left = (
                not self._remote and (Path(self.path) / f"{TABLE}.lance").exists()
            )  # by a process that was killed
            self._table = self._connect().create_table(
                TABLE, rows, mode="overwrite" if left else "create"
            )
            return
        if len(new):
            self._table.add_columns(new)
        if self._ids.isdisjoint(rows["id"].to_pylist()):
            self._table.add(rows)
        else:
            self._table.merge_insert(
                "id"
            ).when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def _new_columns(self, rows: Iterable[Mapping[str, Any]], about: About) -> pa.Schema:
        """A column for every new name of metadata; a name of two kinds is refused."""
        known = {} if self._table is None else metadata_of(self._table.schema, about)
        columns = columns_of(rows, known)
        return fields_of({name: kind for name, kind in columns.items() if name not in known})

    def delete(self, *ids: str, source: str | None = None) -> int:
        """Remove pages by id, or all pages of a source file, and return how many there were."""
        self.known()
        clauses = ([among(ids)] if ids else []) + (
            [f"source = {quoted(source)}"] if source is not None else []
        )
        if not clauses:
            raise BadInput("delete what? give ids, or a source")
        where = " OR ".join(clauses)
        with self._changing:
            there = set(read(self._table, ["id"], where)["id"].to_pylist())
            if there:
                with self._writing():
                    self._table.delete(where)
                    self._ids -= there
        return len(there)

    def label(self, labels: Mapping[str, Mapping[str, Any]]) -> None:
        """Set metadata of all pages of some source files."""
        about = self.known()
        with self._writing():
            if len(new := self._new_columns(labels.values(), about)):
                self._table.add_columns(new)
            self._set(labels)

    def moved(self, roots: Mapping[str, str]) -> None:
        """Note that source files are in other folders now."""
        with self._writing():
            self._set({source: {"root": root} for source, root in roots.items()})

    def _set(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Set columns by source file, in one commit for all files that have the same names."""
        alike: dict[tuple[str, ...], list[str]] = {}
        for source, row in values.items():  # a name that never had a value has no column
            alike.setdefault(
                tuple(name for name in self._table.schema.names if name in row), []
            ).append(source)
        for names, sources in alike.items():
            schema = pa.schema([self._table.schema.field(name) for name in ("source", *names)])
            rows = pa.Table.from_pylist(
                [{**values[source], "source": source} for source in sources], schema
            )
            if names:
                self._table.merge_insert("source").when_matched_update_all().execute(rows)

    def compact(self) -> None:
        """Gather many small writes into few files, index the means of many pages, and remove old versions."""
        if self._table is None:
            return
        self._writes = 0
        with self._writing(), warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message=".*removes every version"
            )  # their readers read again
            if len(self) >= INDEX_FROM and not self._table.list_indices():
                parts = int(len(self) ** 0.5)
                self._table.create_index(
                    "mean", config=IvfFlat(distance_type="dot", num_partitions=parts)
                )
            self._table.optimize(cleanup_older_than=timedelta(0))
        self._writes = 0

    def close(self) -> None:
        """Compact what was written and let the next writer in; the store can still be read."""
        with self._changing:
            if self._lock is None:
                return
            try:
                if self._writes:
                    self.compact()
            finally:
                if self._lock >= 0:
                    with suppress(OSError):
                        Path(self.path).rmdir()  # where nothing was written
                    os.close(self._lock)
                self._lock = None

    # ------------------------------------------------------------------------------------------------- reading

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries of those ids that are there, in the order of `ids`."""
        if not ids:
            return []
        found = {entry.id: entry for entry in self._entries(among(ids))}
        return [found[id] for id in ids if id in found]

    def entries(self, where: str = "") -> Iterator[Entry]:
        """All entries that pass a filter, a batch at a time."""
        self.known()
        return self._entries(self._passing(where))

    def _passing(self, where: str) -> str:
        """A filter as LanceDB takes it."""
        return to_sql(parse(where, self.columns()))

    def _entries(self, where: str) -> Iterator[Entry]:
        """All entries that pass, each once, also if a compaction takes away the version that is being read."""
        about, seen = self._about, set[str]()
        for last in (*(False for _ in range(TRIES - 1)), True):
            try:
                for batch in scan(self._table, self._table.schema.names, where):
                    for entry in to_entries(batch, about, self.columns()):
                        if entry.id not in seen:
                            seen.add(entry.id)
                            yield entry
                return
            except Damaged as error:
                if last or not gone(error):
                    raise

    def columns(self) -> dict[str, str]:
        """The names of metadata, and the kind of each."""
        return {} if self._table is None else metadata_of(self._table.schema, self._about)

    def sources(self) -> dict[str, Source]:
        """The files whose pages are here, by name."""
        self.refresh()
        if self._table is None:
            return {}
        metadata = self.columns()
        found: dict[str, Source] = {}
        columns = ["id", "source", "hash", "root", "pages", "rows", "written", *metadata]
        for row in read(self._table, columns).to_pylist():
            labels = {name: row[name] for name in metadata if row[name] is not None}
            source = found.setdefault(row["source"], Source({}, row["pages"], row["root"], labels))
            source.ids[row["id"]] = row["hash"]
            source.rows[row["id"]] = row["rows"]
            source.written[row["id"]] = row["written"]
        return found

    def facts(self) -> dict[str, Any]:
        """What it holds: pages, vectors, bytes, and what made them."""
        about = self.known()
        listed = read(self._table, ["patches", "rows", "extra"])
        sums = {name: int(listed[name].to_numpy().sum()) for name in listed.column_names}
        vectors = sums["rows"] * about.vector_bytes
        total = self._bytes()
        counts = {"pages": len(listed), "files": len(self.sources())}
        return facts_of(about, self.columns(), **counts, **sums, vectors=vectors, total=total)

    def _bytes(self) -> int:
        """Bytes of all files of the table; of a bucket, of those of the latest version."""
        if self._remote:
            return int(self._table.stats()["total_bytes"])
        return sum(
            file.stat().st_size
            for file in (Path(self.path) / f"{TABLE}.lance").rglob("*")
            if file.is_file()
        )

    # ----------------------------------------------------------------------------------------------- searching

    def _rank(self, queries: list[Floats], k: int, where: str, exact: bool) -> list[Ranked]:
        where = self._passing(where)
        only = read(self._table, ["id"], where)["id"].to_pylist() if where else None
        with self._searching:
            held = retried(self._hold)
            if held is not None:
                ids, scores = held.scores(queries, only)
                return [(best(ids, row, k), "exact", len(ids), len(ids)) for row in scores]
        pages = retried(self._table.count_rows) if only is None else len(only)
        return [self._rank_unheld(query, k, where, exact, pages) for query in queries]

    def _rank_unheld(self, query: Floats, k: int, where: str, exact: bool, pages: int) -> Ranked:
        """The best k of `pages` pages that pass a filter, read from disk: all of them, or some that are proposed."""
        if exact:
            ids, scores = self._score(query, where)
            return best(ids, scores, k), "exact", len(ids), len(ids)
        mean = query.mean(0)

        def score(ids: list[str]) -> tuple[list[str], Floats]:
            return self._score(query, among(ids)) if ids else ([], np.zeros(0, np.float32))

        return *double(k, pages, lambda n: self._propose(mean, n, where), score), pages

    def _hold(self) -> Memory | None:
        """The vectors of the latest version in memory: read once, then what has changed; None if they do not fit."""
        about = self._about
        version = self._table.version
        if version == self._version:
            return self._held
        listed = read(self._table, ["id", "rows"])
        rows = int(listed["rows"].to_numpy().sum())
        if rows * about.vector_bytes > self.memory:
            self._held, self._version, self._newest = None, version, -1
            return None
        held = self._held or Memory(about.dimension, about.dtype, rows)
        for id in held.ids - set(listed["id"].to_pylist()):
            held.drop(id)
        newest = self._newest
        for batch in scan(
            self._table, ["id", "written", "vectors", "scales"], f"written > {self._newest}"
        ):
            for i, (id, written) in enumerate(
                zip(batch["id"].to_pylist(), batch["written"].to_pylist(), strict=True)
            ):
                held.put(id, *vectors_of(batch, i))
                newest = max(newest, written)
        self._held, self._version, self._newest = held, version, newest
        return held

    def _propose(self, mean: Floats, n: int, where: str) -> list[str]:
        """The n pages whose mean vector is nearest to the query's."""
        search = self._table.search(mean, vector_column_name="mean").distance_type("dot")
        search = search.where(where, prefilter=True) if where else search
        search = search.nprobes(
            max(20, n // 8)
        )  # pages of many candidates lie in many parts of the index
        return retried(
            lambda: search.select(["id", "_distance"]).limit(n).to_arrow()["id"].to_pylist()
        )

    def _score(self, query: Floats, where: str) -> tuple[list[str], Floats]:
        """MaxSim of the pages that pass a filter, read from disk a batch at a time."""

        def scores_of() -> tuple[list[str], list[Floats]]:
            ids: list[str] = []
            scores: list[Floats] = [np.zeros(0, np.float32)]
            for batch in scan(self._table, ["id", "vectors", "scales"], where):
                ids += batch["id"].to_pylist()
                scores.append(maxsim(query, *flat(batch)))
            return ids, scores

        ids, scores = retried(scores_of)
        return ids, np.concatenate(scores)


def is_table(path: str | Path) -> bool:
    """Whether a folder holds a table with at least one version; a process that was killed early leaves none."""
    return any((Path(path) / f"{TABLE}.lance" / "_versions").glob("*"))
