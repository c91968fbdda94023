"""What the retrievers of all frameworks share: a query -> pages, each with its text and, if asked for, its picture."""

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any

from adamerge.errors import AdamergeError, NotFound
from adamerge.inspector.page_address import read_page
from adamerge.inspector.stored_page import file_of
from adamerge.search import Hit
from adamerge.store import Entry, Store, is_store, open_named

PIXELS = 1_600  # of a picture, on its longer side
QUALITY = 80  # of JPEG
_drawing = Lock()  # PDFium draws in one thread at a time


@dataclass(frozen=True)
class RetrievedPage:
    """A page that a search found.

    text      the words of the page
    metadata  that of the page in the store, and beside it: source (its file), page (its number, from 1), rank, score
              and snippet (the sentences around the best matches, matched words in **asterisks**)
    picture   a JPEG; b"" if it was not asked for, or if there is none
    """

    id: str
    text: str
    score: float
    metadata: dict[str, Any]
    picture: bytes = b""


def as_store(given: Store | str | Path) -> Store:
    """An open store, or the store of an address; an address without a store is refused."""
    if isinstance(given, Store):
        return given
    if not is_store(given):
        raise NotFound(f"there is no store at {given}: adamerge index makes one")
    return open_named(str(given))


def retrieve(
    store: Store,
    query: str,
    k: int = 5,
    where: str = "",
    pictures: bool = False,
    hybrid: bool = False,
) -> list[RetrievedPage]:
    """The k best pages for a query, best first; `where` is a filter in SQL, as in Store.search.

    With `hybrid` pages are ranked by the words of the query too, not by vectors alone.
    """
    words = None
    if hybrid:
        words = query
    found = store.search(query, k, where, words=words)
    entries = {entry.id: entry for entry in store.get([hit.id for hit in found])}

    pages = []
    for hit in found:
        entry = entries.get(hit.id)
        if entry is not None:  # another process may have removed the page meanwhile
            picture = picture_of(entry) if pictures else b""
            text = " ".join(word.text for word in entry.words)
            pages.append(RetrievedPage(hit.id, text, hit.score, _metadata(hit), picture))
    return pages


def picture_of(entry: Entry) -> bytes:
    """A page as a JPEG: drawn from its file, or else the small picture of the store; b"" where neither is there."""
    try:
        path = file_of(entry)
        with _drawing:
            return _jpeg(read_page(f"{path}#{entry.number}").image)
    except (AdamergeError, OSError):
        pass  # the small one is better than none
    if not entry.thumbnail:
        return b""
    from PIL import Image

    with Image.open(BytesIO(entry.thumbnail)) as small:
        return _jpeg(small)


def _metadata(hit: Hit) -> dict[str, Any]:
    ours: Mapping[str, Any] = {
        "source": hit.source,
        "page": hit.number,
        "rank": hit.rank,
        "score": hit.score,
        "snippet": hit.snippet.marked(),
    }
    return {**hit.metadata, **ours}


def _jpeg(image: Any) -> bytes:
    picture = image.convert("RGB")
    picture.thumbnail((PIXELS, PIXELS))
    out = BytesIO()
    picture.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()
