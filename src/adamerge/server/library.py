"""The store as the server reads it: searches in threads, pages, pictures and numbers; nothing in it names a folder."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio.to_thread import run_sync

from adamerge.arrays import Floats
from adamerge.encoders import Encoder
from adamerge.errors import AdamergeError, BadInput
from adamerge.inspector.stored import file_of
from adamerge.search.match import matches
from adamerge.server.params import Question
from adamerge.server.together import Together
from adamerge.server.words import Asked, of_query
from adamerge.store import Entry, Store, open_named
from adamerge.types import Found, Match

T = TypeVar("T")
Encoded = tuple[Floats, list[str]]  # vectors (q, d) of a query, and what stands behind each
THREADS = 4  # what is asked of the store at a time, but searches
SEARCHES = 2  # lots of searches at a time: more threads would make lots smaller, and the kernel takes every core
KNOWN = 512  # queries whose vectors are kept
FRESH = 5.0  # seconds that the numbers of the store may be old


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
        self.store: Store = open_named(where, **options)
        known = self.store.known().encoder.get("name")
        self.encoder: Encoder | None = self.store.load_encoder() if known else None
        self._encoding = threading.Lock()  # of the queries that are remembered
        self._encoded: dict[str, Encoded] = {}  # oldest first
        self._together = Together(self.search_all, partial(self.aside, threads=SEARCHES))
        self._limiters: dict[int, anyio.CapacityLimiter] = {}
        self._facts: tuple[float, dict[str, Any]] = (-FRESH, {})
        if self.encoder is not None:  # the first search reads the vectors: let nobody wait for it
            self.search_all([Question("first", 1)])

    async def aside(self, work: Callable[[], T], threads: int = THREADS) -> T:
        """Do something in one of so many threads, so that neither uploads nor pages wait for searches."""
        limiter = self._limiters.setdefault(threads, anyio.CapacityLimiter(threads))
        return await run_sync(work, limiter=limiter)

    async def search(self, asked: Question) -> Answer:
        """The best pages for a question, which may be answered together with others."""
        return await self._together.ask(asked)

    def search_all(self, asked: Sequence[Question]) -> list[Answer]:
        """The best pages for each question."""
        start = time.perf_counter()
        encoded = dict(zip(asked, self.encode([one.q for one in asked]), strict=True))
        answers: dict[Question, Answer] = {}
        for k, where, exact in {(one.k, one.where, one.exact) for one in asked}:
            alike = [one for one in encoded if (one.k, one.where, one.exact) == (k, where, exact)]
            found = self.store.search_all([encoded[one][0] for one in alike], k, where, exact=exact)
            took = 1e3 * (time.perf_counter() - start)
            answers |= {
                one: Answer(f, of_query(encoded[one][1]), took)
                for one, f in zip(alike, found, strict=True)
            }
        return [answers[one] for one in asked]

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The vectors of queries, and what stands behind them; those of late are remembered."""
        if not all(text.strip() for text in texts):
            raise BadInput("type a query: words to look for")
        with self._encoding:
            if self.encoder is None:
                raise BadInput(
                    "the store does not know which encoder made its pages: no words can be searched"
                )
            new = [text for text in dict.fromkeys(texts) if text not in self._encoded]
            if new:
                made = zip(
                    self.encoder.encode_queries(new), self.encoder.query_tokens(new), strict=True
                )
                self._encoded |= dict(zip(new, made, strict=True))
            found = [self._encoded[text] for text in texts]
            for text in list(self._encoded)[:-KNOWN]:
                del self._encoded[text]
        return found

    def entry(self, id: str) -> Entry | None:
        """A page by its id."""
        found = self.store.get([id])
        return found[0] if found else None

    def why(self, entry: Entry, text: str) -> tuple[list[Asked], tuple[Match, ...]]:
        """The words of a query, and where on a page each of its vectors matched."""
        ((vectors, tokens),) = self.encode([text])
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
            kept = [
                "pages",
                "files",
                "dimensions",
                "dtype",
                "method",
                "patches",
                "stored",
                "extra",
                "compression",
            ]
            kept += [
                "bytes of vectors",
                "bytes of the rest",
                "bytes in all",
                "bytes per page",
                "encoder",
                "revision",
            ]
            facts = {key.replace(" ", "_"): facts[key] for key in kept if key in facts}
            self._facts = time.monotonic(), facts
        return facts

    def stale(self) -> None:
        """Count anew: pages were added."""
        self._facts = (-FRESH, {})

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()
