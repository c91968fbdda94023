"""A PDF manual -> a Book: the terms of its index become queries, and the pages they name become judgements."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zlib import crc32

from adamerge import files
from adamerge.errors import BadFile
from adamerge.evaluate.books.book import Book, WordShares, page_id
from adamerge.evaluate.books.index_entries import IndexEntry, IndexLine, parse_index
from adamerge.evaluate.books.manual_pdf import (
    find_index,
    number_pages,
    open_pdf,
    page_lines,
    page_text,
)

MOST_QUERIES = 300  # of one book: a long index would outweigh the other books
MOST_PAGES = 5  # a term that stands on more pages is a topic of the book, not a question
LONGEST_TERM = 80  # characters
WORD = re.compile(r"[^\W\d_]{2,}")
CODE = re.compile(r"[\\_{}@#$=<>|]|::|\(\)|--")  # terms of a program, not of a language
SHIFTS = (-1, 0, 1, 40)  # pages from the judged one; on the last one words stand by chance


def build_book(pdf: Path, name: str, most: int = MOST_QUERIES) -> Book:
    """The book of a PDF, with at most that many queries.

    A PDF without an index is refused, and one whose page numbers cannot be trusted.
    """
    with open_pdf(pdf) as document:
        index_pages, end = find_index(document)
        body = number_pages(document, end)
        entries = parse_index(_lines_of(document, index_pages))
        texts = [page_text(document, i).lower() for i in range(end)]

        numbered = _without_blank_pages(body.pages, texts)
        chosen = _choose(_usable(entries, numbered), most)
        if not chosen:
            raise BadFile(
                f"none of {len(entries)} index entries is a question of two words with a page to it"
            )

    shares = _word_shares(chosen, numbered, texts)
    if not shares.are_highest_here():
        raise BadFile(
            f"{pdf}: the numbers in the index do not lead to its words ({shares}): "
            "is it another edition's?"
        )

    queries: dict[str, str] = {}
    judgements: dict[str, dict[str, int]] = {}
    for number, entry in enumerate(chosen):
        query = f"q{number:04d}"
        queries[query] = entry.term
        judgements[query] = {page_id(name, numbered[page] + 1): 1 for page in entry.pages}

    return Book(
        name=name,
        pdf=f"{name}.pdf",
        sha256=files.hash_of(pdf),
        pages=tuple(i + 1 for i in numbered.values()),
        queries=queries,
        judgements=judgements,
        numbering=body.how,
        fit=asdict(shares),
    )


def sample_judgements(book: Book, count: int = 20) -> list[str]:
    """Judgements for a person to check: "page id, tab, query" lines, spread over the book."""
    pairs = []
    for query, grades in book.judgements.items():
        for page in grades:
            pairs.append((page, book.queries[query]))

    pairs.sort(key=lambda pair: crc32("".join(pair).encode()))  # at random, but always the same
    chosen = pairs[:count]
    chosen.sort(key=lambda pair: int(pair[0].rpartition("#")[2]))
    return [f"{page}\t{term}" for page, term in chosen]


def _lines_of(document: Any, pages: Sequence[int]) -> Iterator[IndexLine]:
    for i in pages:
        yield from page_lines(document, i)


def _without_blank_pages(pages: Mapping[int, int], texts: Sequence[str]) -> dict[int, int]:
    """Printed number -> page, without the pages that have no text: nobody asks for a blank page."""
    return {number: i for number, i in pages.items() if texts[i].strip()}


def _usable(entries: Sequence[IndexEntry], pages: Mapping[int, int]) -> list[IndexEntry]:
    """The entries that can be asked: two words or more, no code, and on a few pages of the body."""
    usable = []
    for entry in entries:
        in_body = tuple(page for page in entry.pages if page in pages)
        if 1 <= len(in_body) <= MOST_PAGES and _is_question(entry.term):
            usable.append(IndexEntry(entry.term, in_body))
    return usable


def _is_question(term: str) -> bool:
    has_two_words = len(WORD.findall(term)) >= 2
    return has_two_words and len(term) <= LONGEST_TERM and not CODE.search(term)


def _choose(entries: Sequence[IndexEntry], most: int) -> list[IndexEntry]:
    """At most that many entries, the same ones every time, in the order of the index."""
    by_hash = sorted(range(len(entries)), key=lambda i: crc32(entries[i].term.encode()))
    return [entries[i] for i in sorted(by_hash[:most])]


def _word_shares(
    entries: Sequence[IndexEntry], pages: Mapping[int, int], texts: Sequence[str]
) -> WordShares:
    """The mean share of the words of a term that stand on its pages, and on the pages around."""
    means = []
    for shift in SHIFTS:
        shares = []
        for entry in entries:
            for page in entry.pages:
                i = pages[page] + shift
                if 0 <= i < len(texts):
                    shares.append(_share_of_words(entry.term, texts[i]))
        means.append(round(sum(shares) / max(len(shares), 1), 3))
    return WordShares(*means)


def _share_of_words(term: str, text: str) -> float:
    words = WORD.findall(term.lower())
    found = [word for word in words if word in text]
    return len(found) / len(words)
