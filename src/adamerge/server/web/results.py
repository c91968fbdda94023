"""The hits of a search as the page shows them: every page once, alone or with the others of its file."""

from typing import Any
from urllib.parse import urlencode

from adamerge.search import Found, Hit
from adamerge.server.params import MAX_HITS, SearchQuery
from adamerge.server.reader.store_reader import SearchResult
from adamerge.server.serialize import serialize_hit

MORE = 10  # hits that "more" adds


def results_of(result: SearchResult, query: SearchQuery, grouped: bool) -> dict[str, Any]:
    """What the template shows of a search: groups of hits, how they were found, and where more of them are."""
    found = result.found
    groups = [[hit] for hit in found.distinct()]
    if grouped:
        groups = list(found.by_source().values())

    shown = []
    for hits in groups:
        shown.append([_shown(hit, found, result, query) for hit in hits])
    return {
        "groups": shown,
        "count": len(found.distinct()),
        "candidates": found.candidates,
        "pages": found.pages,
        "milliseconds": result.milliseconds,
        "grouped": grouped,
        "other_view": _address(query, not grouped, query.k),
        "more": _more(found, query, grouped),
    }


def _shown(hit: Hit, found: Found, result: SearchResult, query: SearchQuery) -> dict[str, Any]:
    shown = serialize_hit(hit, result.words, query)
    shown["parts"] = list(hit.snippet.parts())
    shown["copies"] = [serialize_hit(copy, (), query) for copy in found.copies_of(hit)]
    return shown


def _more(found: Found, query: SearchQuery, grouped: bool) -> str:
    """The address of a longer list that begins where this one ends; "" if there is none."""
    k = min(query.k + MORE, MAX_HITS)
    if len(found) < query.k or k == query.k:
        return ""
    return f"{_address(query, grouped, k)}#hit-{len(found) + 1}"


def _address(query: SearchQuery, grouped: bool, k: int) -> str:
    """The address of a search; what is usual is left out."""
    asked: dict[str, str | int] = {"q": query.text}
    if query.where:
        asked["where"] = query.where
    if query.hybrid:
        asked["hybrid"] = "true"
    if k != SearchQuery.k:
        asked["k"] = k
    if grouped:
        asked["group"] = 1
    return f"/?{urlencode(asked)}"
