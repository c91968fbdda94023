"""Pages -> pages and their vectors, a batch at a time; a thread reads the next batch meanwhile."""

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, TypeVar

from adamerge.documents import Report
from adamerge.encoders import Encoder
from adamerge.encoders.ocr_fallback import prepare_page
from adamerge.errors import AdamergeError
from adamerge.threads import read_ahead
from adamerge.types import MultiVector, Page
from adamerge.vectors.watcher import Watcher

T = TypeVar("T")
ReadPages = Callable[[Report | None], Iterable[Page]]


class Batch(NamedTuple):
    """Pages that are encoded together, and the errors of those that could not be read among them."""

    pages: list[Page]
    bad: list[AdamergeError]


def encode_in_batches(
    encoder: Encoder,
    read: ReadPages,
    size: int,
    *,
    skip_bad: Report | None = None,
    watcher: Watcher | None = None,
    with_pictures: bool = False,
) -> Iterator[list[tuple[Page, MultiVector]]]:
    """The pages of each batch as the encoder read them, with words of OCR where it needs them, and their vectors.

    Pages that cannot be read or encoded end the run with an error; with `skip_bad`, that function is told.

    read           gives the pages; it is called with a function that takes the errors of bad ones, or None
    with_pictures  whether somebody looks at the pictures later: they are drawn where the pages are read
    """
    for batch in read_ahead(
        _read_batches(encoder, read, size, skip_bad is not None, with_pictures)
    ):
        for error in batch.bad:
            if skip_bad is not None:
                skip_bad(error)
        if batch.pages:
            yield _encode_batch(encoder, batch.pages, skip_bad, watcher)


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Items, so many at a time."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def _read_batches(
    encoder: Encoder, read: ReadPages, size: int, skips_bad: bool, with_pictures: bool
) -> Generator[Batch, None, None]:
    """The pages that the encoder can read. Errors go with the next batch: they are told by the thread that encodes."""
    bad: list[AdamergeError] = []
    report = bad.append if skips_bad else None
    for pages in batches(_readable(encoder, read(report), report, with_pictures), size):
        yield Batch(pages, bad.copy())
        bad.clear()
    if bad:
        yield Batch([], bad)


def _readable(
    encoder: Encoder, pages: Iterable[Page], report: Report | None, with_pictures: bool
) -> Iterator[Page]:
    """The pages that the encoder can read, with words if it reads words, and with a picture that is drawn if not."""
    looks = with_pictures or not getattr(encoder, "reads_words", False)
    for page in pages:
        try:
            ready = prepare_page(encoder, page)
            if looks:
                ready.draw()
        except AdamergeError as error:
            if report is None:
                raise
            report(error)
            continue
        yield ready


def _encode_batch(
    encoder: Encoder, pages: list[Page], skip_bad: Report | None, watcher: Watcher | None
) -> list[tuple[Page, MultiVector]]:
    if watcher:
        watcher.begin(pages[0].source or pages[0].id)
    encoded = _encoded(encoder, pages, skip_bad)
    if watcher:
        watcher.advance(len(encoded))
    return encoded


def _encoded(
    encoder: Encoder, pages: list[Page], skip_bad: Report | None
) -> list[tuple[Page, MultiVector]]:
    """Pages and their vectors; where a batch fails, its pages are tried one by one."""
    try:
        return list(zip(pages, encoder.encode_pages(pages), strict=True))
    except AdamergeError as error:
        if skip_bad is None:
            raise
        if len(pages) == 1:
            skip_bad(error)
            return []
    encoded = []
    for page in pages:
        encoded += _encoded(encoder, [page], skip_bad)
    return encoded
