"""A Lance dataset in a folder or a bucket: its newest version, and every change as one commit.

Readers hold a version. A writer keeps the versions that it supersedes for some minutes, and who still meets one that is
gone reads the next one instead.
"""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

# Lance reads this when it is imported; without it, it writes warnings to stderr.
os.environ.setdefault("LANCE_LOG", "error")
import lance
import pyarrow as pa

from adamerge.errors import BadFile, StoreUnavailable
from adamerge.store.entry import About
from adamerge.store.folder import (
    TABLE,
    has_table,
    has_table_files,
    manifest_identity,
    remove_unnamed,
    table_bytes,
)
from adamerge.store.lance_commit import settle, sizes_of
from adamerge.store.lance_errors import MissingVersion, damaged, reading, writing
from adamerge.store.lance_read import Snapshot
from adamerge.store.schema import check_schema

T = TypeVar("T")
DESCRIPTION = b"adamerge"  # the key of the schema's metadata that holds `about`
TRIES = 20  # of a read whose version is removed; each try finds a newer version
KEEP = timedelta(minutes=5)  # that a version stays after a newer one took its place
KEEP_LARGE = timedelta(seconds=2)  # the same, where old versions take much room
ROOM = 64 << 20  # bytes that old versions may take; of a large store, half of what its pages take
SMALL_FILES = 16  # that are gathered into one
FILE_PAGES = (512, 8192)  # of a file, gathered from small ones and from those of the size before
BUCKET_SECONDS = 1.0  # that a reader of a bucket may be behind: each look costs a request


