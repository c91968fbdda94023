"""Hits, pages and jobs as JSON and templates show them: what a person may know, and nothing of this machine."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any
from urllib.parse import quote, urlencode

from starlette.responses import Response

from adamerge.server.jobs import Job
from adamerge.server.library import Answer
from adamerge.server.words import Asked, distinct
from adamerge.store import Entry
from adamerge.types import Match

SHOWN = 12  # matched words shown of a hit
COLOURS = 8  # of query words; the next one begins anew


class Json(Response):
    """JSON of plain values, dates as text."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """As bytes."""
        return json.dumps(content, default=str, allow_nan=False, ensure_ascii=False).encode(
            "utf-8", "replace"
        )


def answer(found: Answer, q: str, where: str = "") -> dict[str, Any]:
    """A search."""
    hits = [
        {"id": hit.id, "source": hit.source, "number": hit.number, "score": _number(hit.score)}
        | {
            "metadata": _plain(hit.metadata),
            "words": best_words(hit.matches),
            "links": links(hit.id, q, where),
        }
        | {"matches": regions(found.words, hit.matches)}
        for hit in found.found
    ]
    about = {
        "query": q,
        "how": found.found.how,
        "candidates": found.found.candidates,
        "pages": found.found.pages,
    }
    return about | {"milliseconds": round(found.milliseconds, 2), "hits": hits}


def page(
    entry: Entry, q: str, words: Sequence[Asked], matches: Sequence[Match], where: str = ""
) -> dict[str, Any]:
    """A page, and where each word of a query matched on it."""
    small = entry.page
    about = {"id": entry.id, "source": entry.source, "number": entry.number, "of": entry.pages}
    about |= {"method": small.method, "patches": len(small.groups), "stored": len(small)}
    about |= {
        "extra": 0 if small.extra is None else len(small.extra),
        "compression": _number(small.compression),
    }
    about |= {
        "theta": _number(small.cut.theta),
        "gap": _number(small.cut.gap),
        "metadata": _plain(entry.metadata),
    }
    text = " ".join(word.text for word in entry.words)
    return about | {
        "text": text,
        "links": links(entry.id, q, where),
        "matches": regions(words, matches),
    }


def job(job: Job) -> dict[str, Any]:
    """A file on its way into the store."""
    return asdict(job) | {"skipped": list(job.skipped)}


def links(id: str, q: str, where: str = "") -> dict[str, str]:
    """Where a page, its picture and its inspector are; they know the search that they were found by."""
    name = quote(id, safe="")
    asked = urlencode({key: value for key, value in (("q", q), ("where", where)) if value})
    asked = f"?{asked}" if asked else ""
    api = {
        "page": f"/page/{name}{asked}",
        "json": f"/api/pages/{name}{asked}",
        "picture": f"/picture/{name}",
    }
    return api | {"inspect": f"/inspect/{name}{asked}", "hits": f"/{asked}"}


def regions(words: Sequence[Asked], matches: Sequence[Match]) -> list[dict[str, Any]]:
    """For each word of a query what it matched: similarity, words of the page, and boxes in parts of the page."""
    out = []
    for i, word in enumerate(words):
        of_word = [matches[v] for v in word.vectors if v < len(matches)]
        boxes = {
            tuple(box) for match in of_word for box in match.boxes.astype(float).round(4).tolist()
        }
        out.append(
            {
                "word": word.text,
                "colour": i % COLOURS,
                "similarity": _number(sum(match.similarity for match in of_word)),
                "words": distinct((text for match in of_word for text in match.words), SHOWN),
                "boxes": sorted(map(list, boxes)),
            }
        )
    return out


def best_words(matches: Sequence[Match]) -> list[str]:
    """The words that the query matched, best first."""
    best = sorted(matches, key=lambda match: -match.similarity)
    return distinct((word for match in best for word in match.words[:3]), SHOWN)


def _plain(metadata: Any) -> dict[str, Any]:
    return {
        name: _number(value) if isinstance(value, float) else value
        for name, value in metadata.items()
    }


def _number(value: float) -> float | None:
    return round(float(value), 6) if isfinite(value) else None
