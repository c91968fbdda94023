"""Search in two stages, for many pages.

The first stage is cheap: the sign planes of codes, or an index of one mean vector a page, propose candidates. The
second stage is exact: MaxSim of what is stored ranks the candidates. Nobody knows beforehand how many candidates are
enough. So their number doubles until more of them do not change the k best pages.
"""

from collections.abc import Callable

import numpy as np

from adamerge.arrays import Floats
from adamerge.search.ranking import Ranking, best

FIRST_CANDIDATES = 64  # at least: to compare fewer costs less than to ask the first stage again
CANDIDATES_PER_HIT = 4  # at least, where many hits are asked for
MOST_CANDIDATES = 4096  # unless more hits than that are asked for

# n -> the ids of the n best pages of the first stage; fewer where there are fewer pages.
Propose = Callable[[int], list[str]]
# ids -> those of them that are in the store, and the MaxSim score of each.
Score = Callable[[list[str]], tuple[list[str], Floats]]


def most_candidates(k: int, pages: int) -> int:
    """How many of some pages may be candidates, if k hits are asked for."""
    return min(max(MOST_CANDIDATES, k), max(pages, 1))


def rank_in_two_stages(
    k: int, pages: int, propose: Propose, score: Score, first_stage: str
) -> Ranking:
    """The k best of some pages, by the exact scores of candidates; `first_stage` says in words what proposes them.

    It ends as "exact" when all pages were candidates, as "settled" when twice as many candidates gave the same k best
    pages, and as "limit" when no more candidates are allowed.
    """
    limit = most_candidates(k, pages)
    n = min(max(FIRST_CANDIDATES, CANDIDATES_PER_HIT * k), limit)
    ids: list[str] = []
    scores: Floats = np.zeros(0, np.float32)
    proposed: set[str] = set()
    previous: list[tuple[str, float]] = []

    while True:
        candidates = propose(n)
        new_ids, new_scores = score([id for id in candidates if id not in proposed])
        proposed.update(candidates)
        ids = ids + new_ids
        scores = np.concatenate([scores, new_scores])
        current = best(ids, scores, k)

        if len(ids) >= pages:
            return Ranking(current, "exact", len(ids), pages)
        if current == previous:
            return Ranking(current, "settled", len(ids), pages, first_stage)
        if n >= limit:
            return Ranking(current, "limit", len(ids), pages, first_stage)

        previous = current
        n = min(2 * n, limit)
