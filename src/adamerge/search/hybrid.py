"""Pages ranked by vectors, and scores by words -> pages ranked by both.

    score(q, p) = maxsim(q, p) + WEIGHT max_p maxsim(q, p) bm25(q, p) / max_p bm25(q, p)

A page without any word of the query has its MaxSim. The page of the best BM25 has 15 % of the best MaxSim more.
docs/results.md says what that gains, and what reciprocal rank fusion gains.
"""

from collections.abc import Sequence

import numpy as np

from adamerge.arrays import Floats
from adamerge.search.ranking import Ranking, best
from adamerge.search.two_stage import CANDIDATES_PER_HIT, FIRST_CANDIDATES, Score

WEIGHT = 0.15  # of the words: what every five of the six books choose for the sixth


def candidates_of_each(k: int) -> int:
    """How many pages the vectors propose, and how many the words: on the books 32 held all of the best ten."""
    return max(FIRST_CANDIDATES, CANDIDATES_PER_HIT * k)


def rank_by_both(
    by_vectors: Ranking, ids: Sequence[str], by_words: Floats, score: Score, k: int
) -> Ranking:
    """The k best of the pages that vectors or words propose.

    by_vectors  the best pages, candidates_of_each(k) of them
    ids         of all pages that pass the filter, and `by_words` the BM25 of each
    score       gives the MaxSim of the pages that only the words propose
    """
    bm25 = dict(zip(ids, by_words.tolist(), strict=True))
    maxsim = dict(by_vectors.best)
    proposed = []
    for id, value in best(ids, by_words, candidates_of_each(k)):
        if value > 0 and id not in maxsim:
            proposed.append(id)
    found, scores = score(proposed)
    maxsim |= dict(zip(found, scores.tolist(), strict=True))
    if not maxsim:
        return by_vectors

    candidates = list(maxsim)
    of_vectors = np.array(list(maxsim.values()), np.float32)
    of_words = np.array([bm25.get(id, 0.0) for id in candidates], np.float32)
    added = share_of_words(float(of_vectors.max()), of_words, float(by_words.max(initial=0)))
    compared = by_vectors.candidates
    if by_vectors.how != "exact":  # then the vectors did not compare every page
        compared += len(found)
    return by_vectors._replace(
        best=best(candidates, of_vectors + added, k),
        candidates=compared,
        added_by_words=dict(zip(candidates, added.tolist(), strict=True)),
    )


def share_of_words(
    best_by_vectors: float, by_words: Floats, best_by_words: float, weight: float = WEIGHT
) -> Floats:
    """What the words of each page add to its MaxSim, given the best MaxSim and the best BM25 of all pages.

    by_words  (pages,) the BM25 of each page; where the best one is 0, words add nothing
    """
    if best_by_words <= 0:
        return np.zeros_like(by_words)
    return weight * abs(best_by_vectors) * by_words / best_by_words
