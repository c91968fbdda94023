"""Files -> pages, one at a time.

A page is rendered when its turn comes and dropped when the next one is asked for, so that memory does not grow with the
number of pages. Needs the extra `pdf`.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path

from adamerge.documents import images, office
from adamerge.documents.find import find_files
from adamerge.documents.pdf import count_pdf, read_pdf
from adamerge.documents.rendering import DPI
from adamerge.errors import AdamergeError, BadFile, MissingExtra
from adamerge.types import Page

Report = Callable[[AdamergeError], None]


def read_pages(
    paths: Iterable[str | Path],
    dpi: int = DPI,
    skip_bad: Report | None = None,
    done: Container[str] = (),
    *,
    password: str = "",
) -> Iterator[Page]:
    """The pages of files, folders and globs, in order, rendered at `dpi`; those whose id is in `done` are passed over.

    A page that cannot be read ends the run with an error that names it; with `skip_bad`, the error is handed to that
    function and the run goes on. The password opens encrypted PDF files.
    """
    for path, source in find_files(paths):
        yield from read_file(path, source, dpi, skip_bad, done, password=password)


def read_file(
    path: Path,
    source: str,
    dpi: int = DPI,
    skip_bad: Report | None = None,
    done: Container[str] = (),
    numbers: range | None = None,
    *,
    password: str = "",
) -> Iterator[Page]:
    """The pages of one file, which is to be called `source`; otherwise as `read_pages`.

    numbers  of the pages to read, counted from 1; None for all
    """
    try:
        for page in _pages_or_errors(path, source, dpi, done, numbers, password):
            if isinstance(page, Page):
                yield page
            elif skip_bad is None:
                raise page
            else:
                skip_bad(page)
    except AdamergeError as error:
        if skip_bad is None:
            raise
        skip_bad(error)


def _pages_or_errors(
    path: Path,
    source: str,
    dpi: int,
    done: Container[str],
    numbers: range | None,
    password: str,
) -> Iterator[Page | BadFile]:
    """The pages of a file, or the error of each that cannot be read."""
    suffix = path.suffix.lower()
    if suffix == ".pdf":
        return read_pdf(path, source, dpi, done, numbers, password)
    if suffix in office.SUFFIXES:
        return read_pdf(office.as_pdf(path), source, dpi, done, numbers, name=path)
    return images.read_image(path, source, dpi, done, numbers)


def count_pages(paths: Iterable[str | Path], password: str = "") -> int:
    """How many pages there are to read; a file that cannot be opened counts as one, since reading it will say why."""
    return sum(_count_file(path, password) for path, _ in find_files(paths))


def estimate_pages(paths: Iterable[str | Path], password: str = "") -> int:
    """The same without LibreOffice, which takes a second a file: an office file counts as one page."""
    total = 0
    for path, _ in find_files(paths):
        is_office = path.suffix.lower() in office.SUFFIXES
        total += 1 if is_office else _count_file(path, password)
    return total


def page_id(path: Path, name: str, number: int) -> str:
    """The id of the page of a number, from 1 on, of a file that is called `name`."""
    is_image = path.suffix.lower() in images.SUFFIXES
    if is_image and _count_file(path, password="") == 1:
        return name
    return f"{name}#{number}"


def _count_file(path: Path, password: str) -> int:
    suffix = path.suffix.lower()
    try:
        if suffix == ".pdf":
            return count_pdf(path, password)
        if suffix in office.SUFFIXES:
            return count_pdf(office.as_pdf(path))
        return images.count_frames(path)
    except MissingExtra:
        raise
    except Exception:  # whatever it is, reading the file will say it
        return 1
