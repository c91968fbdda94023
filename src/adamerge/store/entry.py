"""What a store keeps of each page, and of each file."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from io import BytesIO
from itertools import islice
from os import PathLike
from typing import Any

import numpy as np

from adamerge.arrays import Floats
from adamerge.codes import StoredRows
from adamerge.errors import BadInput
from adamerge.search import PageRegions
from adamerge.types import NAN, Compressed, Cut, MultiVector, Page, Word, shortened, shown


@dataclass(frozen=True, eq=False)
class Entry:
    """A compressed page and what a person wants to see of it.

    source, number, pages   the file of the page, which page of that file it is, and how many pages the file has
    root                    the folder in which that file was found, "" where it is not known
    hash                    of the bytes of the file, which tells whether it has changed
    words                   of the text layer
    thumbnail               a small WebP picture, b"" for none
    metadata                values by name: bool, int, float, str, datetime or date
    """

    page: Compressed
    source: str = ""
    number: int = 1
    pages: int = 1
    root: str = ""
    hash: str = ""
    words: tuple[Word, ...] = ()
    thumbnail: bytes = b""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the page."""
        return self.page.id

    @cached_property
    def regions(self) -> PageRegions:
        """Where the stored rows lie on the page, and which words stand there; kept for the next query."""
        return PageRegions(self.page, self.words)

    def __repr__(self) -> str:
        """The entry in words, without vectors, words and picture."""
        vectors = f"{len(self.page):,} vectors"
        words = f"{len(self.words):,} words"
        facts = [vectors, words]
        if self.metadata:
            facts.append(shortened(str(dict(self.metadata))))
        return shown("Entry", self.id, *facts)


@dataclass(frozen=True)
class Source:
    """A file whose pages are in a store.

    hashes         id of each page in the store -> hash of the file when that page was indexed
    pages          how many pages the file has
    root           the folder in which it was found
    vector_counts  id -> stored vectors of that page, with its extra rows
    written        id -> when the page was written, in ns since 1970; empty where the database does not tell
    """

    hashes: dict[str, str]
    pages: int
    root: str
    metadata: dict[str, Any] = field(default_factory=dict)
    vector_counts: dict[str, int] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)

    @property
    def indexed(self) -> datetime | None:
        """When its last page was stored; None where the database does not tell."""
        if not self.written:
            return None
        return datetime.fromtimestamp(max(self.written.values()) / 1e9, UTC)


def row_of(entry: Entry) -> dict[str, Any]:
    """What every database keeps in plain columns: all but vectors, boxes, picture and metadata."""
    page = entry.page
    return {
        "id": entry.id,
        "source": entry.source,
        "number": entry.number,
        "pages": entry.pages,
        "root": entry.root,
        "hash": entry.hash,
        "patches": len(page.groups),
        "rows": len(page.stored),
        "extra": page.extra_rows,
        "groups": page.groups.tolist(),
        "grid": page.grid,
        "merges": page.cut.merges,
        "theta": page.cut.theta,
        "gap": page.cut.gap,
        "words": [word.text for word in entry.words],
    }


def entry_of(
    row: Mapping[str, Any],
    vectors: Floats,
    rows: StoredRows | None,
    boxes: Floats | None,
    word_boxes: Any,
    method: str,
    thumbnail: bytes,
    metadata: Mapping[str, Any],
) -> Entry:
    """The entry of a row; `vectors` (m + e, d) are the groups of the page and then its extra rows.

    rows  what the vectors stand for, where a database keeps int8 or codes
    """
    m = len(vectors) - row["extra"]
    extra = None
    if row["extra"]:
        extra = vectors[m:]
    grid = None
    if row["grid"]:
        grid = tuple(row["grid"])

    page = Compressed(
        vectors[:m],
        np.array(row["groups"], np.int32),
        extra,
        Cut(row["merges"], _nan_if_null(row["theta"]), _nan_if_null(row["gap"])),
        method,
        grid,
        boxes,
        row["id"],
        rows,
    )

    words = []
    for text, box in zip(row["words"], word_boxes, strict=True):
        words.append(Word(text, tuple(box)))
    return Entry(
        page,
        row["source"],
        row["number"],
        row["pages"],
        row["root"],
        row["hash"],
        tuple(words),
        thumbnail,
        metadata,
    )


def _nan_if_null(value: float | None) -> float:
    return NAN if value is None else value


def entry_batches(
    given: Entry | Compressed | Iterable[Entry | Compressed], size: int
) -> Iterator[list[Entry]]:
    """Pages as entries, `size` at a time; an id that comes a second time is refused."""
    if not isinstance(given, Iterable):
        given = [given]
    pages = iter(given)
    seen: set[str] = set()
    while batch := [as_entry(page) for page in islice(pages, size)]:
        for entry in batch:
            if entry.id in seen:
                raise BadInput(
                    f"page '{entry.id}' comes twice in one call: which of them is to be stored?"
                )
            seen.add(entry.id)
        yield batch


def as_entry(given: Entry | Compressed) -> Entry:
    """A page as an entry; a page without an id, or that no search could find, is refused before it is written."""
    if not isinstance(given, Entry | Compressed):
        raise BadInput(
            f"a store takes compressed pages, got a {type(given).__name__}: {_line_to_write(given)}"
        )
    entry = given if isinstance(given, Entry) else _entry_from_id(given)
    page = entry.page
    if not page.id:
        raise BadInput("a page needs an id to be stored under: MultiVector(..., id='report.pdf#3')")
    if page.stored.ndim != 2 or not len(page):
        raise BadInput(f"page '{page.id}' has no vectors: {page.vectors.shape}")
    if not np.isfinite(page.stored).all():
        raise BadInput(f"page '{page.id}' holds nan or infinity: it could have no score")
    if len(page.groups) and (page.groups.min() < -1 or page.groups.max() >= len(page)):
        raise BadInput(
            f"page '{page.id}' has groups from {page.groups.min()} to {page.groups.max()}, and {len(page)} rows"
        )
    return entry


def _line_to_write(given: object) -> str:
    """What to write in place of a page that is not compressed."""
    if isinstance(given, str | PathLike):
        return f"am.index_files([{str(given)!r}], store) reads, encodes and stores files"
    if isinstance(given, MultiVector):
        return "store.add(am.compress(page))"
    return "store.add(am.compress(am.MultiVector(vectors, id='report.pdf#3')))"


def _entry_from_id(page: Compressed) -> Entry:
    """The entry of a bare page; an id such as report.pdf#3 tells its file and number."""
    source, mark, number = page.id.rpartition("#")
    if mark and number.isdecimal():
        return Entry(page, source, int(number))
    return Entry(page, page.id)


def thumbnail(page: Page, pixels: int) -> bytes:
    """The picture of a page as WebP, with `pixels` on its longer side at most; b"" if that is 0."""
    if not pixels or page.image is None:
        return b""
    small = page.image.copy()
    small.thumbnail((pixels, pixels))
    out = BytesIO()
    small.save(out, "WEBP", quality=50, method=2)
    return out.getvalue()
