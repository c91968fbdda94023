"""A Lance dataset in a folder or a bucket: its newest version, and every change as one commit.

Readers hold a version. A writer keeps a version for some minutes after a newer one took its place. A reader whose
version was removed reads the next one instead.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

import lance
import pyarrow as pa

from adamerge.errors import BadFile, StoreUnavailable
from adamerge.store.about import About
from adamerge.store.lance.commit import names_of, settle
from adamerge.store.lance.errors import MissingVersion, damaged, reading, writing
from adamerge.store.lance.folder import (
    TABLE,
    has_table,
    has_table_files,
    jobs,
    manifest_identity,
    remove_unnamed,
    table_bytes,
)
from adamerge.store.lance.fragments import RowWriter, is_committed, transaction
from adamerge.store.lance.schema import check_schema
from adamerge.store.lance.snapshot import Snapshot

T = TypeVar("T")
DESCRIPTION = b"adamerge"  # the key of the schema's metadata that holds `about`
TRIES = 20  # of a read whose version is removed; each try finds a newer version
KEEP = timedelta(minutes=5)  # that a version stays after a newer one took its place
KEEP_LARGE = timedelta(seconds=2)  # the same, where old versions take much room
ROOM = 64 << 20  # bytes that old versions may take; in a large store, half of what its pages take
SMALL_FILES = 16  # that are merged into one
FILE_PAGES = (512, 8192)  # of a merged file: first small files become 512 pages, then those 8,192
BUCKET_SECONDS = 1.0  # that a reader of a bucket may be behind: each look costs a request


class LanceTable:
    """The table of a store: a version never changes, and `newest` is the one to read."""

    def __init__(self, path: str, storage_options: dict[str, str] | None = None) -> None:
        """Name the folder or bucket of a store; nothing is opened or made."""
        self.path = path
        self.is_remote = "://" in path
        self.address = f"{path}/{TABLE}"
        self.storage_options = storage_options
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
                raise damaged("a text in it is not UTF-8") from None
        raise StoreUnavailable("the store changes faster than it can be read: try again")

    def required(self, at_once: bool = False) -> Snapshot:
        """The newest version of a table that was there when the call began."""
        snapshot = self.newest(at_once)
        if snapshot is None:
            raise self._moved()
        return snapshot

    def successor(self, snapshot: Snapshot, error: MissingVersion) -> Snapshot:
        """The newest version, after a file of an older one was missing; if that was the newest, it is damaged."""
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

        version = latest_version(self.address, held, self.storage_options)
        identity = self._identity_of(version)
        self._looked = now
        if held is not None and held.version == version and identity == self._identity:
            return held

        same_table = None
        if held is not None and held.version < version:
            same_table = held  # else another table was put in its place, and has caches of its own
        opened = open_version(self.address, version, same_table, self.storage_options)
        return self._hold(opened, identity)

    def _identity_of(self, version: int) -> tuple[int, int, int] | None:
        """What tells a version from one of the same number in another table; a bucket does not tell."""
        if self.is_remote:
            return None
        return manifest_identity(self.path, version)

    def _hold(self, dataset: Any, identity: tuple[int, int, int] | None) -> Snapshot:
        """Hold a dataset as the newest version, if it is a store, and one that we can read."""
        with reading():
            schema = dataset.schema
            described = (schema.metadata or {}).get(DESCRIPTION)
        if described is None:
            raise BadFile(f"{self.path} holds a Lance table that is not a store of adamerge")
        try:
            fields = json.loads(described)
        except ValueError:
            raise damaged("what it says of itself is not JSON") from None
        about = About.from_json(fields)
        check_schema(schema, about)
        self._snapshot = Snapshot(dataset, schema, about)
        self._identity = identity
        return self._snapshot

    def _moved(self) -> StoreUnavailable:
        return StoreUnavailable(
            "the store was moved or removed while it was open: put it back, or open it where it is"
        )

    # ------------------------------------------------------------------------------------------------- writing

    def create(self, rows: pa.Table, about: About) -> None:
        """Make the table with its first pages, so that no store is ever without pages."""
        rows = rows.cast(described(rows.schema, about))
        mode = "create"
        if not self.is_remote and has_table_files(self.path):
            mode = "overwrite"  # what a process left that was killed while it made the table
        with writing():
            dataset = lance.write_dataset(
                rows, self.address, mode=mode, storage_options=self.storage_options
            )
            self._settle(dataset, None)
        self._hold_written(dataset)

    def commit_rows(self, rows: RowWriter, fragments: Sequence[str], gone: str, key: str) -> None:
        """Take rows that other processes wrote, and remove those that pass the filter `gone`, in one commit.

        A job is committed once: where its key is found, nothing is done.
        """
        newest = self.newest(at_once=True)
        dataset = None
        with writing():
            if newest is not None:
                dataset = newest.dataset.checkout_version(newest.version)
                if is_committed(dataset, key):
                    return
            change = transaction(dataset, rows.schema, fragments, gone, key)
            committed = lance.LanceDataset.commit(
                self.address, change, storage_options=self.storage_options
            )
            self._settle(committed, newest)
        self._hold_written(committed)

    def insert(self, rows: pa.Table) -> None:
        """Add pages of new ids."""
        self._change(lambda dataset: dataset.insert(rows))

    def replace(self, rows: pa.Table) -> None:
        """Add pages, each in place of the one of its id."""

        def merge(dataset: Any) -> None:
            by_id = dataset.merge_insert("id")
            by_id.when_matched_update_all().when_not_matched_insert_all().execute(rows)

        self._change(merge)

    def update(self, rows: pa.Table, key: str) -> None:
        """Set some columns of the pages that have the same value of a key column."""

        def merge(dataset: Any) -> None:
            dataset.merge_insert(key).when_matched_update_all().execute(rows)

        self._change(merge)

    def add_columns(self, columns: pa.Schema) -> None:
        """Add columns without values."""
        self._change(lambda dataset: dataset.add_columns(columns))

    def delete(self, passing: str) -> None:
        """Remove the pages that pass a filter of Lance."""
        self._change(lambda dataset: dataset.delete(passing))

    def _change(self, change: Callable[[Any], Any]) -> None:
        """Commit a change on top of the newest version; snapshots that others hold stay as they are."""
        newest = self.required()
        with writing():
            dataset = newest.dataset.checkout_version(newest.version)  # an object of its own
            change(dataset)
            self._settle(dataset, newest)
        self._hold_written(dataset)

    def _settle(self, dataset: Any, before: Snapshot | None) -> None:
        """Make a commit safe on a local disk; a bucket does that itself."""
        if self.is_remote:
            return
        if before is None:
            settle(self.path, dataset, 0, frozenset())
        else:
            settle(self.path, dataset, before.version, names_of(before.dataset))

    def _hold_written(self, dataset: Any) -> None:
        """Hold the version that this writer has just committed."""
        with self._opening, writing():
            identity = self._identity_of(int(dataset.version))
            self._hold(dataset, identity)
            self._looked = time.monotonic()

    # --------------------------------------------------------------------------------------------- maintenance

    def merge_small_files(self) -> None:
        """Merge small files where there are many, so that a page is written three times at most.

        Every version lists all files, and every read opens them: the cost of many files would grow as their square.
        """
        for fewest, file_pages in pairwise((0, *FILE_PAGES)):
            with reading():
                fragments = self.required().dataset.get_fragments()
                sizes = [fragment.metadata.physical_rows or 0 for fragment in fragments]
            small = [size for size in sizes if fewest <= size < file_pages]
            if len(small) >= SMALL_FILES:
                self.compact(file_pages)

    def has_deletions(self) -> bool:
        """Whether a tenth of the pages in a file is deleted."""
        with reading():
            fragments = self.required().dataset.get_fragments()
            counts = [(part.num_deletions, part.metadata.physical_rows or 0) for part in fragments]
        return any(10 * deleted > pages for deleted, pages in counts)

    def compact(self, file_pages: int = FILE_PAGES[-1]) -> None:
        """Merge files of fewer pages than that, leave out deleted pages, and bring the index up to date."""

        def merge(dataset: Any) -> None:
            dataset.optimize.compact_files(target_rows_per_fragment=file_pages)
            if dataset.describe_indices():
                dataset.optimize.optimize_indices()

        self._change(merge)

    def index_means(self) -> None:
        """Index the mean vectors, if that has not been done."""
        snapshot = self.required()
        with reading():
            is_indexed = bool(snapshot.dataset.describe_indices())
        if is_indexed:
            return
        partitions = int(snapshot.count() ** 0.5)

        def index(dataset: Any) -> None:
            dataset.create_index("mean", "IVF_FLAT", metric="dot", num_partitions=partitions)

        self._change(index)

    def remove_old_versions(self, keep: timedelta | None = None) -> None:
        """Remove the versions that a newer one replaced longer ago than `keep`, and what killed writers left.

        In a bucket, and while a job on a cluster is not finished, the files that belong to no version stay: they may be
        about to be committed.
        """
        if keep is None:
            keep = self._time_to_keep()
        snapshot = self.required()
        with writing():
            versions = snapshot.dataset.versions()
            old = superseded(versions, keep, time.time())
            which: dict[str, Any] = {"retain_versions": len(versions)}
            if old:
                which = {"versions": old}
            may_remove_unnamed = not self.is_remote and not jobs(self.path)
            snapshot.dataset.cleanup_old_versions(**which, delete_unverified=may_remove_unnamed)
            if may_remove_unnamed:
                named = snapshot.dataset.tracked_files().read_all()["path"].to_pylist()
                remove_unnamed(self.path, frozenset(named))

    def _time_to_keep(self) -> timedelta:
        """How long a version stays: minutes, or seconds where old versions take much room."""
        if self.is_remote:
            return KEEP
        newest = self.read(_data_bytes)
        old = table_bytes(self.path) - newest
        if old <= max(ROOM, newest // 2):
            return KEEP
        return KEEP_LARGE

    def bytes(self) -> int:
        """Bytes of all files of the table; of a bucket, of the data of the newest version."""
        if not self.is_remote:
            return table_bytes(self.path)
        return self.read(_data_bytes)


def described(schema: pa.Schema, about: About) -> pa.Schema:
    """A schema that also holds what a store says of itself."""
    return schema.with_metadata({DESCRIPTION: json.dumps(about.json())})


def latest_version(
    address: str, held: Snapshot | None, storage_options: dict[str, str] | None
) -> int:
    """The number of the newest version; its manifest may be gone a moment later."""
    with reading():
        if held is not None:
            return int(held.dataset.latest_version)
        return int(lance.dataset(address, storage_options=storage_options).version)


def open_version(
    address: str, version: int, earlier: Snapshot | None, storage_options: dict[str, str] | None
) -> Any:
    """The dataset at a version; it shares the caches of an earlier version of the same table."""
    with reading():
        if earlier is not None:
            return earlier.dataset.checkout_version(version)
        return lance.dataset(address, version=version, storage_options=storage_options)


def superseded(versions: Sequence[Mapping[str, Any]], keep: timedelta, now: float) -> list[int]:
    """The numbers of the versions whose successor is older than `keep`; the newest has no successor.

    A successor from the future means that a clock was set back. Its distance from now counts as its age.
    """
    by_number = sorted(versions, key=lambda version: int(version["version"]))
    old = []
    for version, successor in pairwise(by_number):
        age = abs(now - successor["timestamp"].timestamp())
        if age >= keep.total_seconds():
            old.append(int(version["version"]))
    return old


def _data_bytes(snapshot: Snapshot) -> int:
    """Bytes of the data files of a version."""
    total = 0
    with reading():
        for fragment in snapshot.dataset.get_fragments():
            total += sum(file.file_size_bytes or 0 for file in fragment.metadata.files)
    return total
