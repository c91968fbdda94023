"""queries x compressed pages -> MaxSim of every pair."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from adamerge.arrays import Floats
from adamerge.types import Compressed, MultiVector

Longs = NDArray[np.int64]
CHUNK = 64  # pages scored at a time, so that memory does not grow with them


@dataclass(frozen=True, eq=False)
class Queries:
    """The vectors of all queries one after the other (rows, d), and where each begins: (queries + 1,)."""

    vectors: Floats
    offsets: Longs

    def __len__(self) -> int:
        """Queries."""
        return len(self.offsets) - 1


def stack(queries: Iterable[MultiVector]) -> Queries:
    """Queries that were encoded one by one, as one array."""
    vectors = [query.vectors for query in queries]
    return Queries(np.concatenate(vectors), _offsets(vectors))


def score(queries: Queries, pages: Iterable[Compressed], threads: int = 1) -> Floats:
    r"""The score of every query on every page: (queries, pages).

    s(Q, P) = sum_{x in Q} max_{y in P} <x, y>
    """
    parts = []
    for chunk in _chunks(pages):
        vectors = [page.stored for page in chunk]
        offsets = _offsets(vectors)
        rows = np.concatenate(vectors)
        parts.append(maxsim(queries.vectors, queries.offsets, rows, None, offsets[:-1], offsets[1:], threads))
    return np.concatenate(parts, axis=1)


def maxsim(
    query: Floats,
    query_offsets: Longs,
    vectors: NDArray[np.generic],
    scales: Floats | None,
    begins: Longs,
    ends: Longs,
    threads: int,
) -> Floats:
    """MaxSim of every query with every page, in NumPy: what adamerge.kernels.maxsim will do.

    query          (q_total, d)   offsets of its queries: (queries + 1,)
    vectors        (rows, d)      scales of the rows, where they are whole numbers: (rows,)
    begins, ends   (pages,)       rows of each page
    returns        (queries, pages)
    """
    rows = vectors.astype(np.float32, copy=False)
    if scales is not None:
        rows = rows * scales[:, None]
    best = np.stack([(rows[i:j] @ query.T).max(axis=0) for i, j in zip(begins, ends, strict=True)], axis=1)
    sums: Floats = np.add.reduceat(best, query_offsets[:-1], axis=0)
    return sums


def _offsets(vectors: Sequence[Floats]) -> Longs:
    return np.cumsum([0, *map(len, vectors)], dtype=np.int64)


def _chunks(pages: Iterable[Compressed]) -> Iterator[list[Compressed]]:
    source = iter(pages)
    while chunk := list(islice(source, CHUNK)):
        yield chunk
