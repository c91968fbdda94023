"""Scores of uncompressed and of compressed pages, (queries, pages) each -> what compression changed, (queries,)."""

import numpy as np

from adamerge.arrays import Bools, Doubles, Floats, Longs


def agreement(before: Floats, after: Floats, top: int) -> Doubles:
    """Share of the best `top` pages of each query that are among the best `top` after compression as well.

    Of pages with equal scores the first ones count.
    """
    is_best_before = _is_among_best(before, top)
    is_best_after = _is_among_best(after, top)
    kept = (is_best_before & is_best_after).sum(axis=1)
    return np.asarray(kept / top, np.float64)


def correlation(before: Floats, after: Floats) -> Doubles:
    """Spearman's rank correlation over all pages for each query; equal scores share their rank.

    A query that gives every page the same score, before or after, has none: nan.
    """
    x = _ranks(before)
    y = _ranks(after)
    x -= x.mean(axis=1, keepdims=True)
    y -= y.mean(axis=1, keepdims=True)
    lengths = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray((x * y).sum(axis=1) / lengths, np.float64)


def reciprocal_rank(scores: Floats, pages: Longs) -> Doubles:
    """1 / rank of the page that each query looks for; of pages with equal scores the first ones rank higher."""
    wanted = scores[np.arange(len(scores)), pages][:, None]
    is_better = scores > wanted
    is_equal_and_first = (scores == wanted) & (np.arange(scores.shape[1]) < pages[:, None])
    ranks = 1 + (is_better | is_equal_and_first).sum(axis=1)
    return np.asarray(1 / ranks, np.float64)


def _is_among_best(scores: Floats, top: int) -> Bools:
    best = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    among = np.zeros(scores.shape, bool)
    np.put_along_axis(among, best, True, axis=1)
    return among


def _ranks(scores: Floats) -> Doubles:
    """Ranks from 0 on, lowest score first; equal scores have the mean of their ranks: (queries, pages)."""
    order = np.argsort(scores, axis=1, kind="stable")
    ranks = np.empty(scores.shape)
    places = np.broadcast_to(np.arange(scores.shape[1], dtype=float), scores.shape)
    np.put_along_axis(ranks, order, places, axis=1)

    sorted_scores = np.take_along_axis(scores, order, axis=1)
    has_equal = (sorted_scores[:, 1:] == sorted_scores[:, :-1]).any(axis=1)
    for query in np.flatnonzero(has_equal):
        _, group, count = np.unique(scores[query], return_inverse=True, return_counts=True)
        mean_rank = np.bincount(group, ranks[query]) / count
        ranks[query] = mean_rank[group]
    return ranks
