"""Two stages: something cheap proposes pages, exact MaxSim decides, until more candidates change nothing."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from adamerge.arrays import Floats
from adamerge.search.maxsim import best

START = 64  # candidates at the least: below that, fetching pages costs less than asking again
LIMIT = 4096  # candidates at the most

Propose = Callable[[int], list[str]]  # n -> the n best ids of the first stage, or all there are
Score = Callable[
    [list[str]], tuple[list[str], Floats]
]  # ids -> (those that are there, their MaxSim)


def rank_until_stable(
    k: int, pages: int, propose: Propose, score: Score, start: int = START, limit: int = LIMIT
) -> tuple[list[tuple[str, float]], str, int]:
    """The best k of some pages, how they were found (see Found), and how many were compared.

    The number of candidates doubles until the k best stay the same, all pages are candidates, or it is `limit`. That
    is never exceeded, unless k is larger.
    """
    ids: list[str] = []
    scores: NDArray[np.float32] = np.zeros(0, np.float32)
    seen: set[str] = set()
    before: list[tuple[str, float]] = []
    most = min(max(limit, k), max(pages, 1))
    n = min(max(start, 4 * k), most)
    while True:
        proposed = propose(n)
        new_ids, new_scores = score([id for id in proposed if id not in seen])
        seen.update(proposed)
        ids, scores = ids + new_ids, np.concatenate([scores, new_scores])
        now = best(ids, scores, k)
        if len(ids) >= pages:
            return now, "exact", len(ids)
        if now == before:
            return now, "settled", len(ids)
        if n >= most:
            return now, "limit", len(ids)
        before, n = now, min(2 * n, most)