class LanceTable:
    """The table of a store: a version never changes, and `newest` is the one to read."""

    def __init__(self, path: str, storage_options: dict[str, str] | None = None) -> None:
        """Name the folder or bucket of a store; nothing is opened or made."""
        self.path = path
        self.is_remote = "://" in path
        self._address = f"{path}/{TABLE}"
        self._storage_options = storage_options
        self._snapshot: Snapshot | None = None
        self._identity: tuple[int, int, int] | None = None  # of the manifest of the snapshot
        self._looked = 0.0  # when the newest version was last asked for, by time.monotonic()
        self._opening = Lock()

    # ------------------------------------------------------------------------------------------------- reading

    def newest(self, at_once: bool = False) -> Snapshot | None:
        """The newest version; None where there is no table yet.

        A table that was there and is no more is StoreUnavailable: its folder was moved or removed. `at_once` also sees
        what was written to a bucket within the last second.
        """
        with self._opening:
            if not self.is_remote and not has_table(self.path):
                if self._snapshot is None:
                    return None
                raise self._moved()
            for _ in range(TRIES):
                try:
                    return self._look(at_once)
                except MissingVersion as error:
                    missing = error
                    if self.is_remote and self._snapshot is None:
                        return None
            raise missing

    def read(self, read: Callable[[Snapshot], T]) -> T:
        """What `read` gives of the newest version; read again if a writer has removed that version meanwhile."""
        snapshot = self.required()
        for _ in range(TRIES):
            try:
                return read(snapshot)
            except MissingVersion as error:
                snapshot = self.successor(snapshot, error)
            except UnicodeDecodeError:
                raise damaged("a text in it is no UTF-8") from None
        raise StoreUnavailable("the store changes faster than it can be read: try again")

    def required(self, at_once: bool = False) -> Snapshot:
        """The newest version of a table that was there when the call began."""
        snapshot = self.newest(at_once)
        if snapshot is None:
            raise self._moved()
        return snapshot

    def successor(self, snapshot: Snapshot, error: MissingVersion) -> Snapshot:
        """The version after one of which a file is missing; the newest one misses a file only if it is damaged."""
        newest = self.required(at_once=True)
        is_same = newest.version == snapshot.version and newest.about.made == snapshot.about.made
        if is_same:
            raise error
        return newest

    def _look(self, at_once: bool) -> Snapshot:
        """The newest version: the one we hold if nothing is newer, else opened."""
        held = self._snapshot
        now = time.monotonic()
        is_recent = self.is_remote and now - self._looked < BUCKET_SECONDS
        if held is not None and is_recent and not at_once:
            return held
        version = latest_version(self._address, held, self._storage_options)
        identity = None if self.is_remote else manifest_identity(self.path, version)
        self._looked = now
        if held is not None and held.version == version and identity == self._identity:
            return held
        is_later = held is not None and held.version < version
        caches_of = held if is_later else None  # a table put in the place of another has its own
        opened = open_version(self._address, version, caches_of, self._storage_options)
        return self._hold(opened, identity)

    def _hold(self, dataset: Any, identity: tuple[int, int, int] | None) -> Snapshot:
        """Take a dataset for the newest version, if it is a store, and one that we can read."""
        with reading():
            schema = dataset.schema
            described = (schema.metadata or {}).get(DESCRIPTION)
        if described is None:
            raise BadFile(f"{self.path} holds a Lance table that is not a store of adamerge")
        try:
            fields = json.loads(described)
        except ValueError:
            raise damaged("what it says of itself is no JSON") from None
        about = About.from_json(fields)
        check_schema(schema, about)
        self._snapshot = Snapshot(dataset, about)
        self._identity = identity
        return self._snapshot

    def _moved(self) -> StoreUnavailable:
        return StoreUnavailable(
            "the store was moved or removed while it was open: put it back, or open it where it is"
        )

    # ------------------------------------------------------------------------------------------------- writing

    def create(self, rows: pa.Table, about: About) -> None:
        """Make the table with its first pages, so that there never is a store without any."""
        rows = rows.replace_schema_metadata({DESCRIPTION: json.dumps(about.json())})
        has_files = not self.is_remote and has_table_files(
            self.path
        )  # of a process that was killed
        mode = "overwrite" if has_files else "create"
        with writing():
            dataset = lance.write_dataset(
                rows, self._address, mode=mode, storage_options=self._storage_options
            )
            self._settle(dataset, None)
        self._written(dataset)

    def insert(self, rows: pa.Table) -> None:
        """Add pages of new ids."""
        self._change(lambda dataset: dataset.insert(rows))

    def replace(self, rows: pa.Table) -> None:
        """Add pages, each in place of the one of its id."""

        def merge(dataset: Any) -> None:
            merge = dataset.merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(rows)

        self._change(merge)

    def update(self, rows: pa.Table, key: str) -> None:
        """Set some columns of the pages that have the same value of a key column."""
        self._change(
            lambda dataset: dataset.merge_insert(key).when_matched_update_all().execute(rows)
        )

    def add_columns(self, columns: pa.Schema) -> None:
        """Add columns without values."""
        self._change(lambda dataset: dataset.add_columns(columns))

    def delete(self, where: str) -> None:
        """Remove the pages that pass a filter."""
        self._change(lambda dataset: dataset.delete(where))

    def _change(self, change: Callable[[Any], Any]) -> None:
        """Commit a change on top of the newest version; snapshots that others hold stay as they are."""
        newest = self.required()
        with writing():
            dataset = newest.dataset.checkout_version(newest.version)  # an object of its own
            change(dataset)
            self._settle(dataset, newest)
        self._written(dataset)

    def _settle(self, dataset: Any, before: Snapshot | None) -> None:
        """See that a commit is safely on a local disk; a bucket sees to that itself."""
        if self.is_remote:
            return
        known = frozenset(sizes_of(before.dataset)) if before else frozenset[str]()
        settle(self.path, dataset, before.version if before else 0, known)

    def _written(self, dataset: Any) -> None:
        with self._opening, writing():
            version = int(dataset.version)
            identity = None if self.is_remote else manifest_identity(self.path, version)
            self._hold(dataset, identity)
            self._looked = time.monotonic()

    # --------------------------------------------------------------------------------------------- maintenance

    def gather(self) -> None:
        """Gather small files where there are many, so that a page is written three times at most.

        Every version lists all files, and every read opens them: many of them would cost their square.
        """
        for smaller, file_pages in pairwise((0, *FILE_PAGES)):
            with reading():
                fragments = self.required().dataset.get_fragments()
                sizes = [fragment.metadata.physical_rows or 0 for fragment in fragments]
            if sum(smaller <= size < file_pages for size in sizes) >= SMALL_FILES:
                self.compact(file_pages)

    def has_deletions(self) -> bool:
        """Whether a tenth of the pages in a file is deleted."""
        with reading():
            fragments = self.required().dataset.get_fragments()
            counts = [(part.num_deletions, part.metadata.physical_rows or 0) for part in fragments]
        return any(10 * deleted > pages for deleted, pages in counts)

    def compact(self, file_pages: int = FILE_PAGES[-1]) -> None:
        """Gather files of fewer pages than that, leave out deleted pages, and bring the index up to date."""

        def gather(dataset: Any) -> None:
            dataset.optimize.compact_files(target_rows_per_fragment=file_pages)
            if dataset.describe_indices():
                dataset.optimize.optimize_indices()

        self._change(gather)

    def index_means(self) -> None:
        """Index the mean vectors, if that has not been done."""
        snapshot = self.required()
        with reading():
            is_indexed = bool(snapshot.dataset.describe_indices())
        if is_indexed:
            return
        parts = int(snapshot.count() ** 0.5)
        self._change(
            lambda dataset: dataset.create_index(
                "mean", "IVF_FLAT", metric="dot", num_partitions=parts
            )
        )

    def remove_old_versions(self, keep: timedelta | None = None) -> None:
        """Remove the versions that a newer one superseded longer ago than `keep`, and what killed writers left.

        In a bucket the files that no version names are left alone: another writer may be about to name them.
        """
        keep = self._keep() if keep is None else keep
        snapshot = self.required()
        with writing():
            versions = snapshot.dataset.versions()
            old = superseded(versions, keep, time.time())
            which: dict[str, Any] = {"versions": old} if old else {"retain_versions": len(versions)}
            snapshot.dataset.cleanup_old_versions(**which, delete_unverified=not self.is_remote)
            if not self.is_remote:
                named = snapshot.dataset.tracked_files().read_all()["path"].to_pylist()
                remove_unnamed(self.path, frozenset(named))

    def _keep(self) -> timedelta:
        """How long a version stays: minutes, or seconds where old ones take much room."""
        live = self.read(_data_bytes)
        old = 0 if self.is_remote else table_bytes(self.path) - live
        return KEEP if old <= max(ROOM, live // 2) else KEEP_LARGE

    def bytes(self) -> int:
        """Bytes of all files of the table; of a bucket, of the data of the newest version."""
        if not self.is_remote:
            return table_bytes(self.path)
        return self.read(_data_bytes)


def latest_version(
    address: str, held: Snapshot | None, storage_options: dict[str, str] | None
) -> int:
    """The number of the newest version; its manifest may be gone a moment later."""
    with reading():
        if held is not None:
            return int(held.dataset.latest_version)
        return int(lance.dataset(address, storage_options=storage_options).version)


def open_version(
    address: str, version: int, held: Snapshot | None, storage_options: dict[str, str] | None
) -> Any:
    """The dataset at a version, with the caches of a version held before it."""
    with reading():
        if held is not None:
            return held.dataset.checkout_version(version)
        return lance.dataset(address, version=version, storage_options=storage_options)


def superseded(versions: Sequence[Mapping[str, Any]], keep: timedelta, now: float) -> list[int]:
    """The numbers of the versions whose successor is older than `keep`; the newest has none.

    A successor from the future tells of a clock that was set back: it counts by how far away it is.
    """
    by_number = sorted(versions, key=lambda version: int(version["version"]))
    old = []
    for version, successor in pairwise(by_number):
        age = abs(now - successor["timestamp"].timestamp())
        if age >= keep.total_seconds():
            old.append(int(version["version"]))
    return old


def _data_bytes(snapshot: Snapshot) -> int:
    with reading():
        fragments = snapshot.dataset.get_fragments()
        files = [file for fragment in fragments for file in fragment.metadata.files]
        sizes = [file.file_size_bytes or 0 for file in files]
    return sum(sizes)
