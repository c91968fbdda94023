"""The store of a cluster: a Qdrant collection, multi-vector MAX_SIM computed by its servers. Needs the extra `qdrant`.

Inner products, not cosines: COSINE would scale every vector to length 1 when it is written, and a merged vector that is
shorter than its members would score higher than here. No graph over the many vectors of a page (hnsw m=0): building one
takes hours and searching it loses pages. A graph over the mean vectors proposes pages where there are many.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from qdrant_client.local.qdrant_local import QdrantLocal

from adamerge.arrays import Floats
from adamerge.errors import BadFile, BadInput, StoreUnavailable, TooLarge
from adamerge.search.candidates import rank_until_stable
from adamerge.store.base import AnyEncoder, Ranking, Source, Store, facts_of
from adamerge.store.entry import About, Entry
from adamerge.store.filters import OWN, parse
from adamerge.store.metadata import columns_of
from adamerge.store.points import plain, to_entry, to_point, to_qdrant, uuid_of, values_of

NUMBERS = 1_048_576  # of one multi-vector, which Qdrant refuses to exceed
EXACT_TO = 10_000  # pages that are all compared unless somebody asks for less
SCROLL = 64  # pages read at a time
TRIES, WAIT = (
    5,
    0.5,
)  # of a request that found the server busy or away; seconds before the second try, then twice that


def open_qdrant(
    url: str, *, api_key: str | None = None, timeout: int = 60, **options: Any
) -> "QdrantStore":
    """A collection of a server: http://host:6333/reports."""
    options.pop("memory", None)  # the server holds the vectors
    parts = urlsplit(url)
    name = parts.path.strip("/")
    if not parts.hostname or not name or "/" in name:
        raise BadInput(f"a Qdrant store is http://host:6333/collection, got {url!r}")
    port = parts.port or (443 if parts.scheme == "https" else 6333)
    client = QdrantClient(
        url=f"{parts.scheme}://{parts.hostname}:{port}",
        api_key=api_key,
        timeout=timeout,
        check_compatibility=False,
    )
    return QdrantStore(client, name, own=True, **options)


