"""The best pages of a ranking -> hits that a person can read."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from adamerge.arrays import Floats
from adamerge.search.found import Hit, Match, Snippet
from adamerge.search.matches import matches_in
from adamerge.search.page_regions import PageRegions
from adamerge.search.ranking import Ranking
from adamerge.search.snippets import snippet_in
from adamerge.types import Compressed

EQUAL = 0.005  # by which the numbers of equal vectors, and a share of the scores of equal pages, may differ


class PageOfStore(Protocol):
    """What a search needs to know of a page beside its vectors; `Entry` of a store is one."""

    @property
    def page(self) -> Compressed:
        """The compressed page."""

    @property
    def source(self) -> str:
        """The file of the page."""

    @property
    def number(self) -> int:
        """Which page of that file it is."""

    @property
    def root(self) -> str:
        """The folder of that file."""

    @property
    def regions(self) -> PageRegions:
        """Where its stored rows lie on it, and which words stand there."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Values by name."""


def hits_of(
    ranking: Ranking, pages: Mapping[str, PageOfStore], query: Floats | None
) -> tuple[Hit, ...]:
    """The hits of a ranking; with the matches of a query (q, d) and their snippets, if it is given.

    A page that is not in `pages` was removed after it was ranked: it is no hit.
    """
    hits: list[Hit] = []
    for id, score in ranking.best:
        if id in pages:
            equal_to = _equal_hit(pages[id], score, hits, pages)
            added = ranking.added_by_words.get(id, 0.0)
            hits.append(_hit(id, score, pages[id], query, len(hits) + 1, equal_to, added))
    return tuple(hits)


def _hit(
    id: str,
    score: float,
    found: PageOfStore,
    query: Floats | None,
    rank: int,
    equal_to: str,
    added_by_words: float,
) -> Hit:
    matched: tuple[Match, ...] = ()
    snippet = Snippet()
    if query is not None:
        matched = matches_in(query, found.regions)
        snippet = snippet_in(matched, found.regions.text)
    return Hit(
        id,
        score,
        found.source,
        found.number,
        found.metadata,
        matched,
        rank,
        snippet,
        found.root,
        equal_to,
        added_by_words,
    )


def _equal_hit(
    found: PageOfStore, score: float, better: list[Hit], pages: Mapping[str, PageOfStore]
) -> str:
    """The id of the first hit of better rank that holds the same vectors; "" for none.

    Only pages of almost the same score are compared, so a search of different pages compares none.
    """
    for hit in better:
        has_same_score = abs(hit.score - score) <= EQUAL * max(1.0, abs(score))
        if has_same_score and not hit.equal_to and _is_equal(found.page, pages[hit.id].page):
            return hit.id
    return ""


def _is_equal(page: Compressed, other: Compressed) -> bool:
    """Whether two pages hold the same vectors, but for what an encoder rounds differently from batch to batch."""
    rows, other_rows = page.stored, other.stored
    if rows.shape != other_rows.shape:
        return False
    return bool(np.abs(rows - other_rows).max() <= EQUAL)
