"""Pages held in memory for exact search: one matrix that grows at its end, and where each page lies in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adamerge.arrays import ArrayLike, Floats
from adamerge.search.maxsim import maxsim_all

GROWTH = 1.25  # of the matrix when it is full: little memory without use, few copies


class Memory:
    """Vectors of pages by id, in the dtype they are stored in; a page that is replaced or dropped leaves a hole."""

    def __init__(self, d: int, dtype: str, rows: int = 0) -> None:
        """Hold pages of d dimensions in float16, float32 or int8, with room for some rows at once."""
        self._vectors: NDArray[Any] = np.empty((rows, d), dtype)
        self._scales: NDArray[Any] | None = np.empty(rows, np.float32) if dtype == "int8" else None
        self._places: dict[str, tuple[int, int]] = {}
        self._used = self._live = 0
        self._listed: tuple[list[str], NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        """Pages held."""
        return len(self._places)

    @property
    def ids(self) -> set[str]:
        """The pages that are held."""
        return set(self._places)

    def put(self, id: str, vectors: NDArray[Any], scales: Floats | None = None) -> None:
        """Take the rows (m, d) of a page, in place of those it had."""
        self.drop(id)
        self._reserve(len(vectors))
        begin, self._used = self._used, self._used + len(vectors)
        self._vectors[begin : self._used] = vectors
        if self._scales is not None:
            self._scales[begin : self._used] = scales
        self._places[id] = begin, self._used
        self._live += len(vectors)
        self._listed = None

    def drop(self, id: str) -> None:
        """Forget a page; one that is not there is no error."""
        begin, end = self._places.pop(id, (0, 0))
        self._live -= end - begin
        self._listed = None

    def scores(
        self, queries: Sequence[ArrayLike], only: Sequence[str] | None = None
    ) -> tuple[list[str], Floats]:
        """Ids of all pages, or of those of `only` that are held, and their scores (queries, pages)."""
        if only is not None:
            ids = [id for id in only if id in self._places]
            bounds = _bounds([self._places[id] for id in ids])
        else:
            self._listed = self._listed or (
                list(self._places),
                _bounds(list(self._places.values())),
            )
            ids, bounds = self._listed
        return ids, maxsim_all(queries, self._vectors, bounds[0], bounds[1], self._scales)

    def _reserve(self, rows: int) -> None:
        """Make room for more rows: close holes if they are half of the matrix, else let it grow."""
        if self._used + rows <= len(self._vectors):
            return
        if self._used > 2 * (self._live + rows):
            self._close_holes()
            return
        size = max(int(GROWTH * len(self._vectors)), self._used + rows)
        self._vectors = _grown(self._vectors, size)
        self._scales = None if self._scales is None else _grown(self._scales, size)

    def _close_holes(self) -> None:
        self._used = 0
        for id, (begin, end) in sorted(self._places.items(), key=lambda place: place[1]):
            to = self._used + end - begin
            for array in (self._vectors, self._scales):
                if array is not None:
                    array[self._used : to] = array[begin:end]
            self._places[id] = self._used, to
            self._used = to


def _bounds(places: list[tuple[int, int]]) -> NDArray[np.int64]:
    """Begins and ends: (2, pages)."""
    return np.ascontiguousarray(np.array(places, np.int64).reshape(-1, 2).T)


def _grown(array: NDArray[Any], rows: int) -> NDArray[Any]:
    out = np.empty((rows, *array.shape[1:]), array.dtype)
    out[: len(array)] = array
    return out
