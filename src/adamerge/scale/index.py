"""Files -> a store, by a cluster: what has changed is encoded, compressed and written by many workers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adamerge.buckets import AnyPath
from adamerge.compress import Method
from adamerge.scale.connect import Cluster
from adamerge.scale.lance_job import LanceJob
from adamerge.scale.summary import Summary
from adamerge.store import Change, Indexing, Store
from adamerge.store.index import (
    FileToIndex,
    begin_indexing,
    checked_method,
    pages_of_removed_files,
    unchanged_pages,
    update_known,
)
from adamerge.store.lance.store import LanceStore


def index_files(
    paths: Sequence[str | AnyPath],
    store: Store,
    cluster: Cluster,
    how: Indexing | None = None,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
    summary: Summary | None = None,
) -> Iterator[Change]:
    """Bring a store up to date as adamerge.index_files() does, on a cluster.

    Readers of a folder or bucket see the whole job at once, those of a Qdrant server each page as it is written.
    `summary` is told what the run has cost.
    """
    how = how or Indexing()
    method = checked_method(store, how)
    files = begin_indexing(paths, store, metadata or {}, how)
    yield from unchanged_pages(files)

    changed = {file.source: file for file in files if not file.unchanged}
    removed = list(pages_of_removed_files(paths, files, store))
    if changed:
        yield from _index_changed(
            store, cluster, how, method, changed, removed, summary or Summary()
        )
    elif removed:
        store.delete(*removed)
    for id in removed:
        yield Change(id, "removed")
    update_known(files, store)


def _index_changed(
    store: Store,
    cluster: Cluster,
    how: Indexing,
    method: Method,
    changed: Mapping[str, FileToIndex],
    removed: Sequence[str],
    summary: Summary,
) -> Iterator[Change]:
    """Write the pages of changed files and remove those in `removed`, as the database of a store has it done."""
    if isinstance(store, LanceStore):
        yield from LanceJob(store, cluster, how, method, changed).run(removed, summary)
        return
    from adamerge.scale.qdrant_job import index_into_qdrant  # not every cluster has its client

    yield from index_into_qdrant(store, cluster, how, method, changed, removed, summary)
