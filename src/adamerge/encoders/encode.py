"""Pages -> a folder of vectors, batch by batch; a run that was killed goes on where it was."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from adamerge.encoders import Encoder
from adamerge.encoders.ocr_fallback import prepare_page
from adamerge.errors import AdamergeError, BadFile
from adamerge.files import fingerprint
from adamerge.pages import DPI, Report, find_files, read_pages
from adamerge.types import MultiVector, Page
from adamerge.vectors import Writer

T = TypeVar("T")


class Watcher(Protocol):
    """Is told how far encoding is, while it goes on."""

    def begin(self, current: str) -> None:
        """The file whose pages are encoded next."""

    def advance(self, count: int = 1) -> None:
        """So many more pages were encoded."""


def encode_files(
    paths: Sequence[str | Path],
    out: str | Path,
    encoder: Encoder,
    *,
    batch_size: int = 4,
    dpi: int = DPI,
    skip_bad: Report | None = None,
    watcher: Watcher | None = None,
) -> Iterator[MultiVector]:
    """Encode files into a folder and yield every page once it is taken; pages that are there already are passed over.

    A shard ends with a whole batch, so that a resumed run makes the same batches, and the same shards, as one that was
    never stopped; but for pages that the encoder refused, which are tried again.
    """
    files = [(name, path) for path, name in find_files(paths)]
    source = fingerprint(*files)

    def pages(done: Container[str]) -> Iterator[Page]:
        return read_pages(paths, dpi, skip_bad, done)

    about = {"batch size": batch_size, "dpi": dpi}
    return encode_pages(
        pages,
        out,
        encoder,
        about=about,
        source=source,
        batch_size=batch_size,
        skip_bad=skip_bad,
        watcher=watcher,
    )


def encode_pages(
    pages: Callable[[Container[str]], Iterable[Page]],
    out: str | Path,
    encoder: Encoder,
    *,
    about: dict[str, Any],
    source: str,
    batch_size: int = 4,
    skip_bad: Report | None = None,
    watcher: Watcher | None = None,
) -> Iterator[MultiVector]:
    """Encode pages of any kind as encode_files() does; `pages` gives those whose ids are not in a container of ids."""
    with Writer(out, encoder=encoder.about | about, source=source) as folder:
        for batch in batches(pages(frozenset(folder.ids())), batch_size):
            encoded = encode_batch(encoder, batch, skip_bad, watcher)
            vectors = [vectors for _, vectors in encoded]
            folder.add(*vectors)
            yield from vectors
        if not folder.done and not folder.waiting:
            raise BadFile("no page could be encoded, and nothing was written")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Items, so many at a time."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def encode_batch(
    encoder: Encoder,
    batch: list[Page],
    skip_bad: Report | None = None,
    watcher: Watcher | None = None,
) -> list[tuple[Page, MultiVector]]:
    """The pages of a batch as the encoder read them, with words of OCR where it needs them, and their vectors.

    Pages that cannot be read or encoded end the run with an error; with `skip_bad`, that function is told.
    """
    if watcher:
        watcher.begin(batch[0].source or batch[0].id)
    pages = _readable(encoder, batch, skip_bad)
    encoded = _encoded(encoder, pages, skip_bad)
    if watcher:
        watcher.advance(len(encoded))
    return encoded


def _readable(encoder: Encoder, batch: list[Page], skip_bad: Report | None) -> list[Page]:
    """The pages that the encoder can read, with words if it reads words."""
    pages = []
    for page in batch:
        try:
            pages.append(prepare_page(encoder, page))
        except AdamergeError as error:
            if skip_bad is None:
                raise
            skip_bad(error)
    return pages


def _encoded(
    encoder: Encoder, pages: list[Page], skip_bad: Report | None
) -> list[tuple[Page, MultiVector]]:
    """Pages and their vectors; where a batch fails, its pages are tried one by one."""
    if not pages:
        return []
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
