"""A PDF manual with a back-of-book index -> a dataset that people have judged: terms are queries, their pages answers.

A folder holds the PDF and dataset.json, which is written last: a folder that has it is whole.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from typing import Any
from zlib import crc32

from adamerge import files
from adamerge.errors import BadFile
from adamerge.evaluate import book_index, book_pages
from adamerge.evaluate.book_index import Entry
from adamerge.evaluate.datasets import Dataset
from adamerge.pages import read_pages
from adamerge.types import Page

NAME = "dataset.json"
QUERIES = 300  # of one book: a long index would outweigh the others
MOST_PAGES = 5  # a term that stands on more is a topic of the book, not a question
CODE = re.compile(r"[\\_{}@#$=<>|]|::|\(\)|--")  # terms of a program, not of a language
FAR = 40  # pages away, where a term's words are found by chance
LEAST_SHARE, LEAST_LEAD = 0.5, 0.1  # of a mapping that is believed


@dataclass(frozen=True)
class Fit:
    """Share of a query's words that stand on the page it is judged with, and on the pages around it."""

    before: float
    here: float
    after: float
    far: float

    def holds(self) -> bool:
        """Whether the words peak on the judged page: numbers were read right."""
        return self.here >= LEAST_SHARE and self.here >= max(self.before, self.after) + LEAST_LEAD

    def __str__(self) -> str:
        """The four shares in words."""
        return f"{self.here:.3f} on the page, {self.before:.3f} before, {self.after:.3f} after, {self.far:.3f} far off"


@dataclass(frozen=True)
class Book:
    """What dataset.json holds: the body's physical pages from 1, queries, judgements, and how they were found."""

    name: str
    pdf: str
    sha256: str
    pages: tuple[int, ...]
    queries: dict[str, str]
    judgements: dict[str, dict[str, int]]
    numbering: str
    fit: dict[str, float]


def build(pdf: Path, name: str, most: int = QUERIES) -> Book:
    """The dataset of a book; one whose index or numbers cannot be trusted is refused."""
    with book_pages.opened(pdf) as document:
        pages, end = book_pages.find_index(document)
        body = book_pages.number_pages(document, end)
        entries = book_index.parse(line for i in pages for line in book_pages.lines(document, i))
        texts = [book_pages.text(document, i).lower() for i in range(end)]
        numbered = {
            number: i for number, i in body.pages.items() if texts[i].strip()
        }  # nobody asks for a blank page
        chosen = _sample(_queries(entries, numbered), most)
        if not chosen:
            raise BadFile(
                f"none of {len(entries)} index entries is a question of two words with a page to it"
            )
    fit = _fit(chosen, numbered, texts)
    if not fit.holds():
        raise BadFile(
            f"{pdf}: the numbers in the index do not lead to its words ({fit}): is it another edition's?"
        )
    physical = tuple(i + 1 for i in numbered.values())
    ids = {f"q{n:04d}": entry for n, entry in enumerate(chosen)}
    judged = {
        q: {_page_id(name, numbered[p] + 1): 1 for p in entry.pages} for q, entry in ids.items()
    }
    digest = sha256(pdf.read_bytes()).hexdigest()
    queries = {q: entry.term for q, entry in ids.items()}
    return Book(name, f"{name}.pdf", digest, physical, queries, judged, body.how, asdict(fit))


def write(book: Book, pdf: Path, folder: Path) -> None:
    """Write a book's folder: the PDF, then dataset.json."""
    folder.mkdir(parents=True, exist_ok=True)
    with files.replacing(folder / book.pdf) as temporary:
        copyfile(pdf, temporary)
    files.write(folder / NAME, json.dumps(asdict(book), indent=1, ensure_ascii=False) + "\n")


def read(folder: Path) -> Dataset:
    """The dataset of a book's folder; a PDF that is not the one it was made from is refused."""
    book = _book(folder)
    pdf = folder / book.pdf
    if not pdf.exists() or sha256(pdf.read_bytes()).hexdigest() != book.sha256:
        raise BadFile(
            f"{pdf} is missing or not the file that {NAME} was made from: build the book again"
        )
    ids = tuple(_page_id(book.name, i) for i in book.pages)

    def pages(done: Container[str] = ()) -> Iterator[Page]:
        with book_pages.opened(pdf) as document:
            others = {_page_id(book.name, i + 1) for i in range(len(document))} - set(ids)
        return read_pages([pdf], done=_Either(done, others))

    def texts() -> Mapping[str, str]:
        with book_pages.opened(pdf) as document:
            return {_page_id(book.name, i): book_pages.text(document, i - 1) for i in book.pages}

    return Dataset(book.name, ids, book.queries, book.judgements, pages, texts, book.sha256[:8])


def sample(book: Book, count: int = 20) -> list[str]:
    """Judgements for a person to check: a line each, spread over the book."""
    pairs = [(page, book.queries[q]) for q, grades in book.judgements.items() for page in grades]
    pairs.sort(key=lambda pair: crc32("".join(pair).encode()))
    return [
        f"{page}\t{term}"
        for page, term in sorted(pairs[:count], key=lambda p: int(p[0].rpartition("#")[2]))
    ]


class _Either:
    """Ids that are in one of two containers."""

    def __init__(self, *containers: Container[str]) -> None:
        self.containers = containers

    def __contains__(self, id: object) -> bool:
        return any(id in some for some in self.containers)


def _book(folder: Path) -> Book:
    try:
        raw: dict[str, Any] = json.loads((folder / NAME).read_text())
        return Book(**raw | {"pages": tuple(raw["pages"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadFile(
            f"{folder / NAME} cannot be read as a book ({error!r}): build it again"
        ) from None


def _page_id(name: str, number: int) -> str:
    return f"{name}.pdf#{number}"


def _queries(entries: Sequence[Entry], pages: Mapping[int, int]) -> list[Entry]:
    """The entries that can be asked: two words or more, on few pages of the body, and no code."""
    kept = [Entry(entry.term, tuple(p for p in entry.pages if p in pages)) for entry in entries]
    return [
        entry for entry in kept if 1 <= len(entry.pages) <= MOST_PAGES and _is_question(entry.term)
    ]


def _is_question(term: str) -> bool:
    return len(re.findall(r"[^\W\d_]{2,}", term)) >= 2 and len(term) <= 80 and not CODE.search(term)


def _sample(entries: Sequence[Entry], most: int) -> list[Entry]:
    """At most that many, the same ones every time, in the order of the index."""
    chosen = set(sorted(range(len(entries)), key=lambda i: crc32(entries[i].term.encode()))[:most])
    return [entry for i, entry in enumerate(entries) if i in chosen]


def _fit(entries: Sequence[Entry], pages: Mapping[int, int], texts: Sequence[str]) -> Fit:
    """The mean share of words found at the judged pages and at pages that are shifted."""
    shifts = []
    for shift in (-1, 0, 1, FAR):
        pairs = [(entry.term, pages[p] + shift) for entry in entries for p in entry.pages]
        shares = [_found(term, texts[i]) for term, i in pairs if 0 <= i < len(texts)]
        shifts.append(round(sum(shares) / max(len(shares), 1), 3))
    return Fit(*shifts)


def _found(term: str, text: str) -> float:
    """Share of the words of a term that stand on a page."""
    words = re.findall(r"[^\W\d_]{2,}", term.lower())
    return sum(word in text for word in words) / len(words)
