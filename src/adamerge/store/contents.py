"""What a store holds, file by file and page by page, and which of its files a person means."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from adamerge.buckets import as_path, path_of_root
from adamerge.errors import NotFound, did_you_mean
from adamerge.store.base import Store
from adamerge.store.entry import Source
from adamerge.store.filters import quoted


@dataclass(frozen=True)
class StoredFile:
    """A file of a store.

    pages    of the file that are in the store, of all `of` pages that the file has
    vectors  stored for these pages, the extra rows included
    bytes    of those vectors
    indexed  when its last page was stored; None where the database does not tell
    first_page  the id of its first page in the store
    """

    source: str
    pages: int
    of: int
    vectors: int
    bytes: int
    indexed: datetime | None
    folder: str
    metadata: Mapping[str, Any]
    first_page: str = ""


@dataclass(frozen=True)
class StoredPage:
    """A page of a store: its patches, the vectors that are stored for them (extra rows included), and its words."""

    id: str
    number: int
    patches: int
    vectors: int
    bytes: int
    words: int


def list_files(store: Store) -> list[StoredFile]:
    """The files of a store in the order of their names."""
    return files_of(store.sources(), store.require_about().vector_bytes)


def files_of(sources: Mapping[str, Source], vector_bytes: int) -> list[StoredFile]:
    """The files of some sources in the order of their names; a stored vector takes `vector_bytes`."""
    files = []
    for name, source in sorted(sources.items()):
        vectors = sum(source.vector_counts.values())
        file = StoredFile(
            name,
            len(source.hashes),
            source.pages,
            vectors,
            vectors * vector_bytes,
            source.indexed,
            source.root,
            source.metadata,
            min(source.hashes, key=_page_number),
        )
        files.append(file)
    return files


def list_pages(store: Store, source: str) -> Iterator[StoredPage]:
    """The pages of a file in the order of their numbers."""
    vector_bytes = store.require_about().vector_bytes
    entries = store.entries(f"source = {quoted(source)}")
    for entry in sorted(entries, key=lambda entry: entry.number):
        vectors = len(entry.page.stored)
        patches = len(entry.page.groups)
        size = vectors * vector_bytes
        yield StoredPage(entry.id, entry.number, patches, vectors, size, len(entry.words))


def _page_number(id: str) -> int:
    """The number at the end of the id of a page: 3 of report.pdf#3; the only page of a file may have none."""
    number = id.rpartition("#")[2]
    if number.isdecimal():
        return int(number)
    return 1


def find_source(store: Store, given: str) -> str:
    """The name of a file in the store, from that name or from its path; an error suggests a similar one."""
    sources = store.sources()
    if given in sources:
        return given
    path = as_path(given).resolve()
    for name, source in sources.items():
        if source.root and (path_of_root(source.root) / name).resolve() == path:
            return name
    raise NotFound(
        f"{store} holds no file '{given}'{_similar(given, sources)}: adamerge ls lists them"
    )


def find_missing(store: Store, ids: tuple[str, ...]) -> str:
    """A sentence on the first of some ids that is not in the store, with a similar id; "" if all are there."""
    known: set[str] = set()
    for source in store.sources().values():
        known.update(source.hashes)
    for id in ids:
        if id not in known:
            return f"{store} holds no page '{id}'{did_you_mean(id, known)}"
    return ""


def _similar(given: str, sources: Mapping[str, Source]) -> str:
    """A suggestion: a name that is similar to a path, or to the last part of it."""
    return did_you_mean(given, sources) or did_you_mean(Path(given).name, sources)
