"""What every store does: check pages, write them in batches, search them. What databases do differently is abstract."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from threading import Lock, RLock
from types import TracebackType
from typing import Any, Self

from adamerge.arrays import ArrayLike, Floats
from adamerge.codes import DTYPES
from adamerge.encoders import DEFAULT_ENCODER, Encoder, EncoderSpec
from adamerge.errors import BadInput, Mismatch, NotFound
from adamerge.search import Found, Ranking, check_query, hits_of
from adamerge.store.about import DEFAULT_DTYPE, About, rotation_of
from adamerge.store.entry import Entry, Source, entry_batches
from adamerge.types import Compressed, shortened, shown

PAGES_PER_WRITE = 32  # each write is there as a whole or not at all
QUERIES_AT_ONCE = 32  # that are compared with a page while it is read
AnyEncoder = Encoder | EncoderSpec | Mapping[str, Any] | str


class Store(ABC):
    """A database of compressed pages; use open_store(). Every write is there when the call returns."""

    dtypes: tuple[str, ...] = DTYPES
    default_dtype: str = DEFAULT_DTYPE

    def __init__(self, encoder: AnyEncoder | None, dtype: str | None) -> None:
        """Remember who encodes; `about` stays None until the first page is there."""
        if dtype is not None:
            self._check_dtype(dtype)
        self.about: About | None = None
        self._dtype = dtype
        self._copied_from = ""
        self._changing = RLock()  # one thread writes at a time

        self._encoder: Encoder | None = None
        self._encoder_about: dict[str, Any] = {}
        # What the user named. A store may name any code, so only this is trusted.
        self._encoder_asked_for: EncoderSpec | None = None
        self._query_prefix: str | None = None
        self._loading = Lock()
        if encoder is not None:
            self.set_encoder(encoder)

    # ------------------------------------------------------------------------------------------------- encoder

    def set_encoder(self, encoder: AnyEncoder, **settings: Any) -> None:
        """Say which encoder makes the pages, with settings such as dpi; another than that of the pages is refused.

        An encoder that is only named is not loaded before a text has to be encoded.
        """
        if isinstance(encoder, str):
            encoder = EncoderSpec(encoder)

        loaded: Encoder | None = None
        asked_for = self._encoder_asked_for
        if isinstance(encoder, EncoderSpec):
            encoder.check_options()
            asked_for = encoder
            about = {"name": encoder.name, "options": dict(encoder.options)}
        elif isinstance(encoder, Mapping):
            about = dict(encoder)
        else:
            loaded = encoder
            about = encoder.about

        about = about | settings
        if self.about is not None:
            self.about.check_encoder(about)
        self._encoder = loaded
        self._encoder_about = about
        self._encoder_asked_for = asked_for

    def set_query_prefix(self, prefix: str | None) -> None:
        """Put other words before every query than those that the store records; None leaves them as they are."""
        if prefix is None:
            return
        with self._loading:
            self._query_prefix = prefix
            self._encoder = None  # it is loaded again with the new words

    def load_encoder(self, device: str | None = None) -> Encoder:
        """The encoder that made the pages, with the options that made them; loaded once."""
        about = self.require_about()
        with self._loading:
            if self._encoder is None:
                encoder = self.encoder_spec(device).load()
                identity = {key: encoder.about.get(key) for key in ("name", "revision")}
                about.check_encoder(identity)
                self._encoder = encoder
            return self._encoder

    def encoder_spec(self, device: str | None = None) -> EncoderSpec:
        """Which encoder made the pages, and with which options."""
        spec = EncoderSpec.recorded(self.require_about().encoder, device)
        if spec is None:
            raise BadInput(
                "the store does not know which encoder made its pages: give the query's vectors, "
                "or open_store(..., encoder=)"
            )
        asked_for = self._encoder_asked_for
        is_trusted = asked_for is not None and asked_for.name == spec.name
        return replace(spec, trusted=is_trusted).with_query_prefix(self._query_prefix)

    def asked_encoder(self) -> EncoderSpec:
        """The encoder that the user named, else the usual one: for a store that has no pages yet."""
        return self._encoder_asked_for or EncoderSpec(DEFAULT_ENCODER)

    # --------------------------------------------------------------------------------------------- description

    def require_about(self) -> About:
        """What made the pages, as the store says now; an error where there are no pages."""
        self.refresh()
        if self.about is None:
            raise NotFound(f"{self} holds no pages yet: store.add(...) or adamerge index")
        return self.about

    def _set_about(self, about: About) -> None:
        """Take what the database says of itself; refuse it if the user asked for another encoder or dtype."""
        about.check_encoder(self._encoder_about)
        if self._dtype is not None and about.dtype != self._dtype:
            raise Mismatch(
                f"the store keeps vectors as {about.dtype}, not {self._dtype}: use another store"
            )
        self.about = about

    def choose_dtype(self, dtype: str) -> None:
        """Keep vectors in this dtype; refused if the store holds pages in another one, or another one was chosen."""
        self._check_dtype(dtype)
        chosen = self.chosen_dtype
        if chosen is not None and chosen != dtype:
            raise Mismatch(f"the store keeps vectors as {chosen}, not {dtype}: use another store")
        self._dtype = dtype

    @property
    def chosen_dtype(self) -> str | None:
        """The dtype of the pages, or of those to come; None while nobody has chosen one."""
        if self.about is not None:
            return self.about.dtype
        return self._dtype

    def _check_dtype(self, dtype: str) -> None:
        if dtype not in self.dtypes:
            raise BadInput(f"this store keeps vectors as {', '.join(self.dtypes)}; got {dtype!r}")

    def prepare_copy(self, about: About) -> None:
        """Get ready for the pages of another store: take its encoder, and its dtype if nobody chose one.

        A dtype of more bytes is refused, unless this database has no dtype of so few.
        """
        self.set_encoder(about.encoder)
        self._copied_from = about.made
        if about.dtype not in self.dtypes:
            return
        chosen = self.chosen_dtype
        if chosen is None:
            self._dtype = about.dtype
        elif DTYPES.index(chosen) < DTYPES.index(about.dtype):
            raise Mismatch(
                f"the pages are kept as {about.dtype}, and as {chosen} they would take more bytes and be no "
                f"better: what rounding took away does not come back. Copy them as {about.dtype}, or index "
                f"their files again with --dtype {chosen}"
            )

    # ------------------------------------------------------------------------------------------------- writing

    def add(
        self, pages: Entry | Compressed | Iterable[Entry | Compressed], *, metadata: None = None
    ) -> int:
        """Store pages, each in place of the page of its id, and return how many; any iterable is read lazily.

        A page of another method or dimension, without vectors or with nan is refused before its batch is written.
        Metadata belong to a page: given here, they are refused with the line to write.
        """
        if metadata is not None:
            raise BadInput(
                "metadata belong to a page: store.add(am.Entry(page, metadata={'year': 2020}))"
            )
        count = 0
        self.refresh()
        for batch in entry_batches(pages, PAGES_PER_WRITE):
            with self._changing:
                about = self.about or self._about_of_new_store(batch[0].page)
                for entry in batch:
                    about.check_page(entry.page)
                self._write(batch, about)
                self.about = about
            count += len(batch)
        return count

    def _about_of_new_store(self, first: Compressed) -> About:
        """What a store says of itself from its first page on; its dtype is that of the page if nobody chose one."""
        dtype = None
        if self._dtype is None and first.rows is not None:
            dtype = first.rows.dtype
            self._check_dtype(dtype)
        return self.new_about(first.vectors.shape[1], first.method, dtype)

    def new_about(self, dimension: int, method: str, dtype: str | None = None) -> About:
        """What a new store says of itself; `dtype` is taken if nobody chose one."""
        dtype = self._dtype or dtype or self.default_dtype
        return About(
            dimension,
            method,
            dtype,
            self._encoder_about,
            copied_from=self._copied_from,
            rotation=rotation_of(dtype),
        )

    # ----------------------------------------------------------------------------------------------- searching

    def search(
        self,
        query: str | ArrayLike,
        k: int = 10,
        where: str = "",
        *,
        exact: bool = False,
        why: bool = True,
        words: str | None = None,
    ) -> Found:
        """The k best pages for a query: its text, or its vectors (q, d).

        where   a filter on metadata, id, source and number, in SQL: "year >= 2020 and language = 'en'"
        exact   compare every page, however many there are
        why     also find where on each page every query vector matched
        words   also rank by the words of this text, mostly that of the query: a hybrid search
        """
        of_words = None if words is None else [words]
        return self.search_all([query], k, where, exact=exact, why=why, words=of_words)[0]

    def search_all(
        self,
        queries: Sequence[str | ArrayLike],
        k: int = 10,
        where: str = "",
        *,
        exact: bool = False,
        why: bool = True,
        words: Sequence[str] | None = None,
    ) -> list[Found]:
        """What `search` finds for each of many queries, in less time: a page is read once for many queries."""
        if not isinstance(k, Integral) or k < 1:
            raise BadInput(f"k must be a whole number, at least 1, got {k!r}")
        _check_words(words, len(queries))
        vectors = self._encode_queries(queries)
        found: list[Found] = []
        for begin in range(0, len(vectors), QUERIES_AT_ONCE):
            end = begin + QUERIES_AT_ONCE
            batch = vectors[begin:end]
            if words is None:
                rankings, entries = self._rank(batch, k, where.strip(), exact)
            else:
                texts = words[begin:end]
                rankings, entries = self._rank_by_both(batch, texts, k, where.strip(), exact)
            for query, ranking in zip(batch, rankings, strict=True):
                hits = hits_of(ranking, entries, query if why else None)
                how = ranking.how, ranking.candidates, ranking.pages, ranking.first_stage
                found.append(Found(hits, *how, by_words=words is not None))
        return found

    def _encode_queries(self, queries: Sequence[str | ArrayLike]) -> list[Floats]:
        """The vectors (q, d) of each query: as given, or of its text by the encoder that made the pages."""
        d = self.require_about().dimension
        texts = [query for query in queries if isinstance(query, str)]
        encoded: Iterator[Floats] = iter(())
        if texts:
            encoded = iter(self.load_encoder().encode_queries(texts))

        vectors = []
        for query in queries:
            if isinstance(query, list | tuple) and query and isinstance(query[0], str):
                raise BadInput(
                    f"search takes one query, got a list of {len(query)}: store.search_all(queries)"
                )
            if isinstance(query, str):
                vectors.append(next(encoded))
            else:
                vectors.append(check_query(query, d))
        return vectors

    def _rank_by_both(
        self, queries: list[Floats], texts: Sequence[str], k: int, where: str, exact: bool
    ) -> tuple[list[Ranking], dict[str, Entry]]:
        """What `_rank` gives, by the vectors of each query and the words of its text, where a database has both."""
        raise BadInput(
            f"{self} is searched by vectors alone. To search by words too, copy it into a folder: "
            "adamerge copy FROM reports.store"
        )

    # ------------------------------------------------------------------------------- what each database does

    def __repr__(self) -> str:
        """What kind of store it is, and where."""
        return shown(type(self).__name__, str(self))

    def __enter__(self) -> Self:
        """The store, which is open already."""
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
        """See what other processes did to the store: they may have made it, or replaced it by another one."""

    @abstractmethod
    def begin_writing(self) -> None:
        """Become the one writer now and not with the first write; Locked where there is another one."""

    @abstractmethod
    def set_roots(self, roots: Mapping[str, str]) -> None:
        """Note in which folder each of some source files is now."""

    @abstractmethod
    def set_metadata(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Set metadata of all pages of some source files: source -> values by name."""

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
        """The files whose pages are in the store, by name."""

    @abstractmethod
    def columns(self) -> dict[str, str]:
        """The names of metadata, and the kind of each: bool, int, float, text, time or date."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What the store holds: pages, vectors, bytes, and what made them."""

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


def _check_words(words: Sequence[str] | None, queries: int) -> None:
    """Refuse anything but a text for each query."""
    if words is None:
        return
    if isinstance(words, str) or len(words) != queries:
        raise BadInput(
            f"words must be a text for each query: {queries} queries, got {shortened(repr(words))}"
        )
    for text in words:
        if not isinstance(text, str):
            raise BadInput(
                f"words must be a text, got {type(text).__name__}: "
                'store.search(query, words="who repairs the clock?")'
            )
