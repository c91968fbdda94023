"""The store as the server reads it: searches, pages and numbers, in threads. The server never writes it."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from adamerge.arrays import Floats
from adamerge.compress import DEFAULT_METHOD
from adamerge.encoders import Encoder
from adamerge.errors import (
    AdamergeError,
    BadFile,
    BadInput,
    Busy,
    Mismatch,
    NotFound,
    StoreUnavailable,
)
from adamerge.inspector.stored_page import file_of
from adamerge.search import Found, Match, matches_in
from adamerge.server.params import SearchQuery
from adamerge.server.reader.query_batcher import QueryBatcher
from adamerge.server.reader.query_words import QueryWord, join_tokens
from adamerge.server.reader.thread_slots import ThreadSlots
from adamerge.server.settings import Limits
from adamerge.store import DEFAULT_DTYPE, Entry, Store, is_store, open_named
from adamerge.store.contents import StoredFile, files_of
from adamerge.store.entry import Source

T = TypeVar("T")
EncodedQuery = tuple[Floats, list[str]]  # vectors (q, d) of a query, and the token behind each
READ_THREADS = 4  # for pages, pictures and numbers
SEARCH_THREADS = 2  # more would make batches smaller, and the kernel takes every core
REMEMBERED_QUERIES = 512  # whose vectors are kept
FACTS_SECONDS = 5.0  # that the numbers and files of the store may be old


def as_name(fact: str) -> str:
    """The name of a fact in JSON: bytes_in_all."""
    return fact.replace(" ", "_")


FACTS = (
    "pages",
    "files",
    "dimensions",
    "dtype",
    "method",
    "patches",
    "stored",
    "extra",
    "compression",
    "bytes of vectors",
    "bytes of the rest",
    "bytes in all",
    "bytes per page",
    "encoder",
    "revision",
)
EMPTY: dict[str, Any] = dict.fromkeys(map(as_name, FACTS), 0)  # the facts of a store without pages
EMPTY |= {"dtype": DEFAULT_DTYPE, "method": DEFAULT_METHOD, "compression": 0.0, "revision": None}


class SearchTimeout(Busy):
    """A search that took longer than its time limit."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found, for which words, and in how many milliseconds."""

    found: Found
    words: list[QueryWord]
    milliseconds: float


