"""Changed files -> pages of a Qdrant collection: workers insert pages by ids that are always the same.

A server has no commit over many points. So readers see each page as soon as it is written, as they do when one machine
indexes, and the pages that are gone are removed at the end. No notes are kept: the same command again asks the
collection which pages it has of each file, and goes on with the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from adamerge.compress import Method
from adamerge.errors import BadInput
from adamerge.scale.connect import Cluster
from adamerge.scale.index_workers import UnitPages, index_workers
from adamerge.scale.summary import Summary
from adamerge.store import Change, Indexing, Store
from adamerge.store.entry import Entry
from adamerge.store.index import FileToIndex, change_of, units_to_index
from adamerge.store.qdrant.point_writer import PointWriter
from adamerge.store.qdrant.store import QdrantStore
from adamerge.vectors.units import Unit


@dataclass(frozen=True)
class PointOutput:
    """Pages go straight into the collection."""

    points: PointWriter

    def read(self, unit: Unit) -> UnitPages | None:
        """Nothing: a unit that is tried again writes the same pages again."""
        return None

    def write(self, unit: Unit, entries: list[Entry], made: UnitPages) -> UnitPages:
        """Insert the pages."""
        self.points.write(entries)
        return made


def index_into_qdrant(
    store: Store,
    cluster: Cluster,
    how: Indexing,
    method: Method,
    changed: Mapping[str, FileToIndex],
    removed: Sequence[str],
    summary: Summary,
) -> Iterator[Change]:
    """Write the pages of changed files, and tell of each once it is there; pages in `removed` go at the end."""
    if not isinstance(store, QdrantStore):
        raise BadInput(f"a cluster fills folders, buckets and Qdrant servers, and {store} is none")
    written, readable = set[str](), set[str]()
    with index_workers(cluster, how, method, changed) as workers:
        metadata = [file.metadata for file in changed.values()]
        points = store.point_writer(workers.about(store), metadata)
        units = units_to_index(changed.values())
        for _, done in workers.run(units, PointOutput(points), summary):
            made: UnitPages = done.written
            readable.update(made.readable)
            for source, id in made.pages:
                file = changed[source]
                if file.known is not None:  # of a new file, nothing can be stale
                    written.add(id)
                yield change_of(id, file)

    stale = list[str]()
    for file in changed.values():
        stale += file.stale(written, readable)
    store.begin_writing()  # nobody has taken the place of this writer
    if stale or removed:
        store.delete(*stale, *removed)
    for id in stale:
        yield Change(id, "removed")
