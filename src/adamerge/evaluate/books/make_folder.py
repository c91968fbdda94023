"""A PDF file, or the name of a known manual -> the folder of a book."""

from pathlib import Path
from tempfile import TemporaryDirectory

from adamerge.errors import NotFound, UnknownName
from adamerge.evaluate.books.book import Book, write_book
from adamerge.evaluate.books.build import MOST_QUERIES, build_book
from adamerge.evaluate.books.debian_packages import BOOKS, SUITES, fetch_pdf


def make_book_folder(given: str, data: Path, most: int = MOST_QUERIES) -> Book:
    """Make the folder of a book below `data`, from a PDF file or from the Debian archive by name."""
    if given in BOOKS:
        data.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=data) as temporary:
            pdf = fetch_pdf(given, Path(temporary))
            return _make(pdf, data, most)

    pdf = Path(given)
    if pdf.suffix.lower() != ".pdf":
        known = ", ".join([*BOOKS, *SUITES])
        raise UnknownName(f"no book '{given}'; choose from {known}, or give a PDF")
    if not pdf.exists():
        raise NotFound(f"{pdf} does not exist")
    return _make(pdf, data, most)


def _make(pdf: Path, data: Path, most: int) -> Book:
    book = build_book(pdf, pdf.stem, most)
    write_book(book, pdf, data / book.name)
    return book
