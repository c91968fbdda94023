"""Queries x compressed pages -> MaxSim of every pair, as experiments need it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from adamerge.arrays import Floats, Longs, row_offsets
from adamerge.codes import StoredRows, concatenate
from adamerge.search.maxsim import maxsim_stacked
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

    Pages of int8 or codes are scored as a store of that dtype scores them; all pages are of one dtype.
    """
    scores = []
    for chunk in _chunks(pages):
        rows = [_rows_to_score(page) for page in chunk]
        offsets = row_offsets(rows)
        begins, ends = offsets[:-1], offsets[1:]
        pages_rows = concatenate(rows)
        some = maxsim_stacked(queries.vectors, queries.offsets, pages_rows, begins, ends, threads)
        scores.append(some)
    return np.concatenate(scores, axis=1)


def _rows_to_score(page: Compressed) -> StoredRows:
    """The rows of a page in its dtype; those of floats are not rounded to float16."""
    if page.rows is not None:
        return page.rows
    return page.rows_in("float32")


def _chunks(pages: Iterable[Compressed]) -> Iterator[list[Compressed]]:
    source = iter(pages)
    while chunk := list(islice(source, CHUNK)):
        yield chunk
