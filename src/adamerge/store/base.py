"""What every store does: check, write in batches, and turn a ranking into hits. Databases differ below that."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from numbers import Integral
from threading import Lock, RLock
from types import TracebackType
from typing import Any, NamedTuple, Self

from adamerge.arrays import ArrayLike, Floats
from adamerge.encoders import Encoder, EncoderSpec
from adamerge.errors import BadInput, Mismatch, NotFound
from adamerge.search.match import matches
from adamerge.search.maxsim import checked
from adamerge.store.entry import DTYPES, About, Entry, batches
from adamerge.types import Compressed, Found, Hit

BATCH = 32  # pages of one write, which is there as a whole or not at all; queries that are answered together
AnyEncoder = Encoder | EncoderSpec | Mapping[str, Any] | str


class Ranking(NamedTuple):
    """The best pages for one query: (id, score), best first; how, candidates and pages are as in Found."""

    best: list[tuple[str, float]]
    how: str
    candidates: int
    pages: int


@dataclass(frozen=True)
class Source:
    """A file whose pages a store holds: how many pages it has, the folder it was in, its metadata."""

    ids: dict[str, str]  # id -> hash of the file when that page was indexed
    pages: int
    root: str
    metadata: dict[str, Any] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)  # id -> vectors that are stored of that page
    written: dict[str, int] = field(default_factory=dict)  # id -> when, in ns since 1970, if known

    @property
    def indexed(self) -> datetime | None:
        """When its last page was stored; None where the database does not tell."""
        if not self.written:
            return None
        return datetime.fromtimestamp(max(self.written.values()) / 1e9, UTC)


class Store(ABC):
    """A database of compressed pages; use open_store(). Every write is there when the call returns."""

    dtypes: tuple[str, ...] = DTYPES

    def __init__(self, encoder: AnyEncoder | None, dtype: str | None) -> None:
        """Remember who encodes; `about` stays None until the first page is there."""
        self._encoder: Encoder | None = None
        # by the user: a store may name code of anybody's
        self._asked_for: EncoderSpec | None = None
        self._loading = Lock()
        self._encoded_by: dict[str, Any] = {}
        self._copied_from = ""
        if dtype is not None and dtype not in self.dtypes:
            raise BadInput(f"this store keeps vectors as {', '.join(self.dtypes)}; got {dtype!r}")
        self._dtype = dtype
        self._changing = RLock()  # one thread writes at a time
        self.about: About | None = None
        if encoder is not None:
            self.encoded_by(encoder)

    def encoded_by(self, encoder: AnyEncoder, **settings: Any) -> None:
        """Say who encodes, with settings such as dpi; another than the one that made the pages is refused.

        One that is only named is not loaded before a text has to be encoded.
        """
        encoder = EncoderSpec(encoder) if isinstance(encoder, str) else encoder
        if isinstance(encoder, EncoderSpec):
            encoder.check_options()
            self._asked_for, self._encoder = encoder, None
            about = {"name": encoder.name, "options": dict(encoder.options)}
        elif isinstance(encoder, Mapping):
            self._encoder, about = None, dict(encoder)
        else:
            self._encoder, about = encoder, encoder.about
        if self.about is not None:
            self.about.check_encoder(about | settings)
        self._encoded_by = about | settings

    def like(self, about: About) -> None:
        """Take pages of another store: of its encoder, and in its dtype if this one is new and nobody chose."""
        self.encoded_by(about.encoder)
        self._copied_from = about.made
        if self.about is None and self._dtype is None and about.dtype in self.dtypes:
            self._dtype = about.dtype

    def _opened(self, about: About) -> None:
        """Take what the database says of itself, and refuse to be something else."""
        about.check_encoder(self._encoded_by)
        if self._dtype is not None and about.dtype != self._dtype:
            raise Mismatch(
                f"the store keeps vectors as {about.dtype}, not {self._dtype}: use another store"
            )
        self.about = about

    def add(self, pages: Entry | Compressed | Iterable[Entry | Compressed]) -> int:
        """Store pages, each in place of the one of its id, and return how many; any iterable goes, read lazily.

        A page of another method or dimension, without vectors or with nan is refused before its batch is written.
        """
        count = 0
        self.refresh()
        for batch in batches(pages, BATCH):
            first = batch[0].page
            with self._changing:
                about = self.about or About(
                    first.vectors.shape[1],
                    first.method,
                    self._dtype or self.dtypes[0],
                    self._encoded_by,
                    copied_from=self._copied_from,
                )
                for entry in batch:
                    about.check_page(entry.page)
                self._write(batch, about)
                self.about = about
            count += len(batch)
        return count

    def search(
        self,
        query: str | ArrayLike,
        k: int = 10,
        where: str = "",
        *,
        exact: bool = False,
        why: bool = True,
    ) -> Found:
        """The k best pages for a query: its text, or its vectors (q, d).

        where   a filter on metadata, id, source and number, in SQL: "year >= 2020 and language = 'en'"
        exact   compare every page, however many there are
        why     also find where on each page every query vector matched
        """
        return self.search_all([query], k, where, exact=exact, why=why)[0]

    def search_all(
        self,
        queries: Sequence[str | ArrayLike],
        k: int = 10,
        where: str = "",
        *,
        exact: bool = False,
        why: bool = True,
    ) -> list[Found]:
        """What `search` finds for each of many queries, in less time: pages are compared with many at once."""
        if not isinstance(k, Integral) or k < 1:
            raise BadInput(f"k must be a whole number, at least 1, got {k!r}")
        vectors = self._vectors(queries)
        found: list[Found] = []
        for batch in (vectors[i : i + BATCH] for i in range(0, len(vectors), BATCH)):
            rankings, entries = self._rank(batch, k, where.strip(), exact)
            for query, ranking in zip(batch, rankings, strict=True):
                hits = _hits(ranking, entries, query if why else None)
                found.append(Found(hits, ranking.how, ranking.candidates, ranking.pages))
        return found

    def _vectors(self, queries: Sequence[str | ArrayLike]) -> list[Floats]:
        """The vectors (q, d) of each query: as given, or of its text by the encoder that made the pages."""
        about = self.known()
        texts = [query for query in queries if isinstance(query, str)]
        encoded = iter(self.load_encoder().encode_queries(texts) if texts else ())
        return [
            next(encoded) if isinstance(query, str) else checked(query, about.dimension)
            for query in queries
        ]

    def load_encoder(self, device: str | None = None) -> Encoder:
        """The encoder that made the pages, with the options that made them; loaded once."""
        about = self.known()
        with self._loading:
            if self._encoder is None:
                encoder = self.encoder_spec(device).load()
                about.check_encoder({key: encoder.about.get(key) for key in ("name", "revision")})
                self._encoder = encoder
            return self._encoder

    def encoder_spec(self, device: str | None = None) -> EncoderSpec:
        """Which encoder made the pages, and with which options."""
        spec = EncoderSpec.recorded(self.known().encoder, device)
        if spec is None:
            raise BadInput(
                "the store does not know which encoder made its pages: give the query's vectors, "
                "or open_store(..., encoder=)"
            )
        asked_for = self._asked_for is not None and self._asked_for.name == spec.name
        return replace(spec, trusted=asked_for)

    def known(self) -> About:
        """What made the pages, as it is now; an error where there are none."""
        self.refresh()
        if self.about is None:
            raise NotFound(f"{self} holds no pages yet: store.add(...) or adamerge index")
        return self.about

    def __enter__(self) -> Self:
        """Nothing to do: the store is open."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        """Close the store; what was added stays."""
        self.close()

    @abstractmethod
    def __len__(self) -> int:
        """Pages in the store."""

    @abstractmethod
    def refresh(self) -> None:
        """See what others have made of the store since: made it, or put another in its place."""

    @abstractmethod
    def begin(self) -> None:
        """Become the writer now, where a database has but one, instead of with the first write."""

    @abstractmethod
    def moved(self, roots: Mapping[str, str]) -> None:
        """Note that source files are in other folders now."""

    @abstractmethod
    def delete(self, *ids: str, source: str | None = None) -> int:
        """Remove pages by id, or all pages of a source file, and return how many there were."""

    @abstractmethod
    def get(self, ids: Sequence[str]) -> list[Entry]:
        """The entries of those ids that are there, in the order of `ids`."""

    @abstractmethod
    def entries(self, where: str = "") -> Iterator[Entry]:
        """All entries that pass a filter, a batch at a time."""

    @abstractmethod
    def sources(self) -> dict[str, Source]:
        """The files whose pages are here, by name."""

    @abstractmethod
    def columns(self) -> dict[str, str]:
        """The names of metadata, and the kind of each: bool, int, float, text, time or date."""

    @abstractmethod
    def label(self, labels: Mapping[str, Mapping[str, Any]]) -> None:
        """Set metadata of all pages of some source files."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What it holds: pages, vectors, bytes, and what made them."""

    @abstractmethod
    def close(self) -> None:
        """Finish writing and let the next writer in."""

    @abstractmethod
    def _write(self, entries: list[Entry], about: About) -> None:
        """Insert or replace checked entries at once; make the database first if it is not there."""

    @abstractmethod
    def _rank(
        self, queries: list[Floats], k: int, where: str, exact: bool
    ) -> tuple[list[Ranking], dict[str, Entry]]:
        """The best k pages that pass a filter, for each query, and the entries of all of them by id."""