class QdrantStore(Store):
    """Pages in a collection."""

    dtypes = ("float16", "float32")

    def __init__(
        self,
        client: QdrantClient,
        collection: str,
        *,
        encoder: AnyEncoder | None = None,
        dtype: str | None = None,
        shard_number: int | None = None,
        replication_factor: int | None = None,
        own: bool = False,
    ) -> None:
        """Open a collection; it is made by the first page. The client is closed with the store if it is its own."""
        super().__init__(encoder, dtype)
        self.client, self.collection, self._own = client, collection, own
        self._local = isinstance(
            client._client, QdrantLocal
        )  # in process: no index, and warnings where one is asked for
        self._made_with = {"shard_number": shard_number, "replication_factor": replication_factor}
        self._columns: dict[str, str] = {}
        self.refresh()

    def begin(self) -> None:
        """Nothing to do: a server takes writes of many, but two indexing at once may each miss the other's pages."""

    def refresh(self) -> None:
        """See what others have made of the collection since."""
        if not self._ask("collection_exists"):
            self.about, self._columns = None, {}
            return
        described = (self._ask("get_collection").config.metadata or {}).get("adamerge")
        if described is None:
            raise BadFile(f"collection '{self.collection}' is not a store of adamerge")
        self._columns = described["columns"]
        self._opened(About.from_json(described["about"]))

    def __str__(self) -> str:
        """Where it is."""
        return f"collection '{self.collection}'"

    def __len__(self) -> int:
        """Pages in the store."""
        self.refresh()
        return self._count(None) if self.about else 0

    def _count(self, passing: models.Filter | None) -> int:
        return int(self._ask("count", passing, exact=True).count)

    # ------------------------------------------------------------------------------------------------- writing

    def _write(self, entries: list[Entry], about: About) -> None:
        for entry in entries:
            if entry.page.stored.size >= NUMBERS:
                raise TooLarge(
                    f"page '{entry.id}' has {entry.page.stored.shape[0]:,} vectors of {about.dimension}: Qdrant takes "
                    f"less than {NUMBERS:,} numbers a page; compress it further"
                )
        columns = self._widened([entry.metadata for entry in entries])
        points = [to_point(entry, about.dtype) for entry in entries]
        if self.about is None:
            self._create(about, columns)
        elif columns != self._columns:
            self._ask("update_collection", metadata=_described(about, columns))
        self._columns = columns
        self._ask("upsert", points, wait=True)

    def _widened(self, rows: list[Mapping[str, Any]]) -> dict[str, str]:
        return columns_of(rows, self._columns)

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
        self._ask(
            "create_collection", config, metadata=_described(about, columns), **self._made_with
        )
        if not self._local:  # which has no index of payloads
            for name, kind in OWN.items():
                self._ask("create_payload_index", name, "integer" if kind == "int" else "keyword")

    def delete(self, *ids: str, source: str | None = None) -> int:
        """Remove pages by id, or all pages of a source file, and return how many there were."""
        self.known()
        clauses: list[Any] = (
            [models.HasIdCondition(has_id=[uuid_of(id) for id in ids])] if ids else []
        )
        clauses += [_is("source", source)] if source is not None else []
        if not clauses:
            raise BadInput("delete what? give ids, or a source")
        which = models.Filter(should=clauses)
        count = self._count(which)
        self._ask("delete", models.FilterSelector(filter=which), wait=True)
        return count

    def label(self, labels: Mapping[str, Mapping[str, Any]]) -> None:
        """Set metadata of all pages of some source files."""
        about = self.known()
        columns = self._widened(list(labels.values()))
        self._ask("update_collection", metadata=_described(about, columns))
        self._columns = columns
        for source, metadata in labels.items():
            values = {name: plain(value) for name, value in metadata.items()}
            self._ask(
                "set_payload",
                values,
                models.Filter(must=[_is("source", source)]),
                key="metadata",
                wait=True,
            )

    def moved(self, roots: Mapping[str, str]) -> None:
        """Note that source files are in other folders now."""
        for source, root in roots.items():
            self._ask(
                "set_payload",
                {"root": root},
                models.Filter(must=[_is("source", source)]),
                wait=True,
            )

    def close(self) -> None:
        """Let go of the connection."""
        if self._own:
            self.client.close()

    # ------------------------------------------------------------------------------------------------- reading

    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries of those ids that are there, in the order of `ids`."""
        about = self.known()
        points = self._ask(
            "retrieve", [uuid_of(id) for id in ids], with_payload=True, with_vectors=["vectors"]
        )
        found = {point.payload["id"]: point for point in points if point.payload}
        return [to_entry(found[id], about, self._columns) for id in ids if id in found]

    def entries(self, where: str = "") -> Iterator[Entry]:
        """All entries that pass a filter, a batch at a time."""
        about = self.known()
        for point in self._scroll(to_qdrant(parse(where, self._columns)), True, ["vectors"]):
            yield to_entry(point, about, self._columns)

    def columns(self) -> dict[str, str]:
        """The names of metadata, and the kind of each."""
        self.refresh()
        return dict(self._columns)

    def sources(self) -> dict[str, Source]:
        """The files whose pages are here, by name."""
        found: dict[str, Source] = {}
        self.refresh()
        if self.about is None:
            return found
        for point in self._scroll(
            None, ["id", "source", "hash", "root", "pages", "metadata"], False
        ):
            row = point.payload
            values = values_of(row["metadata"], self._columns)
            source = found.setdefault(row["source"], Source({}, row["pages"], row["root"], values))
            source.ids[row["id"]] = row["hash"]
        return found

    def facts(self) -> dict[str, Any]:
        """What it holds; Qdrant does not tell its bytes on disk."""
        about = self.known()
        sums = dict.fromkeys(("patches", "rows", "extra"), 0)
        pages, sources = 0, set()
        for point in self._scroll(None, ["patches", "rows", "extra", "source"], False):
            sums = {name: total + point.payload[name] for name, total in sums.items()}
            pages += 1
            sources.add(point.payload["source"])
        vectors = sums["rows"] * about.dimension * np.dtype(about.dtype).itemsize
        return facts_of(
            about,
            self._columns,
            pages=pages,
            files=len(sources),
            **sums,
            vectors=vectors,
            total=None,
        )

    def _scroll(self, passing: models.Filter | None, payload: Any, vectors: Any) -> Iterator[Any]:
        place: Any = None
        while True:
            points, place = self._ask(
                "scroll", passing, SCROLL, offset=place, with_payload=payload, with_vectors=vectors
            )
            yield from points
            if place is None:
                return

    # ----------------------------------------------------------------------------------------------- searching

    def _rank(
        self, queries: list[Floats], k: int, where: str, exact: bool
    ) -> tuple[list[Ranking], dict[str, Entry]]:
        passing = to_qdrant(parse(where, self._columns))
        pages = self._count(passing)
        compare_all = exact or pages <= EXACT_TO
        rankings = [self._rank_one(query, k, passing, pages, compare_all) for query in queries]
        ids = {id: None for ranking in rankings for id, _ in ranking.best}
        return rankings, {entry.id: entry for entry in self.get(list(ids))}

    def _rank_one(
        self, query: Floats, k: int, passing: models.Filter | None, pages: int, exact: bool
    ) -> Ranking:
        if exact:
            return Ranking(self._maxsim(query, passing, k), "exact", pages, pages)
        mean = query.mean(0)

        def propose(n: int) -> list[str]:
            return [id for id, _ in self._query(mean.tolist(), "mean", passing, n)]

        def score(ids: list[str]) -> tuple[list[str], Floats]:
            among = models.Filter(must=[models.HasIdCondition(has_id=[uuid_of(id) for id in ids])])
            ranked = self._maxsim(query, among, len(ids)) if ids else []
            return [id for id, _ in ranked], np.array([score for _, score in ranked], np.float32)

        found, how, candidates = rank_until_stable(k, pages, propose, score)
        return Ranking(found, how, candidates, pages)

    def _maxsim(
        self, query: Floats, passing: models.Filter | None, k: int
    ) -> list[tuple[str, float]]:
        ranked = self._query(query.tolist(), "vectors", passing, k)
        return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))

    def _query(
        self, query: Any, using: str, passing: models.Filter | None, n: int
    ) -> list[tuple[str, float]]:
        params = None if self._local else models.SearchParams(exact=using == "vectors")
        found = self._ask(
            "query_points",
            query,
            using,
            query_filter=passing,
            limit=n,
            with_payload=["id"],
            search_params=params,
        )
        return [(point.payload["id"], point.score) for point in found.points]

    def _ask(self, what: str, *given: Any, **options: Any) -> Any:
        """The server's answer; asked again, each time after a longer wait, while it is busy or away."""
        for wait in (*(WAIT * 2**i for i in range(TRIES - 1)), None):
            try:
                return getattr(self.client, what)(self.collection, *given, **options)
            except (ResponseHandlingException, ResourceExhaustedResponse) as error:
                reason: Exception = error
            except UnexpectedResponse as error:
                if (
                    error.status_code is not None
                    and error.status_code < 500
                    and error.status_code != 429
                ):
                    raise BadInput(f"Qdrant refused: {' '.join(str(error).split())}") from None
                reason = error
            if wait is None:
                raise StoreUnavailable(f"Qdrant did not answer in {TRIES} tries: {reason}")
            time.sleep(wait)


def _described(about: About, columns: dict[str, str]) -> dict[str, Any]:
    return {"adamerge": {"about": about.json(), "columns": columns}}


def _is(key: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))
