"""The address of a page, as a person types it -> that page.

report.pdf#3           a page of a PDF, or of an office file
scan.png               an image
vectors#report.pdf#3   a page of a folder or file of vectors
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from adamerge.documents import DPI, images, office, read_pages, readable_suffixes
from adamerge.encoders import EncoderSpec
from adamerge.errors import BadFile, BadInput, NotFound
from adamerge.types import MultiVector, Page
from adamerge.vectors import NO_OPTIONS, ReadOptions, is_shards, open_shards, read_vectors

PICTURES = images.SUFFIXES | office.SUFFIXES | {".pdf"}
SHOWN = 5  # ids that an error names


@dataclass(frozen=True)
class AllBut:
    """Contains every id but one: a reader of pages passes over the ids that it is told are done."""

    id: str

    def __contains__(self, id: object) -> bool:
        """Whether it is another id."""
        return id != self.id


def split(address: str) -> tuple[Path, str]:
    """The file or folder, and the text after the '#' that follows it. Both may have a '#' in their names."""
    ends = [i for i, letter in enumerate(address) if letter == "#"]
    for end in [*ends, len(address)]:
        path = address[:end]
        if path and Path(path).exists():
            return Path(path), address[end + 1 :]
    raise NotFound(f"{address.partition('#')[0]} does not exist")


def is_picture(address: str) -> bool:
    """Whether the page has to be encoded first: it is of a PDF, an image or an office file, not of vectors."""
    path, _ = split(address)
    return path.suffix.lower() in PICTURES and path.is_file()


def read_page(address: str, dpi: int = DPI, password: str = "") -> Page:
    """One page of a PDF, an image or an office file. A file of one page needs no number."""
    path, number = split(address)
    if path.is_dir() or path.suffix.lower() not in PICTURES:
        readable = ", ".join(sorted(readable_suffixes()))
        raise BadFile(f"{path} is no page: expected one of {readable}")
    if number:
        return _numbered_page(path, number, dpi, password)

    pages = list(islice(read_pages([path], dpi, password=password), 2))
    if len(pages) != 1:
        raise BadInput(f"{path} has several pages: say {path}#1")
    return pages[0]


def _numbered_page(path: Path, number: str, dpi: int, password: str) -> Page:
    if not number.isdecimal() or int(number) == 0:
        raise BadInput(f"the page of {path} is a number from 1 on, got '{number}'")

    ids = [f"{path.name}#{int(number)}"]
    if int(number) == 1:
        ids.append(path.name)  # the only page of a file has no number in its id
    for id in ids:
        for page in read_pages([path], dpi, done=AllBut(id), password=password):
            return page
    raise BadInput(f"{path} has no page {number}")


def read_patches(address: str, options: ReadOptions = NO_OPTIONS) -> MultiVector:
    """One page of a folder or file of vectors, by its id. If there is only one page, it needs no id."""
    path, id = split(address)
    if is_shards(path):
        _refuse_compressed(path)

    ids: list[str] = []
    last: MultiVector | None = None
    for page in read_vectors(path, column=options.column, prompt_rows=options.prompt_rows):
        if page.id == id:
            return page
        ids.append(page.id)
        last = page

    if last is not None and len(ids) == 1 and not id:
        return last
    if id:
        raise BadInput(f"{path} has no page '{id}'; it has {_first(ids)}")
    raise BadInput(f"say which page of {path}: {_first(ids)}")


def encoder_of(address: str, device: str | None = None) -> EncoderSpec | None:
    """The encoder that made a folder of vectors; None if the folder does not say."""
    path, _ = split(address)
    if not is_shards(path):
        return None
    return EncoderSpec.recorded(open_shards(path).manifest.encoder, device)


def _first(ids: Sequence[str]) -> str:
    more = " ..." if len(ids) > SHOWN else ""
    return ", ".join(ids[:SHOWN]) + more


def _refuse_compressed(path: Path) -> None:
    method = open_shards(path).manifest.method
    if method:
        raise BadInput(
            f"{path} is compressed already ({method}): give the vectors that it was made from"
        )
