"""The score of a page by late interaction: every query vector takes its best match, and the score is their sum."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adamerge import arrays, codes, kernels
from adamerge.arrays import ArrayLike, Floats, Longs, row_offsets
from adamerge.codes import StoredRows
from adamerge.errors import BadShape
from adamerge.threads import cores

Places = NDArray[np.int64]


class PageVectors(NamedTuple):
    """The vectors of several pages, one after the other.

    begins, ends  (pages,)  page p has the rows begins[p] .. ends[p]
    """

    ids: list[str]
    rows: StoredRows
    begins: Places
    ends: Places


def maxsim(query: ArrayLike, rows: StoredRows, begins: Places, ends: Places) -> Floats:
    """Scores (pages,) of one query (q, d): sum over its vectors of the largest inner product with a row of the page.

    Page p has the rows begins[p] .. ends[p], in any dtype. Nothing is padded, so a best match may be negative. A page
    without rows scores -inf.
    """
    scores: Floats = maxsim_all([query], rows, begins, ends)[0]
    return scores


def maxsim_all(
    queries: Sequence[ArrayLike], rows: StoredRows, begins: Places, ends: Places
) -> Floats:
    """Scores (queries, pages) of many queries; each page is read only once. Otherwise as `maxsim`."""
    checked = [check_query(query, rows.d) for query in queries]
    bounds = row_offsets(checked)
    flat = np.concatenate([np.zeros((0, rows.d), np.float32), *checked])
    return maxsim_stacked(flat, bounds, rows, begins, ends, cores())


def maxsim_stacked(
    vectors: Floats,
    offsets: Longs,
    rows: StoredRows,
    begins: Places,
    ends: Places,
    threads: int,
) -> Floats:
    """The same of queries that stand in one array (rows, d): query i has the rows offsets[i] .. offsets[i + 1]."""
    pages = rows.codes
    if pages is not None:
        return codes.maxsim_stacked(vectors, offsets, pages, begins, ends, threads)
    values = rows.parts[0]
    scores: Floats = kernels.maxsim(vectors, offsets, values, rows.scales, begins, ends, threads)
    return scores


def maxsim_of_batches(query: ArrayLike, batches: Iterable[PageVectors]) -> tuple[list[str], Floats]:
    """The ids and scores of pages that are read a batch at a time."""
    ids: list[str] = []
    scores: list[Floats] = [np.zeros(0, np.float32)]
    for batch in batches:
        ids += batch.ids
        scores.append(maxsim(query, batch.rows, batch.begins, batch.ends))
    return ids, np.concatenate(scores)


def check_query(query: ArrayLike, d: int) -> Floats:
    """The vectors (q, d) of a query; refused unless q >= 1, all are finite, and d is that of the pages."""
    vectors: Floats = arrays.floats(query, "query", rank=2)
    if not len(vectors) or vectors.shape[1] != d:
        raise BadShape(
            f"a query is (q, {d}) with q >= 1, as its encoder gives it; got {vectors.shape}"
        )
    return vectors
