"""Scores -> the k best pages."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from adamerge.arrays import Floats
from adamerge.errors import BadInput


class Ranking(NamedTuple):
    """The best pages for one query, and how they were found.

    best            (id, score) of each page, the best one first
    how             "exact", "settled" or "limit", as in Found
    candidates      pages that were compared with the query
    pages           pages that passed the filter
    first_stage     what proposed the candidates: "sign planes" or "mean vectors"; "" where every page was compared
    added_by_words  by id, what the words of a page added to its score; empty where vectors alone were compared
    """

    best: list[tuple[str, float]]
    how: str
    candidates: int
    pages: int
    first_stage: str = ""
    added_by_words: Mapping[str, float] = MappingProxyType({})


def best(ids: Sequence[str], scores: Floats, k: int) -> list[tuple[str, float]]:
    """The k pages with the largest scores, the best one first; equal scores are in the order of their ids."""
    if k < 1:
        raise BadInput(f"k must be at least 1, got {k}")

    least = -np.inf
    if k < len(scores):
        least = np.partition(scores, -k)[-k]  # the k-th largest score, without sorting all of them

    chosen = np.flatnonzero(scores >= least).tolist()  # includes all pages that tie for place k
    ranked = sorted((-float(scores[i]), ids[i]) for i in chosen)
    return [(id, -negative) for negative, id in ranked[:k]]
