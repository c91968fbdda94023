"""Queries x compressed pages -> MaxSim of every pair, as experiments need it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from adamerge import kernels
from adamerge.arrays import Floats, Longs, row_offsets
from adamerge.types import Compressed, MultiVector

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
    return StackedQueries(np.concatenate(vectors), row_offsets(vectors))


def score_pages(queries: StackedQueries, pages: Iterable[Compressed], threads: int = 1) -> Floats:
    r"""The score of every query on every page: (queries, pages).

    s(Q, P) = sum_{x in Q} max_{y in P} <x, y>        the extra rows of a page count, as in a store
    """
    scores = []
    for chunk in _chunks(pages):
        vectors = [page.stored for page in chunk]
        rows = np.concatenate(vectors)
        offsets = row_offsets(vectors)
        begins, ends = offsets[:-1], offsets[1:]
        some = kernels.maxsim(queries.vectors, queries.offsets, rows, None, begins, ends, threads)
        scores.append(some)
    return np.concatenate(scores, axis=1)


def _chunks(pages: Iterable[Compressed]) -> Iterator[list[Compressed]]:
    source = iter(pages)
    while chunk := list(islice(source, CHUNK)):
        yield chunk
