"""Exact search in memory: the vectors of all pages one after the other, and where each page begins."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from adamerge.arrays import ArrayLike, Floats
from adamerge.codes import StoredRows, empty_rows
from adamerge.search.maxsim import PageVectors, maxsim_all
from adamerge.search.ranking import Ranking, best

GROWTH = 1.25  # of what is full: little unused memory, few copies
# (dtype, d, rows) -> room for vectors: `empty_rows`, or a file that is mapped.
Allocate = Callable[[str, int, int], StoredRows]


class VectorsInMemory:
    """The vectors of pages by id, in the dtype in which they are stored.

    New pages go to the end. A page that is replaced or dropped leaves a hole, until holes take up half of the memory.
    """

    def __init__(self, d: int, dtype: str, rows: int = 0, allocate: Allocate = empty_rows) -> None:
        """Hold pages of d dimensions in a dtype; room for `rows` vectors is reserved at once."""
        self._allocate = allocate
        self._rows = allocate(dtype, d, rows)
        self._places: dict[str, tuple[int, int]] = {}  # id -> first row, and the row after the last
        self._used = 0  # rows up to the end of the last page, with the holes
        self._live = 0  # rows without the holes
        self._all: PageVectors | None = None  # all pages; None where they have changed

    def __len__(self) -> int:
        """The number of pages."""
        return len(self._places)

    @property
    def ids(self) -> set[str]:
        """The ids of the pages."""
        return set(self._places)

    def put(self, id: str, rows: StoredRows) -> None:
        """Take the rows of a page, in place of those that it had."""
        self.drop(id)
        self._reserve(len(rows))
        begin = self._used
        end = begin + len(rows)
        _copy(rows, self._rows[begin:end])
        self._places[id] = begin, end
        self._used = end
        self._live += len(rows)
        self._all = None

    def put_all(self, pages: PageVectors) -> None:
        """Take the rows of many pages that stand one after the other, each in place of those that it had."""
        for id in pages.ids:
            if id in self._places:
                self.drop(id)
        self._all = None
        self._reserve(len(pages.rows))
        shift = self._used
        end = shift + len(pages.rows)
        _copy(pages.rows, self._rows[shift:end])
        begins = (pages.begins + shift).tolist()
        ends = (pages.ends + shift).tolist()
        self._places.update(zip(pages.ids, zip(begins, ends, strict=True), strict=True))
        self._used = end
        self._live += len(pages.rows)

    def drop(self, id: str) -> None:
        """Forget a page; a page that is not here is no error."""
        begin, end = self._places.pop(id, (0, 0))
        self._live -= end - begin
        self._all = None

    def rank(
        self, queries: Sequence[ArrayLike], k: int, only: Sequence[str] | None = None
    ) -> list[Ranking]:
        """The k best of all pages, or of those in `only`, for each query."""
        ids, scores = self.scores(queries, only)
        return [Ranking(best(ids, row, k), "exact", len(ids), len(ids)) for row in scores]

    def scores(
        self, queries: Sequence[ArrayLike], only: Sequence[str] | None = None
    ) -> tuple[list[str], Floats]:
        """The ids of all pages, or of those in `only` that are here, and their scores (queries, pages)."""
        pages = self.pages(only)
        return pages.ids, maxsim_all(queries, pages.rows, pages.begins, pages.ends)

    def pages(self, only: Sequence[str] | None = None) -> PageVectors:
        """All pages, or those in `only` that are here; not copied, so they are right until the next change."""
        if only is not None:
            ids = [id for id in only if id in self._places]
            return self._page_vectors(ids, [self._places[id] for id in ids])
        if self._all is None:
            self._all = self._page_vectors(list(self._places), list(self._places.values()))
        return self._all

    def _page_vectors(self, ids: list[str], places: list[tuple[int, int]]) -> PageVectors:
        begins, ends = _bounds(places)
        return PageVectors(ids, self._rows, begins, ends)

    def _reserve(self, rows: int) -> None:
        """Make room for more rows: close the holes if they are half of the memory, else take more."""
        if self._used + rows <= len(self._rows):
            return
        if self._used > 2 * (self._live + rows):
            self._close_holes()
            return
        size = max(int(GROWTH * len(self._rows)), self._used + rows)
        larger = self._allocate(self._rows.dtype, self._rows.d, size)
        _copy(self._rows[: self._used], larger[: self._used])
        self._rows = larger

    def _close_holes(self) -> None:
        """Move every page to the end of the page before it."""
        self._used = 0
        for id, (begin, end) in sorted(self._places.items(), key=lambda place: place[1]):
            new_begin = self._used
            new_end = new_begin + end - begin
            _copy(self._rows[begin:end], self._rows[new_begin:new_end])
            self._places[id] = new_begin, new_end
            self._used = new_end


def _copy(rows: StoredRows, target: StoredRows) -> None:
    """Set the numbers of as many rows; the two may overlap."""
    for part, place in zip(rows.parts, target.parts, strict=True):
        place[:] = part
    if rows.scales is not None and target.scales is not None:
        target.scales[:] = rows.scales


def _bounds(places: list[tuple[int, int]]) -> NDArray[np.int64]:
    """Begins and ends: (2, pages)."""
    pairs = np.array(places, np.int64).reshape(-1, 2)
    return np.ascontiguousarray(pairs.T)
