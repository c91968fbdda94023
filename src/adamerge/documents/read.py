"""Files -> pages, one at a time.

A page is read when its turn comes and dropped when the next one is asked for, so that memory does not grow with the
number of pages. A page of a PDF is drawn when somebody looks at its picture first. A file in a bucket is copied to a
temporary file, which goes when its last page is read.
Needs the extra `pdf`.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path

from adamerge.buckets import AnyPath, BucketPath
from adamerge.documents import images, office
from adamerge.documents.download import on_disk
from adamerge.documents.find import find_files
from adamerge.documents.pdf import count_pdf, read_pdf
from adamerge.documents.rendering import DPI
from adamerge.errors import AdamergeError, BadFile, MissingExtra, StoreUnavailable
from adamerge.types import Page

Report = Callable[[AdamergeError], None]


def read_pages(
    paths: Iterable[str | AnyPath],
    dpi: int = DPI,
    skip_bad: Report | None = None,
    done: Container[str] = (),
    *,
    password: str = "",
) -> Iterator[Page]:
    """The pages of files, folders and globs, in order, drawn at `dpi`; those whose id is in `done` are passed over.

    A page that cannot be read ends the run with an error that names it; with `skip_bad`, the error is handed to that
    function and the run goes on. The password opens encrypted PDF files.
    """
    for path, source in find_files(paths):
        yield from read_file(path, source, dpi, skip_bad, done, password=password)


def read_file(
    path: AnyPath,
    source: str,
    dpi: int = DPI,
    skip_bad: Report | None = None,
    done: Container[str] = (),
    numbers: range | None = None,
    *,
    password: str = "",
) -> Iterator[Page]:
    """The pages of one file, which is to be called `source`; otherwise as `read_pages`.

    A bucket that does not answer ends the run even with `skip_bad`: its pages are not bad.

    numbers  of the pages to read, counted from 1; None for all
    """
    is_office = path.suffix.lower() in office.SUFFIXES
    file_goes = is_office or isinstance(path, BucketPath)  # what is read is a file of ours
    try:
        with on_disk(path) as file:
            pages = _pages_or_errors(file, path, source, dpi, done, numbers, password)
            if file_goes:
                pages = _drawn(pages)
            for page in pages:
                if isinstance(page, Page):
                    yield page
                elif skip_bad is None:
                    raise page
                else:
                    skip_bad(page)
    except StoreUnavailable:
        raise
    except AdamergeError as error:
        if skip_bad is None:
            raise
        skip_bad(error)


def _pages_or_errors(
    file: Path,
    name: AnyPath,
    source: str,
    dpi: int,
    done: Container[str],
    numbers: range | None,
    password: str,
) -> Iterator[Page | BadFile]:
    """The pages of a file, which errors are to call `name`, or the error of each that cannot be read."""
    suffix = file.suffix.lower()
    if suffix == ".pdf":
        return read_pdf(file, source, dpi, done, numbers, password, name)
    if suffix in office.SUFFIXES:
        pdf = office.as_pdf(file, name)
        return read_pdf(pdf, source, dpi, done, numbers, name=name)
    return images.read_image(file, source, dpi, done, numbers, name)


def _drawn(pages: Iterable[Page | BadFile]) -> Iterator[Page | BadFile]:
    """The same pages with pictures that need their file no more; the error of one that cannot be drawn."""
    for page in pages:
        try:
            if isinstance(page, Page):
                page.draw()
        except BadFile as error:
            yield error
            continue
        yield page


def count_pages(paths: Iterable[str | AnyPath], password: str = "") -> int:
    """How many pages there are to read; a file that cannot be opened counts as one, since reading it will say why."""
    return sum(count_file(path, password) for path, _ in find_files(paths))


def estimate_pages(paths: Iterable[str | AnyPath], password: str = "") -> int:
    """The same without what takes long: an office file counts as one page, and so does a file in a bucket."""
    total = 0
    for path, _ in find_files(paths):
        is_office = path.suffix.lower() in office.SUFFIXES
        if is_office or isinstance(path, BucketPath):
            total += 1  # LibreOffice takes a second a file, a download too
        else:
            total += count_file(path, password)
    return total


def page_id(path: AnyPath, name: str, number: int) -> str:
    """The id of the page of a number, from 1 on, of a file that is called `name`."""
    is_image = path.suffix.lower() in images.SUFFIXES
    if is_image and count_file(path) == 1:
        return name
    return f"{name}#{number}"


def count_file(path: AnyPath, password: str = "") -> int:
    """How many pages a file has; one that cannot be opened, or is gone, counts as one, since reading it will say why.

    A file in a bucket that cannot be copied to this disk is an error: a guess would leave pages out.
    """
    try:
        with on_disk(path) as file:
            return _count_on_disk(file, path, password)
    except BadFile:  # it is no longer in its bucket
        return 1


def _count_on_disk(file: Path, name: AnyPath, password: str) -> int:
    try:
        return _count_by_kind(file, name, password)
    except MissingExtra:
        raise
    except Exception:  # whatever it is, reading the file will say it
        return 1


def _count_by_kind(file: Path, name: AnyPath, password: str) -> int:
    suffix = file.suffix.lower()
    if suffix == ".pdf":
        return count_pdf(file, password)
    if suffix in office.SUFFIXES:
        return count_pdf(office.as_pdf(file, name))
    return images.count_frames(file)
