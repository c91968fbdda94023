"""What indexing would do, file by file, without doing it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adamerge.buckets import AnyPath
from adamerge.store.base import Store
from adamerge.store.index import (
    FileToIndex,
    Indexing,
    checked_method,
    files_to_index,
    pages_of_removed_files,
)


@dataclass(frozen=True)
class PlannedFile:
    """What indexing would do with the pages of a file: add, replace, keep or remove so many of them."""

    source: str
    would: str
    pages: int


def plan_index(
    paths: Sequence[str | AnyPath],
    store: Store,
    how: Indexing | None = None,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[PlannedFile]:
    """What `index_files` would do with each file; nothing is encoded and nothing is written.

    A method or an encoder that the store would refuse is refused here too.
    """
    how = how or Indexing()
    checked_method(store, how)
    files = files_to_index(paths, store, metadata or {}, how)
    planned = [_planned(file) for file in files]

    source_of = {}
    for name, source in store.sources().items():
        for id in source.hashes:
            source_of[id] = name
    gone = Counter(source_of[id] for id in pages_of_removed_files(paths, files, store))
    planned += [PlannedFile(name, "remove", pages) for name, pages in gone.items()]
    return planned


def _planned(file: FileToIndex) -> PlannedFile:
    if file.unchanged:
        return PlannedFile(file.source, "keep", file.pages)
    left = file.pages - len(file.done)
    is_new = file.known is None or bool(file.done)  # or a run was stopped half way
    return PlannedFile(file.source, "add" if is_new else "replace", left)
