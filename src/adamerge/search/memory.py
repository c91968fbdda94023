"""Exact search in memory: one matrix of the vectors of all pages, and where each page is in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adamerge.arrays import ArrayLike, Floats
from adamerge.search.maxsim import maxsim_all
from adamerge.search.ranking import Ranking, best

GROWTH = 1.25  # of a full matrix: little unused memory, few copies


class VectorsInMemory:
    """The vectors of pages by id, in the dtype in which they are stored.

    New pages go to the end of the matrix. A page that is replaced or dropped leaves a hole, until holes take up half
    of the matrix.
    """

    def __init__(self, d: int, dtype: str, rows: int = 0) -> None:
        """Hold pages of d dimensions in float16, float32 or int8; `rows` of the matrix are reserved at once."""
        self._vectors: NDArray[Any] = np.empty((rows, d), dtype)
        self._scales: NDArray[Any] | None = None
        if dtype == "int8":
            self._scales = np.empty(rows, np.float32)
        self._places: dict[str, tuple[int, int]] = {}  # id -> first row, and the row after the last
        self._used = 0  # rows up to the end of the last page, with the holes
        self._live = 0  # rows without the holes
        self._all: tuple[list[str], NDArray[np.int64]] | None = None  # ids and bounds of all pages

    def __len__(self) -> int:
        """The number of pages."""
        return len(self._places)

    @property
    def ids(self) -> set[str]:
        """The ids of the pages."""
        return set(self._places)

    def put(self, id: str, vectors: NDArray[Any], scales: Floats | None = None) -> None:
        """Take the rows (m, d) of a page, in place of those that it had."""
        self.drop(id)
        self._reserve(len(vectors))
        begin = self._used
        end = begin + len(vectors)
        self._vectors[begin:end] = vectors
        if self._scales is not None:
            self._scales[begin:end] = scales
        self._places[id] = begin, end
        self._used = end
        self._live += len(vectors)
        self._all = None

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
        if only is None:
            ids, bounds = self._all_pages()
        else:
            ids = [id for id in only if id in self._places]
            bounds = _bounds([self._places[id] for id in ids])
        return ids, maxsim_all(queries, self._vectors, bounds[0], bounds[1], self._scales)

    def _all_pages(self) -> tuple[list[str], NDArray[np.int64]]:
        """Ids and bounds of all pages; made once for many searches."""
        if self._all is None:
            self._all = list(self._places), _bounds(list(self._places.values()))
        return self._all

    def _reserve(self, rows: int) -> None:
        """Make room for more rows: close the holes if they are half of the matrix, else let the matrix grow."""
        if self._used + rows <= len(self._vectors):
            return
        if self._used > 2 * (self._live + rows):
            self._close_holes()
            return
        size = max(int(GROWTH * len(self._vectors)), self._used + rows)
        self._vectors = _grown(self._vectors, size)
        if self._scales is not None:
            self._scales = _grown(self._scales, size)

    def _close_holes(self) -> None:
        """Move every page to the end of the page before it."""
        self._used = 0
        for id, (begin, end) in sorted(self._places.items(), key=lambda place: place[1]):
            new_begin = self._used
            new_end = new_begin + end - begin
            self._vectors[new_begin:new_end] = self._vectors[begin:end]
            if self._scales is not None:
                self._scales[new_begin:new_end] = self._scales[begin:end]
            self._places[id] = new_begin, new_end
            self._used = new_end


def _bounds(places: list[tuple[int, int]]) -> NDArray[np.int64]:
    """Begins and ends: (2, pages)."""
    pairs = np.array(places, np.int64).reshape(-1, 2)
    return np.ascontiguousarray(pairs.T)


def _grown(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """The same rows in a larger array."""
    larger = np.empty((rows, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