def _hits(ranking: Ranking, entries: Mapping[str, Entry], query: Floats | None) -> tuple[Hit, ...]:
    """The hits of a ranking; a page that was removed between the two is none."""
    there = [(entries[id], score) for id, score in ranking.best if id in entries]
    return tuple(_hit(entry, score, query) for entry, score in there)


def _hit(entry: Entry, score: float, query: Floats | None) -> Hit:
    found = () if query is None else matches(query, entry.page, entry.words)
    return Hit(entry.id, score, entry.source, entry.number, entry.metadata, found)


def facts_of(
    about: About,
    columns: Mapping[str, str],
    *,
    pages: int,
    files: int,
    patches: int,
    rows: int,
    extra: int,
    vectors: int,
    total: int | None,
) -> dict[str, Any]:
    """The facts of a store in the order a person reads them; bytes are null where the database does not tell."""
    facts: dict[str, Any] = {
        "pages": pages,
        "files": files,
        "dimensions": about.dimension,
        "dtype": about.dtype,
    }
    facts |= {"method": about.method, "patches": patches, "stored": rows - extra, "extra": extra}
    facts |= {
        "compression": 1 - (rows - extra) / patches if patches else 0.0,
        "bytes of vectors": vectors,
    }
    facts |= {
        "bytes of the rest": None if total is None else total - vectors,
        "bytes in all": total,
    }
    facts |= {"bytes per page": None if total is None or not pages else total // pages}
    if columns:
        facts |= {"metadata": ", ".join(f"{name} {kind}" for name, kind in columns.items())}
    return facts | about.encoder
