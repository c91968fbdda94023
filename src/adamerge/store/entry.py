"""What a store keeps: of each page an entry, of all of them what made them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from io import BytesIO
from itertools import islice
from typing import Any, Self
from uuid import uuid4

import numpy as np

from adamerge.arrays import Floats
from adamerge.errors import BadFile, BadInput, Damaged, Mismatch, TooNew
from adamerge.types import NAN, Compressed, Cut, Page, Word

DTYPES = ("float16", "float32", "int8")
VERSION = 2  # of what is written; 1 had no checksums, and is still read and written
SAME = (
    "name",
    "revision",
    "max_num_visual_tokens",
    "dpi",
)  # what must not differ between the pages of a store


@dataclass(frozen=True, eq=False)
class Entry:
    """A compressed page and what a person wants to see of it.

    source, number, pages   the file it is of, which page of it, and how many that file has
    root                    the folder that file was found in, "" where nobody knows
    hash                    of the file's bytes, to tell whether it has changed
    words                   of the text layer; thumbnail: a small WebP picture, b"" for none
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


@dataclass(frozen=True)
class About:
    """What made the pages of a store, and in which dtype it keeps their vectors."""

    dimension: int
    method: str
    dtype: str = "float16"
    encoder: dict[str, Any] = field(default_factory=dict)
    made: str = field(
        default_factory=lambda: uuid4().hex
    )  # tells a store from one put in its place
    version: int = VERSION
    copied_from: str = ""  # `made` of the store that this is a copy of

    @classmethod
    def from_json(cls, described: Any) -> Self:
        """What a store says of itself; a field that we do not know is passed over, a later version is refused."""
        if not isinstance(described, Mapping) or not isinstance(described.get("version"), int):
            raise BadFile("what is there is not a store of adamerge: it tells no version")
        version = described["version"]
        if version > VERSION:
            raise TooNew(
                f"the store is of version {version}, and this adamerge reads up to version {VERSION}: update adamerge"
            )
        known = {field.name for field in fields(cls)}
        try:
            about = cls(**{name: described[name] for name in known & set(described)})
        except TypeError:
            raise BadFile(
                "what is there is not a store of adamerge: it tells no dimension"
            ) from None
        about._check()
        return about

    def _check(self) -> None:
        """Refuse what no store has ever said of itself."""
        is_sound = (
            isinstance(self.dimension, int)
            and self.dimension > 0
            and self.dtype in DTYPES
            and isinstance(self.method, str)
            and isinstance(self.encoder, dict)
            and isinstance(self.made, str)
        )
        if not is_sound:
            raise Damaged("what the store says of itself makes no sense: restore it")

    def __str__(self) -> str:
        """What made the pages, in words."""
        encoder = self.encoder.get("name", "no named encoder")
        revision = f" ({self.encoder['revision']})" if self.encoder.get("revision") else ""
        return f"{encoder}{revision} + {self.method}"

    def json(self) -> dict[str, Any]:
        """As a store writes it."""
        return asdict(self)

    def check_encoder(self, encoder: Mapping[str, Any]) -> None:
        """Refuse another encoder than the one that made the pages; one that says nothing is trusted."""
        for key in SAME:
            if key in self.encoder and key in encoder and self.encoder[key] != encoder[key]:
                ours, theirs = self.encoder[key], encoder[key]
                raise Mismatch(
                    f"the store holds pages of {self}: its {key} is {ours}, not {theirs}; use another store"
                )

    def check_page(self, page: Compressed) -> None:
        """Refuse a page of another method or dimension."""
        if page.method != self.method:
            raise Mismatch(
                f"page '{page.id}' was compressed by {page.method}, the pages of the store by {self.method}: "
                "use that method, or another store"
            )
        if page.vectors.shape[1] != self.dimension:
            raise Mismatch(
                f"page '{page.id}' has {page.vectors.shape[1]} dimensions, the store {self.dimension}: "
                "another encoder made it; use another store"
            )


def row_of(entry: Entry) -> dict[str, Any]:
    """What every database keeps in plain columns: all but vectors, places, words and picture."""
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
        "extra": 0 if page.extra is None else len(page.extra),
        "groups": page.groups.tolist(),
        "grid": page.grid,
        "merges": page.cut.merges,
        "theta": page.cut.theta,
        "gap": page.cut.gap,
        "words": [word.text for word in entry.words],
    }


def entry_of(
    row: Mapping[str, Any],
    stored: Floats,
    boxes: Floats | None,
    word_boxes: Any,
    method: str,
    **more: Any,
) -> Entry:
    """The entry of a row; `stored` are its groups and then its extra rows, `more` its picture and metadata."""
    m = len(stored) - row["extra"]
    page = Compressed(
        stored[:m],
        np.array(row["groups"], np.int32),
        stored[m:] if row["extra"] else None,
        Cut(row["merges"], *(NAN if row[name] is None else row[name] for name in ("theta", "gap"))),
        method,
        tuple(row["grid"]) if row["grid"] else None,
        boxes,
        row["id"],
    )
    words = tuple(
        Word(text, tuple(box)) for text, box in zip(row["words"], word_boxes, strict=True)
    )
    about = {name: row[name] for name in ("source", "number", "pages", "root", "hash")}
    return Entry(page, words=words, **about, **more)


def as_entry(given: Entry | Compressed) -> Entry:
    """A page as an entry; refused before anything is written if no search could find it, or nobody could name it."""
    if not isinstance(given, Entry | Compressed):
        raise BadInput(
            f"a store takes compressed pages, got a {type(given).__name__}: am.compress(page) makes one"
        )
    entry = given if isinstance(given, Entry) else _of_file(given)
    page = entry.page
    if not page.id:
        raise BadInput("a page needs an id to be stored under: MultiVector(..., id='report.pdf#3')")
    if page.stored.ndim != 2 or not len(page):
        raise BadInput(f"page '{page.id}' has no vectors: {page.vectors.shape}")
    if not np.isfinite(page.stored).all():
        raise BadInput(f"page '{page.id}' holds nan or infinity: no score could be told")
    if len(page.groups) and (page.groups.min() < -1 or page.groups.max() >= len(page)):
        raise BadInput(
            f"page '{page.id}' has groups from {page.groups.min()} to {page.groups.max()}, and {len(page)} rows"
        )
    return entry


def _of_file(page: Compressed) -> Entry:
    """The entry of a bare page; an id such as report.pdf#3 tells its file and number."""
    source, mark, number = page.id.rpartition("#")
    return Entry(page, source, int(number)) if mark and number.isdecimal() else Entry(page, page.id)


def batches(
    given: Entry | Compressed | Iterable[Entry | Compressed], size: int
) -> Iterator[list[Entry]]:
    """Pages as entries, so many at a time; an id that comes twice is refused when it comes."""
    pages = iter(given if isinstance(given, Iterable) and not isinstance(given, str) else [given])
    seen: set[str] = set()
    while batch := [as_entry(page) for page in islice(pages, size)]:
        for entry in batch:
            if entry.id in seen:
                raise BadInput(
                    f"page '{entry.id}' comes twice in one call: which of them is to be stored?"
                )
            seen.add(entry.id)
        yield batch


def thumbnail(page: Page, pixels: int) -> bytes:
    """A page's picture as WebP, at most so many pixels on its longer side; 0 for none."""
    if not pixels or page.image is None:
        return b""
    small = page.image.copy()
    small.thumbnail((pixels, pixels))
    out = BytesIO()
    small.save(out, "WEBP", quality=50, method=2)
    return out.getvalue()
