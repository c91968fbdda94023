"""The score of pages that are kept as codes, read where they are: no page is decoded in memory."""

from collections.abc import Sequence

import numpy as np

from adamerge import arrays, kernels
from adamerge.arrays import ArrayLike, Floats, Longs, row_offsets
from adamerge.codes.code import Codes
from adamerge.codes.levels import LEVELS
from adamerge.codes.rotation import rotate
from adamerge.errors import BadInput, BadShape
from adamerge.threads import cores

# Values of a query are rounded to integers of at most this size. Its error is far below that of the pages, and
# 15 and 7 are the most that fit the tables by which the kernel reads 2 bits and 1.
QUERY_STEPS = {4: 127, 2: 15, 1: 7}


def maxsim(
    queries: Sequence[ArrayLike],
    pages: Codes,
    begins: Longs,
    ends: Longs,
    threads: int | None = None,
) -> Floats:
    """Scores (queries, pages): sum over a query's vectors of the largest inner product with a row of the page.

    Page p has the rows begins[p] .. ends[p] of codes of 4, 2 or 1 bits. Each query (q, d) is rotated as the pages
    were, and each of its vectors rounded to integers with a scale. A page without rows scores -inf. Scores are the
    same to the bit on every machine, whatever the threads (default: all cores).
    """
    flat, offsets = _stacked(queries, pages.d)
    return maxsim_stacked(flat, offsets, pages, begins, ends, threads)


def maxsim_stacked(
    vectors: Floats,
    offsets: Longs,
    pages: Codes,
    begins: Longs,
    ends: Longs,
    threads: int | None = None,
) -> Floats:
    """The same of queries that stand in one array (rows, d): query i has the rows offsets[i] .. offsets[i + 1]."""
    if pages.bits not in QUERY_STEPS:
        raise BadInput(
            f"scores are of codes of 4, 2 or 1 bits, got {pages.bits}: decode them first"
        )
    levels = LEVELS[pages.bits].values.astype(np.int8)
    return kernels.maxsim_planes(
        rotate(vectors),
        offsets,
        list(pages.planes),
        levels,
        pages.scales,
        begins,
        ends,
        QUERY_STEPS[pages.bits],
        threads or cores(),
    )


def _stacked(queries: Sequence[ArrayLike], d: int) -> tuple[Floats, Longs]:
    """The vectors of all queries (q, d), and where each query begins (queries + 1,)."""
    checked = [np.zeros((0, d), np.float32)]
    for query in queries:
        vectors = arrays.floats(query, "query", rank=2)
        if vectors.shape[1] != d:
            raise BadShape(f"a query is (q, {d}), as the pages are; got {vectors.shape}")
        checked.append(vectors)
    return np.concatenate(checked), row_offsets(checked[1:])
