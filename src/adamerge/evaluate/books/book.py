"""A book as a folder: the PDF, and dataset.json with its pages, queries and judgements.

dataset.json is written last, so a folder that has it is whole.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import copyfile

from adamerge import files
from adamerge.errors import BadFile

BOOK_FILE = "dataset.json"
LEAST_SHARE = 0.5  # of the words of a query, on the pages it is judged with
LEAST_LEAD = 0.1  # of that share over the share on the pages before and after


@dataclass(frozen=True)
class WordShares:
    """The share of a query's words that stand on the page it is judged with, and on other pages.

    before, after  on the page before, and on the page after
    far            on a page far away, where words stand by chance
    """

    before: float
    here: float
    after: float
    far: float

    def are_highest_here(self) -> bool:
        """Whether the words clearly stand on the judged page: the page numbers were read right."""
        nearby = max(self.before, self.after)
        return self.here >= LEAST_SHARE and self.here >= nearby + LEAST_LEAD

    def __str__(self) -> str:
        """The four shares in words."""
        nearby = f"{self.before:.3f} before, {self.after:.3f} after"
        return f"{self.here:.3f} on the page, {nearby}, {self.far:.3f} far off"


@dataclass(frozen=True)
class Book:
    """What dataset.json holds.

    pages       the physical pages of the body, counted from 1
    queries     query id -> term of the index
    judgements  query id -> page id -> grade, always 1
    numbering   how printed page numbers were found
    fit         the four shares of WordShares, by name
    """

    name: str
    pdf: str
    sha256: str
    pages: tuple[int, ...]
    queries: dict[str, str]
    judgements: dict[str, dict[str, int]]
    numbering: str
    fit: dict[str, float]

    @property
    def word_shares(self) -> WordShares:
        """How well the index leads to its words."""
        return WordShares(**self.fit)


def page_id(book: str, number: int) -> str:
    """The id of a physical page, counted from 1."""
    return f"{book}.pdf#{number}"


def write_book(book: Book, pdf: Path, folder: Path) -> None:
    """Write the folder of a book: the PDF, then dataset.json."""
    folder.mkdir(parents=True, exist_ok=True)
    with files.replacing(folder / book.pdf) as temporary:
        copyfile(pdf, temporary)

    text = json.dumps(asdict(book), indent=1, ensure_ascii=False)
    files.write(folder / BOOK_FILE, text + "\n")


def read_book(folder: Path) -> Book:
    """The book of a folder; a PDF that is not the one it was made from is refused."""
    book = _read_json(folder / BOOK_FILE)
    pdf = folder / book.pdf
    if not pdf.exists() or files.hash_of(pdf) != book.sha256:
        raise BadFile(
            f"{pdf} is missing or not the file that {BOOK_FILE} was made from: build the book again"
        )
    return book


def _read_json(path: Path) -> Book:
    try:
        content = json.loads(path.read_text())
        content["pages"] = tuple(content["pages"])
        return Book(**content)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadFile(f"{path} cannot be read as a book ({error!r}): build it again") from None
