"""The score of a page by late interaction: every query vector takes its best match, and the score is their sum."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adamerge import arrays, kernels
from adamerge.arrays import ArrayLike, Floats, row_offsets
from adamerge.errors import BadShape
from adamerge.threads import cores

Places = NDArray[np.int64]


class PageVectors(NamedTuple):
    """The vectors of several pages in one matrix.

    vectors       (rows, d) in float32, float16 or int8
    begins, ends  (pages,)  page p has the rows begins[p] .. ends[p]
    scales        (rows,)   a factor per row, of int8 only
    """

    ids: list[str]
    vectors: NDArray[Any]
    begins: Places
    ends: Places
    scales: Floats | None


def maxsim(
    query: ArrayLike,
    vectors: NDArray[Any],
    begins: Places,
    ends: Places,
    scales: Floats | None = None,
) -> Floats:
    """Scores (pages,) of one query (q, d): sum over its vectors of the largest inner product with a row of the page.

    Page p has the rows begins[p] .. ends[p] of vectors (rows, d) in float32, float16, or int8 with a scale per row.
    Nothing is padded, so a best match may be negative. A page without rows scores -inf.
    """
    scores: Floats = maxsim_all([query], vectors, begins, ends, scales)[0]
    return scores


def maxsim_all(
    queries: Sequence[ArrayLike],
    vectors: NDArray[Any],
    begins: Places,
    ends: Places,
    scales: Floats | None = None,
) -> Floats:
    """Scores (queries, pages) of many queries; each page is read only once. Otherwise as `maxsim`."""
    d = vectors.shape[1]
    checked = [check_query(query, d) for query in queries]
    bounds = row_offsets(checked)
    flat = np.concatenate([np.zeros((0, d), np.float32), *checked])
    scores: Floats = kernels.maxsim(flat, bounds, vectors, scales, begins, ends, cores())
    return scores


def maxsim_of_batches(query: ArrayLike, batches: Iterable[PageVectors]) -> tuple[list[str], Floats]:
    """The ids and scores of pages that are read a batch at a time."""
    ids: list[str] = []
    scores: list[Floats] = [np.zeros(0, np.float32)]
    for batch in batches:
        ids += batch.ids
        scores.append(maxsim(query, batch.vectors, batch.begins, batch.ends, batch.scales))
    return ids, np.concatenate(scores)


def check_query(query: ArrayLike, d: int) -> Floats:
    """The vectors (q, d) of a query; refused unless q >= 1, all are finite, and d is that of the pages."""
    vectors: Floats = arrays.floats(query, "query", rank=2)
    if not len(vectors) or vectors.shape[1] != d:
        raise BadShape(
            f"a query is (q, {d}) with q >= 1, as its encoder gives it; got {vectors.shape}"
        )
    return vectors
