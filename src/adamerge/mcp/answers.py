"""What the tools answer: plain values, of which the protocol makes a JSON schema. Nothing in them names a folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adamerge.search import Found, Hit
from adamerge.server.serialize import serialize_metadata
from adamerge.store.contents import StoredFile


@dataclass(frozen=True)
class FoundPage:
    """A page that a search found.

    page     its id, which read_page takes
    number   of the page in its file
    snippet  the sentences around the best matches, matched words in **asterisks**; "" for a page without words
    same_as  the id of a better hit with the same content, as in a copy of the file; "" for none
    """

    rank: int
    page: str
    source: str
    number: int
    score: float
    snippet: str
    same_as: str
    metadata: dict[str, Any]


@dataclass(frozen=True)
class SearchAnswer:
    """The best pages, best first, of all `pages` that passed the filter; `compared` of them were compared exactly."""

    hits: list[FoundPage]
    pages: int
    compared: int


@dataclass(frozen=True)
class ListedFile:
    """A file of the store, and how many of its pages are in the store."""

    source: str
    pages: int
    metadata: dict[str, Any]


@dataclass(frozen=True)
class FilesAnswer:
    """Some files in the order of their names, of all `total` that were asked for; `skip=next` lists those that follow.

    `next` is null where none follow.
    """

    files: list[ListedFile]
    total: int
    next: int | None


def search_answer(found: Found) -> SearchAnswer:
    """What a search found."""
    return SearchAnswer([_found_page(hit) for hit in found], found.pages, found.candidates)


def files_answer(files: Sequence[StoredFile], skip: int, limit: int) -> FilesAnswer:
    """At most `limit` files, after the first `skip`."""
    listed = []
    for file in files[skip : skip + limit]:
        listed.append(ListedFile(file.source, file.pages, serialize_metadata(file.metadata)))
    end = skip + len(listed)
    following = None
    if end < len(files):
        following = end
    return FilesAnswer(listed, len(files), following)


def _found_page(hit: Hit) -> FoundPage:
    return FoundPage(
        hit.rank,
        hit.id,
        hit.source,
        hit.number,
        round(float(hit.score), 4),
        hit.snippet.marked(),
        hit.equal_to,
        serialize_metadata(hit.metadata),
    )
