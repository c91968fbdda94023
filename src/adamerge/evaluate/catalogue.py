"""Names -> datasets: a suite or preset, a known book, a ViDoRe task, or a local folder."""

from dataclasses import replace
from os.path import abspath
from pathlib import Path
from tempfile import TemporaryDirectory

from adamerge.errors import NotFound, UnknownName
from adamerge.evaluate import archive, books, folders, vidore
from adamerge.evaluate.datasets import Dataset

GROUPS = archive.SUITES | vidore.PRESETS


def names(name: str) -> tuple[str, ...]:
    """The datasets that a name stands for: those of a suite or preset, or itself."""
    return GROUPS.get(name, (name,))


def load(name: str, data: Path) -> Dataset:
    """A dataset by name, from its folder below `data`, or as a path (./NAME is one); what can be fetched is fetched."""
    places = [Path(name)] if name.startswith((".", "/")) else [data / name, Path(name)]
    for folder in places:
        if (folder / books.NAME).exists():
            return replace(books.read(folder), name=Path(abspath(folder)).name)
    if vidore.is_task(name):
        return vidore.load(name, data)
    for folder in places:
        if folder.is_dir():
            return folders.read(folder)
    if name in archive.BOOKS:
        build_book(name, data)
        return books.read(data / name)
    raise UnknownName(
        f"no dataset '{name}': neither a folder, here or in {data}, nor one of {', '.join([*GROUPS, *archive.BOOKS])}"
    )


def build_book(given: str, data: Path, most: int = books.QUERIES) -> books.Book:
    """Build a book from a PDF file, or from the archive by its name, into a folder of its name below `data`."""
    if given in archive.BOOKS:
        data.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=data) as temporary:
            return _build(archive.fetch(given, Path(temporary)), data, most)
    pdf = Path(given)
    if pdf.suffix.lower() != ".pdf":
        raise UnknownName(
            f"no book '{given}'; choose from {', '.join([*archive.BOOKS, *archive.SUITES])}, or give a PDF"
        )
    if not pdf.exists():
        raise NotFound(f"{pdf} does not exist")
    return _build(pdf, data, most)


def _build(pdf: Path, data: Path, most: int) -> books.Book:
    book = books.build(pdf, pdf.stem, most)
    books.write(book, pdf, data / book.name)
    return book
