"""The store of a cluster: a Qdrant collection, whose servers compute MaxSim (MAX_SIM over multi-vectors).

Inner products, not cosines: COSINE would scale every vector to length 1 when it is written, and a merged vector, which
is shorter than its members, would score higher than in other stores. No graph over the many vectors of a page
(hnsw m=0): to build one takes hours, and a search of it loses pages. A graph over the mean vectors proposes candidates
among many pages.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.local.qdrant_local import QdrantLocal

from adamerge.arrays import Floats
from adamerge.codes import DTYPES
from adamerge.errors import BadFile, BadInput, TooLarge
from adamerge.search import Ranking, rank_in_two_stages
from adamerge.store.about import About
from adamerge.store.base import AnyEncoder, Store
from adamerge.store.entry import Entry, Source
from adamerge.store.facts import Totals, facts_of
from adamerge.store.filter_parser import parse_filter
from adamerge.store.filters import OWN_COLUMNS
from adamerge.store.limits import QDRANT_DTYPES, QDRANT_NUMBERS
from adamerge.store.metadata import columns_of
from adamerge.store.qdrant.collection import Collection
from adamerge.store.qdrant.filters import has_value, to_qdrant
from adamerge.store.qdrant.point_writer import PointWriter
from adamerge.store.qdrant.points import (
    metadata_from_json,
    to_entry,
    to_json,
    to_point,
    uuid_of,
)
from adamerge.store.qdrant.writer_lock import WriterLock

EXACT_UP_TO = 10_000  # pages; more are searched in two stages


def open_qdrant(
    url: str, *, api_key: str | None = None, timeout: int = 60, **options: Any
) -> "QdrantStore":
    """A collection of a server: http://host:6333/reports."""
    options.pop("memory", None)  # the server holds the vectors
    parts = urlsplit(url)
    name = parts.path.strip("/")
    if not parts.hostname or not name or "/" in name:
        raise BadInput(f"a Qdrant store is http://host:6333/collection, got {url!r}")
    default_port = 443 if parts.scheme == "https" else 6333
    port = parts.port or default_port
    client = QdrantClient(
        url=f"{parts.scheme}://{parts.hostname}:{port}",
        api_key=api_key,
        timeout=timeout,
        check_compatibility=False,
    )
    return QdrantStore(client, name, url=url, **options)


