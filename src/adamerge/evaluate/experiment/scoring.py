"""queries x compressed pages -> MaxSim of every pair."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from adamerge import kernels
from adamerge.arrays import Floats
from adamerge.types import Compressed, MultiVector

Longs = NDArray[np.int64]
CHUNK = 64  # pages scored at a time, so that memory does not grow with them


@dataclass(frozen=True, eq=False)
class StackedQueries:
    """The vectors of all queries one after the other (rows, d), and where each begins: (queries + 1,)."""

    vectors: Floats
    offsets: Longs

    def __len__(self) -> int:
        """Queries."""
        return len(self.offsets) - 1


def stack_queries(queries: Iterable[MultiVector]) -> StackedQueries:
    """Queries that were encoded one by one, as one array."""
    vectors = [query.vectors for query in queries]
    return StackedQueries(np.concatenate(vectors), _offsets(vectors))


def score_pages(queries: StackedQueries, pages: Iterable[Compressed], threads: int = 1) -> Floats:
    r"""The score of every query on every page: (queries, pages).

    s(Q, P) = sum_{x in Q} max_{y in P} <x, y>
    """
    scores = []
    for chunk in _chunks(pages):
        vectors = [page.stored for page in chunk]
        rows = np.concatenate(vectors)
        offsets = _offsets(vectors)
        begins, ends = offsets[:-1], offsets[1:]
        some = kernels.maxsim(queries.vectors, queries.offsets, rows, None, begins, ends, threads)
        scores.append(some)
    return np.concatenate(scores, axis=1)


def _offsets(vectors: Sequence[Floats]) -> Longs:
    lengths = [len(rows) for rows in vectors]
    return np.cumsum([0, *lengths], dtype=np.int64)


def _chunks(pages: Iterable[Compressed]) -> Iterator[list[Compressed]]:
    source = iter(pages)
    while chunk := list(islice(source, CHUNK)):
        yield chunk