class StoreReader:
    """An open store and its encoder, loaded once."""

    def __init__(
        self,
        where: str,
        limits: Limits | None = None,
        *,
        may_be_empty: bool = False,
        **options: Any,
    ) -> None:
        """Open the store and load the encoder that made its pages, if it is known.

        may_be_empty   a store that is not there yet is one without pages; its encoder is the one that is named, or
                       the usual one
        """
        self.where = where
        self.limits = limits or Limits()
        self.store: Store = open_named(where, **options)
        self._may_be_empty = may_be_empty
        self.encoder: Encoder | None = self._load_encoder()
        self._encoding = threading.Lock()  # guards the remembered queries
        self._encoded: dict[str, EncodedQuery] = {}  # oldest first
        self._readers = ThreadSlots(READ_THREADS)
        self.searches: QueryBatcher[SearchQuery, SearchResult] = QueryBatcher(
            lambda queries: self._reading(lambda: self.search_all(queries)),
            SEARCH_THREADS,
            self.limits.waiting_searches,
        )
        self._facts_at = -FACTS_SECONDS
        self._facts: dict[str, Any] = {}
        self._sources_at = -FACTS_SECONDS
        self._sources: dict[str, Source] = {}
        if self.encoder is not None:  # the first search reads the vectors: let nobody wait for it
            self.search_all([SearchQuery("first", 1)])

    def _load_encoder(self) -> Encoder | None:
        if not self.is_empty():
            name = self.store.require_about().encoder.get("name")
            return self.store.load_encoder() if name else None
        encoder = self.store.asked_encoder().load()
        self.store.set_encoder(encoder)
        return encoder

    def is_empty(self) -> bool:
        """Whether the store may have no pages yet, and has none."""
        if not self._may_be_empty:
            return False
        self.store.refresh()
        return self.store.about is None

    @property
    def running(self) -> int:
        """Threads that read the store now."""
        return self._readers.running + self.searches.running

    async def run(self, read: Callable[[], T]) -> T:
        """Read the store in a thread of its own, so that neither uploads nor pages wait for searches."""
        return await self._readers.run(lambda: self._reading(read))

    async def search(self, query: SearchQuery) -> SearchResult:
        """The best pages for a query; Busy if the line is full, SearchTimeout if it takes too long."""
        try:
            async with asyncio.timeout(self.limits.search_seconds):
                return await self.searches.ask(query)
        except TimeoutError:
            limit = f"{self.limits.search_seconds:g} s"
            raise SearchTimeout(f"the search took longer than {limit}: ask again later") from None

    def search_all(self, queries: Sequence[SearchQuery]) -> list[SearchResult]:
        """The best pages for each query; those of the same options are compared together."""
        start = time.perf_counter()
        encoded = dict(zip(queries, self.encode([query.text for query in queries]), strict=True))
        alike: dict[SearchQuery, list[SearchQuery]] = {}  # by their options
        for query in encoded:
            alike.setdefault(replace(query, text=""), []).append(query)

        results: dict[SearchQuery, SearchResult] = {}
        if self.is_empty():
            for query in queries:
                results[query] = SearchResult(Found((), "exact", 0, 0), [], 0.0)
            alike = {}
        for asked, group in alike.items():
            vectors = [encoded[query][0] for query in group]
            texts = [query.text for query in group] if asked.hybrid else None
            found = self.store.search_all(
                vectors, asked.k, asked.where, exact=asked.exact, words=texts
            )
            milliseconds = 1e3 * (time.perf_counter() - start)
            for query, pages in zip(group, found, strict=True):
                words = join_tokens(encoded[query][1])
                results[query] = SearchResult(pages, words, milliseconds)
        return [results[query] for query in queries]

    def encode(self, texts: Sequence[str]) -> list[EncodedQuery]:
        """The vectors and tokens of queries; those of late are remembered."""
        if not all(text.strip() for text in texts):
            raise BadInput("type a query: words to look for")
        with self._encoding:
            if self.encoder is None:
                raise BadInput(
                    "the store does not know which encoder made its pages: no words can be searched"
                )
            new = [text for text in dict.fromkeys(texts) if text not in self._encoded]
            if new:
                vectors = self.encoder.encode_queries(new)
                tokens = self.encoder.query_tokens(new)
                made = zip(vectors, tokens, strict=True)
                self._encoded |= dict(zip(new, made, strict=True))
            found = [self._encoded[text] for text in texts]
            for text in list(self._encoded)[:-REMEMBERED_QUERIES]:
                del self._encoded[text]
        return found

    def entry(self, id: str) -> Entry | None:
        """A page by its id."""
        if self.is_empty():
            return None
        self.store.require_about()
        found = self.store.get([id])
        return found[0] if found else None

    def matches(self, entry: Entry, text: str) -> tuple[list[QueryWord], tuple[Match, ...]]:
        """The words of a query, and where on a page each of its vectors matched; nothing for no words."""
        if not text.strip():
            return [], ()
        ((vectors, tokens),) = self.encode([text])
        return join_tokens(tokens), matches_in(vectors, entry.regions)

    def has_file(self, entry: Entry) -> bool:
        """Whether the file that a page was made from is there, unchanged."""
        try:
            return bool(file_of(entry))
        except (AdamergeError, OSError):
            return False

    def facts(self) -> dict[str, Any]:
        """Numbers of the store, at most some seconds old."""
        if self.is_empty():
            assert self.encoder is not None
            return EMPTY | {"dimensions": self.encoder.dim, "encoder": self.encoder.name}
        if time.monotonic() - self._facts_at > FACTS_SECONDS:
            facts = self.store.facts()
            name = str(facts.pop("name", "unknown"))
            facts["encoder"] = name.rstrip("/").rsplit("/", 1)[-1]
            self._facts = {as_name(key): facts[key] for key in FACTS if key in facts}
            self._facts_at = time.monotonic()
        return self._facts

    def sources(self) -> dict[str, Source]:
        """The files of the store by name, at most some seconds old."""
        if time.monotonic() - self._sources_at > FACTS_SECONDS:
            self._sources = self.store.sources()
            self._sources_at = time.monotonic()
        return self._sources

    def files(self) -> list[StoredFile]:
        """The files of the store in the order of their names, at most some seconds old."""
        if self.is_empty():
            return []
        return files_of(self.sources(), self.store.require_about().vector_bytes)

    def forget_facts(self) -> None:
        """Read numbers and files again: pages were added or removed."""
        self._facts_at = self._sources_at = -FACTS_SECONDS

    def check(self) -> None:
        """Read a little; StoreUnavailable, or Damaged, if the store cannot be read now."""
        if not self.is_empty():
            self._reading(lambda: (self.store.require_about(), len(self.store)))

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def _reading(self, read: Callable[[], T]) -> T:
        """What `read` returns; whatever goes wrong because the store is not there is StoreUnavailable."""
        try:
            return read()
        except (BadFile, Mismatch) as error:
            raise StoreUnavailable(f"another store was put in its place: {error}") from error
        except Exception as error:
            is_missing = isinstance(error, NotFound) or not is_store(self.where)
            if is_missing:
                raise StoreUnavailable(
                    "the store is not there: its folder was moved or removed"
                ) from error
            raise