class QdrantStore(Store):
    """Pages in a collection."""

    dtypes = QDRANT_DTYPES
    default_dtype = "float16"

    def __init__(
        self,
        client: QdrantClient,
        collection: str,
        *,
        encoder: AnyEncoder | None = None,
        dtype: str | None = None,
        shard_number: int | None = None,
        replication_factor: int | None = None,
        url: str = "",
    ) -> None:
        """Open a collection; the first page makes it.

        url  of the collection, if the client was made for this store alone: it is closed with the store
        """
        super().__init__(encoder, dtype)
        self._collection = Collection(client, collection)
        self._url = url
        # A server in this process has no indexes, and warns where one is asked for.
        self._is_local = isinstance(client._client, QdrantLocal)
        self._made_with = {"shard_number": shard_number, "replication_factor": replication_factor}
        self._columns: dict[str, str] = {}
        self._lock: WriterLock | None = None
        self.refresh()

    def _check_dtype(self, dtype: str) -> None:
        """Refuse a dtype that a server does not keep, and say what it has instead of few bits."""
        if dtype in DTYPES and dtype not in self.dtypes:
            raise BadInput(
                f"Qdrant keeps vectors as {', '.join(self.dtypes)}; got {dtype!r}: index without it, and let the "
                "server quantise (the quantization_config of its collection), or keep them in a folder or bucket"
            )
        super()._check_dtype(dtype)

    def begin_writing(self) -> None:
        """Become the one process that indexes, until close(); Locked where there is one. Any number may add pages."""
        if self._is_local:
            return
        if self._lock is not None:
            self._lock.check()
            return
        lock = WriterLock(self._collection)
        if self._collection.exists():
            lock.take()
        self._lock = lock

    def refresh(self) -> None:
        """See what other processes did to the collection."""
        if not self._collection.exists():
            self.about, self._columns = None, {}
            return
        described = self._collection.metadata().get("adamerge")
        if described is None:
            raise BadFile(f"{self} is not a store of adamerge")
        self._columns = described["columns"]
        self._set_about(About.from_json(described["about"]))

    def __str__(self) -> str:
        """The name of the collection."""
        return str(self._collection)

    def __len__(self) -> int:
        """Pages in the store."""
        self.refresh()
        return self._collection.count(None) if self.about else 0

    # ------------------------------------------------------------------------------------------------- writing

    def _write(self, entries: list[Entry], about: About) -> None:
        for entry in entries:
            if entry.page.stored.size >= QDRANT_NUMBERS:
                raise TooLarge(
                    f"page '{entry.id}' has {entry.page.stored.shape[0]:,} vectors of {about.dimension}: Qdrant takes "
                    f"less than {QDRANT_NUMBERS:,} numbers a page; compress it further"
                )
        points = [to_point(entry, about.dtype) for entry in entries]
        self._prepare(about, [entry.metadata for entry in entries])
        self._collection.ask("upsert", points, wait=True)

    def _prepare(self, about: About, metadata: Iterable[Mapping[str, Any]]) -> None:
        """Make the collection if it is not there, and note the new names of metadata."""
        if self._lock is not None:
            self._lock.check()
        columns = columns_of(metadata, self._columns)
        if self.about is None:
            self._create(about, columns)
        elif columns != self._columns:
            self._collection.merge_metadata(_described(about, columns))
        self._columns = columns

    def point_writer(self, about: About, metadata: Iterable[Mapping[str, Any]]) -> PointWriter:
        """What other processes need to write pages with such metadata; the collection is there when they begin."""
        if not self._url:
            raise BadInput(
                "other processes reach a Qdrant server by its address: "
                'open_store("http://host:6333/reports")'
            )
        with self._changing:
            self._prepare(about, metadata)
            self.about = about
        return PointWriter(self._url, about)

    def _create(self, about: About, columns: dict[str, str]) -> None:
        many = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
        vectors = models.VectorParams(
            size=about.dimension,
            distance=models.Distance.DOT,
            datatype=models.Datatype(about.dtype),
            multivector_config=many,
            hnsw_config=models.HnswConfigDiff(m=0),
            on_disk=True,
        )
        mean = models.VectorParams(size=about.dimension, distance=models.Distance.DOT)
        config = {"vectors": vectors, "mean": mean}
        metadata = _described(about, columns)
        if self._lock is not None:
            metadata |= self._lock.metadata()
        self._collection.ask("create_collection", config, metadata=metadata, **self._made_with)
        if self._lock is not None:
            self._lock.go_on()
        if self._is_local:
            return
        for name, kind in OWN_COLUMNS.items():
            index = "integer" if kind == "int" else "keyword"
            self._collection.ask("create_payload_index", name, index)

    def delete(self, *ids: str, source: str | None = None) -> int:
        """Remove pages by id, or all pages of a source file, and return how many there were."""
        self.require_about()
        conditions: list[Any] = []
        if ids:
            conditions.append(_has_one_of(ids))
        if source is not None:
            conditions.append(has_value("source", source))
        if not conditions:
            raise BadInput("delete what? give ids, or a source")

        passing = models.Filter(should=conditions)
        count = self._collection.count(passing)
        self._collection.ask("delete", models.FilterSelector(filter=passing), wait=True)
        return count

    def set_metadata(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Set metadata of all pages of some source files: source -> values by name."""
        about = self.require_about()
        columns = columns_of(values.values(), self._columns)
        self._collection.merge_metadata(_described(about, columns))
        self._columns = columns
        for source, metadata in values.items():
            pages = models.Filter(must=[has_value("source", source)])
            self._collection.ask("set_payload", to_json(metadata), pages, key="metadata", wait=True)

    def set_roots(self, roots: Mapping[str, str]) -> None:
        """Note in which folder each of some source files is now."""
        for source, root in roots.items():
            pages = models.Filter(must=[has_value("source", source)])
            self._collection.ask("set_payload", {"root": root}, pages, wait=True)

    def close(self) -> None:
        """Let the next writer in, and close the connection if it is that of this store alone."""
        try:
            if self._lock is not None:
                self._lock.release()
                self._lock = None
        finally:
            if self._url:
                self._collection.client.close()

    # ------------------------------------------------------------------------------------------------- reading

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries of those ids that are there, in the order of `ids`."""
        about = self.require_about()
        uuids = [uuid_of(id) for id in ids]
        points = self._collection.ask(
            "retrieve", uuids, with_payload=True, with_vectors=["vectors"]
        )
        found = {point.payload["id"]: point for point in points if point.payload}
        return [to_entry(found[id], about, self._columns) for id in ids if id in found]

    def entries(self, where: str = "") -> Iterator[Entry]:
        """All entries that pass a filter, a batch at a time."""
        about = self.require_about()
        passing = to_qdrant(parse_filter(where, self._columns))
        for point in self._collection.scroll(passing, True, ["vectors"]):
            yield to_entry(point, about, self._columns)

    def columns(self) -> dict[str, str]:
        """The names of metadata, and the kind of each."""
        self.refresh()
        return dict(self._columns)

    def sources(self) -> dict[str, Source]:
        """The files whose pages are in the store, by name."""
        found: dict[str, Source] = {}
        self.refresh()
        if self.about is None:
            return found
        columns = ["id", "source", "hash", "root", "pages", "rows", "metadata"]
        for point in self._collection.scroll(None, columns, False):
            row = point.payload
            name, id = row["source"], row["id"]
            if name not in found:
                values = metadata_from_json(row["metadata"], self._columns)
                found[name] = Source({}, row["pages"], row["root"], values)
            found[name].hashes[id] = row["hash"]
            found[name].vector_counts[id] = row["rows"]
        return found

    def facts(self) -> dict[str, Any]:
        """What the store holds; Qdrant does not tell its bytes on disk."""
        about = self.require_about()
        pages = patches = rows = extra = 0
        sources = set()
        for point in self._collection.scroll(None, ["patches", "rows", "extra", "source"], False):
            pages += 1
            patches += point.payload["patches"]
            rows += point.payload["rows"]
            extra += point.payload["extra"]
            sources.add(point.payload["source"])
        totals = Totals(pages, len(sources), patches, rows, extra, total_bytes=None)
        return facts_of(about, self._columns, totals)

    # ----------------------------------------------------------------------------------------------- searching

    def _rank(
        self, queries: list[Floats], k: int, where: str, exact: bool
    ) -> tuple[list[Ranking], dict[str, Entry]]:
        passing = to_qdrant(parse_filter(where, self._columns))
        pages = self._collection.count(passing)
        is_exact = exact or pages <= EXACT_UP_TO
        rankings = []
        ids: dict[str, None] = {}  # each once, in order
        for query in queries:
            if is_exact:
                best = self._maxsim(query, passing, k)
                ranking = Ranking(best, "exact", pages, pages)
            else:
                ranking = self._rank_candidates(query, k, passing, pages)
            rankings.append(ranking)
            ids |= dict.fromkeys(id for id, _ in ranking.best)
        return rankings, {entry.id: entry for entry in self.get(list(ids))}

    def _rank_candidates(
        self, query: Floats, k: int, passing: models.Filter | None, pages: int
    ) -> Ranking:
        """The best k of the pages that pass a filter: the graph of the means proposes, MaxSim decides."""
        mean = query.mean(0)

        def propose(n: int) -> list[str]:
            return [id for id, _ in self._query(mean.tolist(), "mean", passing, n)]

        def score(ids: list[str]) -> tuple[list[str], Floats]:
            if not ids:
                return [], np.zeros(0, np.float32)
            candidates = models.Filter(must=[_has_one_of(ids)])
            ranked = self._maxsim(query, candidates, len(ids))
            scores = np.array([score for _, score in ranked], np.float32)
            return [id for id, _ in ranked], scores

        return rank_in_two_stages(k, pages, propose, score, "mean vectors")

    def _maxsim(
        self, query: Floats, passing: models.Filter | None, k: int
    ) -> list[tuple[str, float]]:
        """The k pages with the largest MaxSim, the best one first; equal scores are in the order of their ids."""
        ranked = self._query(query.tolist(), "vectors", passing, k)
        return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))

    def _query(
        self, query: Any, using: str, passing: models.Filter | None, n: int
    ) -> list[tuple[str, float]]:
        """The n points with the largest scores of one of their vectors: (id, score)."""
        params = None
        if not self._is_local:
            params = models.SearchParams(exact=using == "vectors")
        found = self._collection.ask(
            "query_points",
            query,
            using,
            query_filter=passing,
            limit=n,
            with_payload=["id"],
            search_params=params,
        )
        return [(point.payload["id"], point.score) for point in found.points]


def _described(about: About, columns: dict[str, str]) -> dict[str, Any]:
    """What the collection says of itself, in its metadata."""
    return {"adamerge": {"about": about.json(), "columns": columns}}


def _has_one_of(ids: Sequence[str]) -> models.HasIdCondition:
    return models.HasIdCondition(has_id=[uuid_of(id) for id in ids])
