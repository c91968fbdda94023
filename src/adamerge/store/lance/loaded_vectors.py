"""The vectors of the newest version that a search holds, brought up to date by reading only what has changed."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

from adamerge.codes import bytes_per_row, empty_rows
from adamerge.search import PageVectors, VectorsInMemory, mapped_rows
from adamerge.store.lance.row_columns import RowColumns, sign_columns, stored_columns
from adamerge.store.lance.snapshot import Snapshot
from adamerge.store.limits import SIGNS_FROM

MOST_WRITES = 256  # that a filter lists; where more writes are new, all vectors are read


class Loaded(NamedTuple):
    """What is held of a version: the stored rows of all pages, or None; their 1-bit codes, or None."""

    vectors: VectorsInMemory | None
    signs: VectorsInMemory | None


class LoadedVectors:
    """The stored rows of a table in memory, if they fit; and its sign planes, where there are many pages.

    Sign planes that do not fit in memory are mapped from a file, and so are the rows of int1, which have no other.
    """

    def __init__(self, budget: int, folder: Path | None) -> None:
        """Hold at most `budget` bytes of vectors; `folder` is where files to map are made."""
        self.budget = budget
        self._folder = folder
        self._vectors = LoadedRows(folder)
        self._signs = LoadedRows(folder)
        self._has_searched = False

    def update(self, snapshot: Snapshot) -> Loaded:
        """What to search a version by."""
        about = snapshot.about
        rows = int(snapshot.listing.rows.sum())
        size = rows * about.vector_bytes
        vector_columns = stored_columns(about)
        signs = sign_columns(about)
        is_first = not self._has_searched
        self._has_searched = True

        if signs is None:
            if size > self.budget and about.dtype != "int1":
                self._vectors.forget()
                return Loaded(None, None)
            return Loaded(self._vectors.update(snapshot, vector_columns, size > self.budget), None)

        if len(snapshot.listing.ids) < SIGNS_FROM and size <= self.budget:
            self._signs.forget()
            return Loaded(self._vectors.update(snapshot, vector_columns), None)

        sign_size = rows * bytes_per_row(about.dimension, "int1")
        held_signs = self._signs.update(snapshot, signs, sign_size > self.budget)
        # A process that searches once reads a few candidates sooner than all pages.
        if sign_size + size > self.budget or is_first:
            self._vectors.forget()
            return Loaded(None, held_signs)
        return Loaded(self._vectors.update(snapshot, vector_columns), held_signs)


class LoadedRows:
    """Some columns of rows of a table, in memory or mapped."""

    def __init__(self, folder: Path | None) -> None:
        """Hold nothing yet; `folder` is where files to map are made."""
        self._folder = folder
        self._snapshot: Snapshot | None = None  # whose rows are held; None while they change
        self._held: VectorsInMemory | None = None
        self._kind: tuple[str, bool] = (
            "",
            False,
        )  # which store they are of, and whether they are mapped
        self._written: dict[str, int] = {}  # id -> the write that its rows are of

    def update(
        self, snapshot: Snapshot, columns: RowColumns, is_mapped: bool = False
    ) -> VectorsInMemory:
        """The rows of a version."""
        kind = snapshot.about.made, is_mapped
        if kind != self._kind:
            self.forget()
            self._kind = kind
        if self._held is None:
            allocate = partial(mapped_rows, folder=self._folder) if is_mapped else empty_rows
            rows = int(snapshot.listing.rows.sum())
            self._held = VectorsInMemory(columns.d, columns.dtype, rows, allocate)
        if snapshot is not self._snapshot:
            self._snapshot = (
                None  # a failure from here on leaves a mixture, which the next call finishes
            )
            self._bring_up_to_date(snapshot, columns, self._held)
            self._snapshot = snapshot
        return self._held

    def _bring_up_to_date(
        self, snapshot: Snapshot, columns: RowColumns, held: VectorsInMemory
    ) -> None:
        """Drop the pages that are not in the version, and read those that are new or replaced.

        A page is new if it is of another write, not if that write is later: of two writers of a bucket, the one that
        took its time first may commit last.
        """
        listing = snapshot.listing
        written = dict(zip(listing.ids, listing.written, strict=True))
        for id in held.ids - set(written):
            held.drop(id)
            self._written.pop(id, None)

        new_writes = {write for id, write in written.items() if self._written.get(id) != write}
        if not new_writes:
            return
        passing = filter_of_writes(new_writes) if self._written else ""
        for pages in snapshot.vectors(columns, passing):
            self._put_new(pages, written, held)

    def _put_new(self, pages: PageVectors, written: dict[str, int], held: VectorsInMemory) -> None:
        """Hold those of some pages that are new or replaced."""
        new = [i for i, id in enumerate(pages.ids) if self._written.get(id) != written[id]]
        are_all_new = len(new) == len(set(pages.ids))  # a bucket may hold a page twice
        if are_all_new:
            held.put_all(pages)
        else:
            for i in new:
                begin, end = int(pages.begins[i]), int(pages.ends[i])
                held.put(pages.ids[i], pages.rows[begin:end])
        for i in new:
            id = pages.ids[i]
            self._written[id] = written[id]

    def forget(self) -> None:
        """Hold nothing."""
        self._snapshot = None
        self._held = None
        self._written = {}


def filter_of_writes(writes: set[int]) -> str:
    """The filter that passes the pages of some writes; "" for all pages, where there are many writes."""
    if len(writes) > MOST_WRITES:
        return ""
    return f"written IN ({', '.join(map(str, sorted(writes)))})"
