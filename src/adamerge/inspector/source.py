"""What a person types -> one page: `report.pdf#3`, `scan.png`, or `vectors#report.pdf#3`."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from adamerge.encoders import EncoderSpec
from adamerge.errors import BadFile, BadInput, NotFound
from adamerge.pages import DPI, SUFFIXES, read_pages
from adamerge.types import MultiVector, Page
from adamerge.vectors import NO_OPTIONS, ReadOptions, is_shards, open_shards, read_vectors

SHOWN = 5  # ids named in an error


@dataclass(frozen=True)
class AllBut:
    """Holds every id but one: what a reader of pages has to pass over."""

    id: str

    def __contains__(self, id: object) -> bool:
        """Whether it is another."""
        return id != self.id


def split(where: str) -> tuple[Path, str]:
    """The file or folder, and what stands after the '#' that follows it; both may have a '#' of their own."""
    ends = [i for i, letter in enumerate(where) if letter == "#"]
    for end in [*ends, len(where)]:
        if end and Path(where[:end]).exists():
            return Path(where[:end]), where[end + 1 :]
    raise NotFound(f"{where.partition('#')[0]} does not exist")


def is_picture(where: str) -> bool:
    """Whether a page has to be encoded first: a PDF or an image, not vectors."""
    path, _ = split(where)
    return path.suffix.lower() in SUFFIXES and path.is_file()


def read_page(where: str, dpi: int = DPI) -> Page:
    """One page of a PDF or an image; the only one if none is named."""
    path, number = split(where)
    if path.is_dir() or path.suffix.lower() not in SUFFIXES:
        raise BadFile(f"{path} is no page: expected one of {', '.join(sorted(SUFFIXES))}")
    if number and not (number.isdecimal() and int(number)):
        raise BadInput(f"the page of {path} is a number from 1 on, got '{number}'")
    if number:
        name = f"{path.name}#{int(number)}"
        found = [
            page
            for id in {name, *([path.name] if int(number) == 1 else [])}
            for page in _only(path, id, dpi)
        ]
    else:
        found = list(islice(read_pages([path], dpi), 2))
    if len(found) != 1:
        raise BadInput(
            f"{path} has no page {number}" if number else f"{path} has several pages: say {path}#1"
        )
    return found[0]


def _only(path: Path, id: str, dpi: int) -> list[Page]:
    return list(read_pages([path], dpi, done=AllBut(id)))


def read_patches(where: str, options: ReadOptions = NO_OPTIONS) -> MultiVector:
    """One page of a folder or file of vectors, by its id; the only one if none is named."""
    path, id = split(where)
    if is_shards(path):
        _refuse_compressed(path)
    ids: list[str] = []
    found: MultiVector | None = None
    for page in read_vectors(path, column=options.column, prompt_rows=options.prompt_rows):
        if page.id == id:
            return page
        found = page
        ids.append(page.id)
    if found is not None and len(ids) == 1 and not id:
        return found
    known = f"{', '.join(ids[:SHOWN])}{' ...' if len(ids) > SHOWN else ''}"
    raise BadInput(
        f"{path} has no page '{id}'; it has {known}" if id else f"say which page of {path}: {known}"
    )


def encoder_of(where: str, device: str | None = None) -> EncoderSpec | None:
    """The encoder that made a folder of vectors, if it says so."""
    path, _ = split(where)
    if not is_shards(path):
        return None
    return EncoderSpec.recorded(open_shards(path).manifest.encoder, device)


def _refuse_compressed(path: Path) -> None:
    if method := open_shards(path).manifest.method:
        raise BadInput(
            f"{path} is compressed already ({method}): give the vectors that it was made from"
        )
