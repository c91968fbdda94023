"""The first stage of a search in codes: the sign planes of all pages propose candidates.

A sign plane with its scales is a code of 1 bit, and MaxSim of it costs a fraction of MaxSim of the whole code. A score
is a sum over the vectors of the query. So every other vector is scored on all pages first, and the rest only on
the best eighth of them.
"""

import numpy as np

from adamerge.arrays import Floats, Longs
from adamerge.search.maxsim import PageVectors, maxsim

FEWEST_VECTORS = (
    8  # of a query that is scored in two halves: half of a shorter one tells too little
)
SHARE_KEPT = 8  # an eighth of the pages is scored by the other half of the query: docs/search.md says what that keeps


def nearest_by_signs(query: Floats, signs: PageVectors, n: int) -> list[str]:
    """The ids of the n pages with the largest scores by their 1-bit codes, the best one first."""
    chosen, scores = _scores(query, signs, n)
    order = np.argsort(-scores, kind="stable")[:n]
    return [signs.ids[i] for i in chosen[order].tolist()]


def _scores(query: Floats, signs: PageVectors, n: int) -> tuple[Longs, Floats]:
    """The places of at least n pages among which the best are, and their scores."""
    pages = len(signs.ids)
    kept = max(n, pages // SHARE_KEPT)
    if len(query) < FEWEST_VECTORS or kept >= pages:
        scores = maxsim(query, signs.rows, signs.begins, signs.ends)
        chosen = _largest(scores, n)
        return chosen, scores[chosen]

    half = maxsim(query[::2], signs.rows, signs.begins, signs.ends)
    chosen = _largest(half, kept)
    other = maxsim(query[1::2], signs.rows, signs.begins[chosen], signs.ends[chosen])
    scores = half[chosen] + other
    best = _largest(scores, n)
    return chosen[best], scores[best]


def _largest(scores: Floats, n: int) -> Longs:
    """The places of the n largest scores, in their own order."""
    if n >= len(scores):
        return np.arange(len(scores))
    places = np.argpartition(scores, len(scores) - n)[len(scores) - n :]
    places.sort()
    return places
