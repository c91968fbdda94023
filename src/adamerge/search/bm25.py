"""The words of a query and of pages -> a score of each page by its words: BM25, as Lucene computes it.

    bm25(q, p) = sum_{t in q} idf(t) f / (f + K1 (1 - B + B l / mean l))      f = how often t stands on page p
    idf(t)     = ln(1 + (N - n + 1/2) / (n + 1/2))                            n = pages of N that have t; l = terms of p

A term is a run of two or more letters or digits, in small letters. No language is known: nothing is stemmed, and
terms that are everywhere weigh little by their idf.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adamerge.arrays import Floats, Longs

K1 = 1.5  # how soon more of the same term adds nothing
B = 0.75  # how much a long page is held against itself
TERM = re.compile(r"\w\w+")


def terms_of(text: str) -> list[str]:
    """The terms of a text in their order: "The clock's hand" has the, clock, hand."""
    return TERM.findall(text.lower())


class TermCounts(NamedTuple):
    """The terms of one page, each once, and how often each stands there; a term by its number."""

    terms: NDArray[np.uint32]
    counts: NDArray[np.uint32]


class Postings(NamedTuple):
    """The terms of all pages, page after page.

    ids      of the pages
    terms    (rows,) each term of a page once
    counts   (rows,) how often it stands there
    ends     (pages,) the row after the last one of each page
    lengths  (pages,) terms of each page, with those that repeat
    """

    ids: list[str]
    terms: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    ends: Longs
    lengths: Longs


class WordsInMemory:
    """How often each term stands on each page: 8 bytes for a term of a page."""

    def __init__(self) -> None:
        """Hold no page yet."""
        self._pages: dict[str, TermCounts] = {}
        self._numbers: dict[str, int] = {}  # of terms
        self._terms_of_words: dict[str, list[int]] = {}  # pages repeat words: each is split once
        self._postings: Postings | None = None  # of all pages; None where they have changed

    def __len__(self) -> int:
        """The number of pages."""
        return len(self._pages)

    @property
    def ids(self) -> set[str]:
        """The ids of the pages."""
        return set(self._pages)

    @property
    def are_empty(self) -> bool:
        """Whether no page has a term."""
        return not self._numbers

    def put(self, id: str, words: Iterable[str]) -> None:
        """Take the words of a page, in place of those that it had."""
        numbers: list[int] = []
        for word in words:
            if word not in self._terms_of_words:
                self._terms_of_words[word] = self._split(word)
            numbers += self._terms_of_words[word]
        terms, counts = np.unique(np.array(numbers, np.uint32), return_counts=True)
        self._pages[id] = TermCounts(terms, counts.astype(np.uint32))
        self._postings = None

    def drop(self, id: str) -> None:
        """Forget a page; a page that is not here is no error."""
        self._pages.pop(id, None)
        self._postings = None

    def scores(self, text: str) -> tuple[list[str], Floats]:
        """The ids of all pages, and the BM25 of each for a text; 0 for a page that has no term of it."""
        pages = self._all_pages()
        scores = np.zeros(len(pages.ids), np.float32)
        if not pages.lengths.any():
            return pages.ids, scores

        slowness = K1 * (1 - B + B * pages.lengths / pages.lengths.mean())
        for term in terms_of(text):
            rows = np.flatnonzero(pages.terms == self._numbers.get(term, -1))
            on = np.searchsorted(pages.ends, rows, side="right")  # the page of each row
            often = pages.counts[rows]
            idf = np.log(1 + (len(pages.ids) - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[on] += idf * often / (often + slowness[on])
        return pages.ids, scores

    def _split(self, word: str) -> list[int]:
        """The numbers of the terms of a word; a new term gets the next number."""
        found = []
        for term in terms_of(word):
            found.append(self._numbers.setdefault(term, len(self._numbers)))
        return found

    def _all_pages(self) -> Postings:
        if self._postings is None:
            pages = list(self._pages.values())
            sizes = np.array([len(page.terms) for page in pages], np.int64)
            lengths = np.array([page.counts.sum() for page in pages], np.int64)
            nothing = np.zeros(0, np.uint32)
            self._postings = Postings(
                list(self._pages),
                np.concatenate([nothing, *(page.terms for page in pages)]),
                np.concatenate([nothing, *(page.counts for page in pages)]),
                np.cumsum(sizes),
                lengths,
            )
        return self._postings
