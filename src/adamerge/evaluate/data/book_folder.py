"""The folder of a book -> a dataset."""

from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from adamerge.documents import read_pages
from adamerge.evaluate.books import open_pdf, page_id, page_text, read_book
from adamerge.evaluate.data.dataset import Dataset
from adamerge.types import Page


def read_book_folder(folder: Path) -> Dataset:
    """The dataset of a folder that `adamerge dataset books` made."""
    book = read_book(folder)
    pdf = folder / book.pdf
    ids = tuple(page_id(book.name, number) for number in book.pages)

    def pages(done: Container[str] = ()) -> Iterator[Page]:
        with open_pdf(pdf) as document:
            every = {page_id(book.name, i + 1) for i in range(len(document))}
        not_in_body = every - set(ids)
        return read_pages([pdf], done=_Union(done, not_in_body))

    def texts() -> Mapping[str, str]:
        with open_pdf(pdf) as document:
            return {page_id(book.name, n): page_text(document, n - 1) for n in book.pages}

    return Dataset(
        name=book.name,
        page_ids=ids,
        queries=book.queries,
        judgements=book.judgements,
        read=pages,
        texts=texts,
        source=book.sha256[:8],
    )


class _Union:
    """The ids that are in one of two containers; a Container need not be a set."""

    def __init__(self, first: Container[str], second: Container[str]) -> None:
        self.first = first
        self.second = second

    def __contains__(self, id: object) -> bool:
        return id in self.first or id in self.second
