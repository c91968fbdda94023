"""The store as the server reads it: searches in threads, pages, pictures and numbers; nothing in it names a folder."""

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import anyio
from anyio.to_thread import run_sync

from adamerge.arrays import Floats
from adamerge.encoders import Encoder, load_encoder
from adamerge.errors import AdamergeError, BadInput
from adamerge.inspector.stored import file_of
from adamerge.search.match import matches
from adamerge.server.params import Question
from adamerge.server.words import Asked, of_query
from adamerge.store import Entry, Store, open_named
from adamerge.types import Found, Match

T = TypeVar("T")
THREADS = 4  # searches at a time: the kernel takes every core for each
FRESH = 5.0  # seconds that the numbers of the store may be old
PRIVATE = re.compile(r"\b(root|hash)\b|\\", re.IGNORECASE)  # columns that tell of this machine, and ways to hide them


@dataclass(frozen=True, eq=False)
class Answer:
    """What a search found, for which words, and in how many milliseconds."""

    found: Found
    words: list[Asked]
    milliseconds: float


class Library:
    """An open store and its encoder, loaded once."""

    def __init__(self, where: str, **options: Any) -> None:
        """Open the store and load the encoder that made its pages, if it is known."""
        self.where = where
        name = open_named(where, **options).known().encoder.get("name")
        self.encoder: Encoder | None = load_encoder(name) if name else None
        self.store: Store = open_named(where, encoder=self.encoder, **options)
        self._encoding = threading.Lock()  # an encoder's attention is captured by one thread at a time
        self._encoded: Callable[[str], tuple[Floats, list[str]]] = lru_cache(512)(self._encode)
        self._limiter: anyio.CapacityLimiter | None = None
        self._facts: tuple[float, dict[str, Any]] = (-FRESH, {})
        if self.encoder is not None:  # the first search reads the vectors: let nobody wait for it
            self.search(Question("first", 1))

    async def aside(self, work: Callable[[], T]) -> T:
        """Do something in a thread of our own, so that neither uploads nor pictures wait for searches."""
        self._limiter = self._limiter or anyio.CapacityLimiter(THREADS)
        return await run_sync(work, limiter=self._limiter)

    def search(self, asked: Question) -> Answer:
        """The best pages for a question; a filter sees what a person may see."""
        start = time.perf_counter()
        if PRIVATE.search(asked.where):
            names = ", ".join(["id", "source", "number", *self.store.columns()])
            raise BadInput(f"a filter can use {names}; the words root and hash and the sign \\ are not for it")
        vectors, tokens = self.encode(asked.q)
        found = self.store.search(vectors, asked.k, asked.where, exact=asked.exact)
        return Answer(found, of_query(tokens), 1e3 * (time.perf_counter() - start))

    def encode(self, text: str) -> tuple[Floats, list[str]]:
        """The vectors (q, d) of a query and what stands behind each."""
        if not text.strip():
            raise BadInput("type a query: words to look for")
        return self._encoded(text)

    def _encode(self, text: str) -> tuple[Floats, list[str]]:
        with self._encoding:
            if self.encoder is None:
                raise BadInput("the store does not know which encoder made its pages: no words can be searched")
            return self.encoder.encode_queries([text])[0], self.encoder.query_tokens([text])[0]

    def entry(self, id: str) -> Entry | None:
        """A page by its id."""
        found = self.store.get([id])
        return found[0] if found else None

    def why(self, entry: Entry, text: str) -> tuple[list[Asked], tuple[Match, ...]]:
        """The words of a query, and where on a page each of its vectors matched."""
        vectors, tokens = self.encode(text)
        return of_query(tokens), matches(vectors, entry.page, entry.words)

    def has_file(self, entry: Entry) -> bool:
        """Whether the file that a page was made from is there, unchanged."""
        try:
            return bool(file_of(entry))
        except (AdamergeError, OSError):
            return False

    def facts(self) -> dict[str, Any]:
        """Numbers of the store, at most some seconds old."""
        at, facts = self._facts
        if time.monotonic() - at > FRESH:
            facts = self.store.facts()
            facts["encoder"] = str(facts.pop("name", "unknown")).rstrip("/").rsplit("/", 1)[-1]
            kept = ["pages", "files", "dimensions", "dtype", "method", "patches", "stored", "extra", "compression"]
            kept += ["bytes of vectors", "bytes of the rest", "bytes in all", "bytes per page", "encoder", "revision"]
            facts = {key.replace(" ", "_"): facts[key] for key in kept if key in facts}
            self._facts = time.monotonic(), facts
        return facts

    def stale(self) -> None:
        """Count anew: pages were added."""
        self._facts = (-FRESH, {})

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()
