"""Hits, pages and jobs as plain values, for JSON and for templates; nothing in them names a folder."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from math import isfinite
from typing import Any
from urllib.parse import quote, urlencode

from starlette.responses import Response

from adamerge.search import Hit, Match
from adamerge.search.stop_words import says_nothing
from adamerge.server.params import SearchQuery
from adamerge.server.reader.query_words import QueryWord, distinct
from adamerge.server.reader.store_reader import SearchResult
from adamerge.server.uploads.job_queue import Job
from adamerge.store import Entry
from adamerge.store.contents import StoredFile
from adamerge.types import Compressed

SHOWN_WORDS = 12  # of a match


class Json(Response):
    """JSON of plain values, dates as text."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """As bytes."""
        text = json.dumps(content, default=str, allow_nan=False, ensure_ascii=False)
        return text.encode("utf-8", "replace")


def serialize_search(result: SearchResult, query: SearchQuery) -> dict[str, Any]:
    """A search and its hits."""
    found = result.found
    return {
        "query": query.text,
        "how": found.how,
        "candidates": found.candidates,
        "pages": found.pages,
        "first_stage": found.first_stage,
        "milliseconds": round(result.milliseconds, 2),
        "hits": [serialize_hit(hit, result.words, query) for hit in found],
    }


def serialize_hit(hit: Hit, words: Sequence[QueryWord], query: SearchQuery) -> dict[str, Any]:
    """A page that was found."""
    return {
        "rank": hit.rank,
        "id": hit.id,
        "source": hit.source,
        "number": hit.number,
        "score": _number(hit.score),
        "added_by_words": _number(hit.added_by_words),
        "snippet": {"text": hit.snippet.text, "marks": hit.snippet.marks},
        "equal_to": hit.equal_to,
        "metadata": serialize_metadata(hit.metadata),
        "links": links(hit.id, query.text, query.where) | file_link(hit.source, hit.number),
        "matches": serialize_matches(words, hit.matches),
    }


def serialize_page(
    entry: Entry, q: str, words: Sequence[QueryWord], matches: Sequence[Match], where: str = ""
) -> dict[str, Any]:
    """A page, and where each word of a query matched on it."""
    small = entry.page
    return {
        "id": entry.id,
        "source": entry.source,
        "number": entry.number,
        "of": entry.pages,
        "method": small.method,
        "patches": len(small.groups),
        "stored": len(small),
        "extra": count_extra(small),
        "compression": _number(small.compression),
        "theta": _number(small.cut.theta),
        "gap": _number(small.cut.gap),
        "metadata": serialize_metadata(entry.metadata),
        "text": " ".join(word.text for word in entry.words),
        "links": links(entry.id, q, where) | file_link(entry.source, entry.number),
        "matches": serialize_matches(words, matches),
    }


def count_extra(small: Compressed) -> int:
    """Rows that are not patches."""
    if small.extra is None:
        return 0
    return len(small.extra)


def serialize_file(file: StoredFile) -> dict[str, Any]:
    """A file of the store, without its folder; `links.page` leads to its first page in the store."""
    fields = asdict(file)
    del fields["folder"], fields["first_page"]
    fields["metadata"] = serialize_metadata(file.metadata)
    fields["indexed"] = None
    if file.indexed is not None:
        fields["indexed"] = file.indexed.isoformat(timespec="seconds")
    first = links(file.first_page, "")
    fields["links"] = {
        "page": first["page"],
        "picture": first["picture"],
        "file": f"/file/{quote(file.source)}",
    }
    return fields


def serialize_job(job: Job) -> dict[str, Any]:
    """A file on its way into the store; one that failed has a link to its bytes."""
    fields = asdict(job)
    fields["skipped"] = list(job.skipped)
    fields["links"] = {}
    if job.state == "failed":
        fields["links"] = {"file": f"/api/index/{job.id}/file"}
    return fields


def links(id: str, q: str, where: str = "") -> dict[str, str]:
    """Where a page, its picture and its inspector are; they keep the query and the filter."""
    name = quote(id, safe="")
    query = _query_string(q, where)
    return {
        "page": f"/page/{name}{query}",
        "json": f"/api/pages/{name}{query}",
        "picture": f"/picture/{name}",
        "inspect": f"/inspect/{name}{query}",
        "hits": f"/{query}",
    }


@lru_cache(maxsize=256)  # the hits of a search have the same
def _query_string(q: str, where: str) -> str:
    asked = {}
    if q:
        asked["q"] = q
    if where:
        asked["where"] = where
    if not asked:
        return ""
    return "?" + urlencode(asked)


def file_link(source: str, number: int) -> dict[str, str]:
    """Where the original is; a browser opens a PDF at the page."""
    address = f"/file/{quote(source)}"
    if source.lower().endswith(".pdf"):
        address += f"#page={number}"
    return {"file": address}


def serialize_matches(words: Sequence[QueryWord], matches: Sequence[Match]) -> list[dict[str, Any]]:
    """For each word of a query what it matched: similarity, words of the page, and boxes in parts of the page.

    The similarity of a word of several pieces is the sum over its pieces. Where all words are stop words, none is one.
    """
    are_stop_words = _are_stop_words(tuple(word.text for word in words))
    serialized = []
    for word, is_stop_word in zip(words, are_stop_words, strict=True):
        of_word = [matches[vector] for vector in word.vectors if vector < len(matches)]
        boxes: set[tuple[float, ...]] = set()
        texts: list[str] = []
        for match in of_word:
            boxes |= {tuple(box) for box in match.boxes.astype(float).round(4).tolist()}
            texts += match.words
        similarity = sum(match.similarity for match in of_word)
        serialized.append(
            {
                "word": word.text,
                "pieces": word.pieces,
                "stop_word": is_stop_word,
                "similarity": _number(similarity),
                "words": distinct(texts, SHOWN_WORDS),
                "boxes": [list(box) for box in sorted(boxes)],
            }
        )
    return serialized


@lru_cache(maxsize=256)  # the hits of a search have the same
def _are_stop_words(words: tuple[str, ...]) -> list[bool]:
    are_stop_words = says_nothing(words)
    if all(are_stop_words):
        return [False] * len(words)
    return are_stop_words


def serialize_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with numbers that JSON can write."""
    plain = {}
    for name, value in metadata.items():
        plain[name] = _number(value) if isinstance(value, float) else value
    return plain


def _number(value: float) -> float | None:
    return round(float(value), 6) if isfinite(value) else None
