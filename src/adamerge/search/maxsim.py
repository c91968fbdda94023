"""Late interaction: every query vector takes its best match on a page, and a page's score is the sum of those."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adamerge import arrays, kernels
from adamerge.arrays import ArrayLike, Floats
from adamerge.errors import BadInput, BadShape
from adamerge.threads import cores

Places = NDArray[np.int64]


def maxsim(
    query: ArrayLike,
    vectors: NDArray[Any],
    begins: Places,
    ends: Places,
    scales: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """Scores (pages,) of one query (q, d): sum over its vectors of the largest inner product with a row of the page.

    Page p has the rows begins[p] .. ends[p] of vectors (rows, d) in float32, float16, or int8 with a scale per row.
    Without padding, so that a best match may be negative. A page without rows scores -inf.
    """
    scores: Floats = maxsim_all([query], vectors, begins, ends, scales, threads)[0]
    return scores


def maxsim_all(
    queries: Sequence[ArrayLike],
    vectors: NDArray[Any],
    begins: Places,
    ends: Places,
    scales: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """Scores (queries, pages) of many queries at once, which reads every page once; otherwise as `maxsim`."""
    checks = [checked(query, vectors.shape[1]) for query in queries]
    bounds = np.cumsum([0, *map(len, checks)], dtype=np.int64)
    flat = np.concatenate(checks) if checks else np.zeros((0, vectors.shape[1]), np.float32)
    scores: Floats = kernels.maxsim(flat, bounds, vectors, scales, begins, ends, threads or cores())
    return scores


def best(ids: Sequence[str], scores: Floats, k: int) -> list[tuple[str, float]]:
    """The k pages with the largest scores, best first, ties by id; only those that can be among them are sorted."""
    if k < 1:
        raise BadInput(f"k must be at least 1, got {k}")
    least = np.partition(scores, -k)[-k] if k < len(scores) else -np.inf
    chosen = np.flatnonzero(scores >= least)  # with every tie of the last one
    ranked = sorted((-float(scores[i]), ids[i]) for i in chosen.tolist())
    return [(id, -score) for score, id in ranked[:k]]


def checked(query: ArrayLike, d: int) -> Floats:
    """A query's vectors (q, d), refused unless they are finite, at least one, and as wide as the pages."""
    vectors: Floats = arrays.floats(query, "query", rank=2)
    if not len(vectors) or vectors.shape[1] != d:
        raise BadShape(
            f"a query is (q, {d}) with q >= 1, as its encoder gives it; got {vectors.shape}"
        )
    return vectors
