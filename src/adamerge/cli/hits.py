"""The hits of a search as a terminal shows them, and as JSON."""

import os
import shutil
import textwrap
from collections.abc import Iterator
from typing import Any

from adamerge.search import Found, Hit

WIDEST = 110  # columns of a snippet: longer lines are hard to read
BEGIN, END = "\ue000", "\ue001"  # of a mark, while lines are broken: letters for private use
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"  # click takes them out where the output is no terminal


def hits_as_text(found: Found, grouped: bool) -> str:
    """Every page once: rank, score, file, page and metadata in a line, and its snippet below."""
    if not found.hits:
        return "nothing found"
    lines = []
    if grouped:
        for hits in found.by_source().values():
            lines.append(_path(hits[0]))
            for hit in hits:
                lines += _lines(hit, found, f"page {hit.number}", indent="  ")
    else:
        for hit in found.distinct():
            lines += _lines(hit, found, f"{_path(hit)}, page {hit.number}")
    return "\n".join(lines)


def hit_as_json(hit: Hit) -> dict[str, Any]:
    """A hit and its matches, as JSON has them."""
    matches = []
    for match in hit.matches:
        matches.append(
            {
                "similarity": match.similarity,
                "row": match.row,
                "words": match.words,
                "boxes": match.boxes.round(4).tolist(),
            }
        )
    return {
        "rank": hit.rank,
        "page": hit.id,
        "score": hit.score,
        "added_by_words": hit.added_by_words,
        "source": hit.source,
        "number": hit.number,
        "path": hit.path,
        "snippet": {"text": hit.snippet.text, "marks": hit.snippet.marks},
        "equal_to": hit.equal_to,
        "metadata": dict(hit.metadata),
        "matches": matches,
    }


def how_found(found: Found) -> str:
    """How the hits were found, in one line."""
    candidates = f"{found.candidates:,} candidates of the {found.first_stage} compared"
    words = {
        "exact": "every page compared",
        "settled": f"{candidates}; half of them gave the same hits",
        "limit": f"{candidates}, which is the limit: --exact compares all pages",
    }
    line = f"{found.pages:,} pages: {words[found.how]}"
    if found.by_words:
        line += ", by vectors and words"
    return line


def _lines(hit: Hit, found: Found, place: str, indent: str = "") -> Iterator[str]:
    """What is shown of a hit, line by line."""
    digits = len(str(len(found)))
    head = [f"{hit.rank:>{digits}}", f"{hit.score:.3f}", place]
    for name, value in hit.metadata.items():
        head.append(f"{name} {value}")
    yield indent + "  ".join(head)

    below = indent + " " * (digits + 2)
    yield from _snippet_lines(hit, below)
    for copy in found.copies_of(hit):
        yield f"{below}the same page: {_path(copy)}, page {copy.number}"


def _snippet_lines(hit: Hit, indent: str) -> list[str]:
    """The snippet in lines that fit the terminal, matched words bold; of a page without words, the region."""
    text = hit.snippet.marked(BEGIN, END) or _region(hit)
    width = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
    filled = textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)
    return filled.replace(BEGIN, BOLD).replace(END, PLAIN).splitlines()


def _region(hit: Hit) -> str:
    """Where on the page the best match is; "" where no match has a place."""
    for match in sorted(hit.matches, key=lambda match: -match.similarity):
        if len(match.boxes):
            left, top = match.boxes[:, :2].min(0)
            right, bottom = match.boxes[:, 2:].max(0)
            return f"{left:.0%}-{right:.0%} across, {top:.0%}-{bottom:.0%} down"
    return ""


def _path(hit: Hit) -> str:
    """The file of a hit: below this folder from here, else with all folders."""
    folder = os.getcwd() + os.sep
    return hit.path.removeprefix(folder)
