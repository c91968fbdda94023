"""What a store holds, file by file and page by page, and which file a person means."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from adamerge.errors import NotFound, did_you_mean
from adamerge.store.base import Source, Store
from adamerge.store.sql import quoted


@dataclass(frozen=True)
class StoredFile:
    """A file of a store: how many of its pages are there, and what their vectors take.

    pages    in the store, `of` those that the file has
    indexed  when its last page was stored; None where the database does not tell
    """

    source: str
    pages: int
    of: int
    vectors: int
    bytes: int
    indexed: datetime | None
    folder: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class StoredPage:
    """A page of a store: its patches, the vectors that are stored of them, and its words."""

    id: str
    number: int
    patches: int
    vectors: int
    bytes: int
    words: int


def list_files(store: Store) -> list[StoredFile]:
    """The files of a store by name."""
    width = store.known().vector_bytes
    files = []
    for name, source in sorted(store.sources().items()):
        vectors = sum(source.rows.values())
        size = vectors * width
        pages = len(source.ids)
        file = StoredFile(
            name, pages, source.pages, vectors, size, source.indexed, source.root, source.metadata
        )
        files.append(file)
    return files


def list_pages(store: Store, source: str) -> Iterator[StoredPage]:
    """The pages of a file in the order of their numbers."""
    width = store.known().vector_bytes
    entries = store.entries(f"source = {quoted(source)}")
    for entry in sorted(entries, key=lambda entry: entry.number):
        vectors = len(entry.page.stored)
        patches = len(entry.page.groups)
        yield StoredPage(
            entry.id, entry.number, patches, vectors, vectors * width, len(entry.words)
        )


def find_source(store: Store, given: str) -> str:
    """The name that a file has in the store, from that name or from its path; an error names what is like it."""
    sources = store.sources()
    if given in sources:
        return given
    path = Path(given).resolve()
    for name, source in sources.items():
        if source.root and (Path(source.root) / name).resolve() == path:
            return name
    raise NotFound(
        f"{store} holds no file '{given}'{_like(given, sources)}: adamerge ls lists them"
    )


def find_missing(store: Store, ids: tuple[str, ...]) -> str:
    """The first of some ids that is not in the store, in words, with one that is like it; "" if all are there."""
    there = {id for source in store.sources().values() for id in source.ids}
    for id in ids:
        if id not in there:
            return f"{store} holds no page '{id}'{did_you_mean(id, there)}"
    return ""


def _like(given: str, sources: Mapping[str, Source]) -> str:
    """A name like a path, or like the last part of one."""
    return did_you_mean(given, sources) or did_you_mean(Path(given).name, sources)
