"""Why a page was found: for each query vector the stored vector that it matched, its patches, and the words there."""

from collections.abc import Sequence

import numpy as np

from adamerge.arrays import ArrayLike
from adamerge.search.found import Match
from adamerge.search.page_regions import PageRegions
from adamerge.types import Compressed, Word


def matches(query: ArrayLike, page: Compressed, words: Sequence[Word] = ()) -> tuple[Match, ...]:
    """The best match on a page for each vector of a query (q, d); their similarities sum to the page's score."""
    return matches_in(query, PageRegions(page, words))


def matches_in(query: ArrayLike, regions: PageRegions) -> tuple[Match, ...]:
    """The same on a page whose regions are kept."""
    similarities = np.asarray(query, np.float32) @ regions.page.stored.T
    rows = similarities.argmax(1).tolist()
    best = similarities.max(1).tolist()

    found = []
    for similarity, row in zip(best, rows, strict=True):
        boxes, word_places, words = regions.region(row)
        found.append(Match(similarity, row, boxes, words, word_places))
    return tuple(found)
