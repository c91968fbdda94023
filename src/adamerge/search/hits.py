"""The best pages of a ranking -> hits that a person can read."""

from collections.abc import Mapping
from typing import Any, Protocol

from adamerge.arrays import Floats
from adamerge.search.matches import matches
from adamerge.search.ranking import Ranking
from adamerge.types import Compressed, Hit, Word


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
    def words(self) -> tuple[Word, ...]:
        """The words on the page."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Values by name."""


def hits_of(
    ranking: Ranking, pages: Mapping[str, PageOfStore], query: Floats | None
) -> tuple[Hit, ...]:
    """The hits of a ranking, with the matches of a query (q, d) if it is given.

    A page that is not in `pages` was removed after it was ranked: it is no hit.
    """
    hits = []
    for id, score in ranking.best:
        if id in pages:
            hits.append(_hit(id, score, pages[id], query))
    return tuple(hits)


def _hit(id: str, score: float, found: PageOfStore, query: Floats | None) -> Hit:
    matched = () if query is None else matches(query, found.page, found.words)
    return Hit(id, score, found.source, found.number, found.metadata, matched)
