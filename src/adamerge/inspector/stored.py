"""A page of a store -> its patches again: a store keeps what is compressed, so the page is encoded from its file."""

from functools import lru_cache
from pathlib import Path

from adamerge.encoders import Encoder
from adamerge.encoders.ocr_fallback import prepare_page
from adamerge.errors import NotFound
from adamerge.files import hash_of
from adamerge.inspector.source import read_page
from adamerge.pages import DPI
from adamerge.store import Entry, Store, is_store
from adamerge.types import MultiVector, Page


def split_store(where: str) -> tuple[str, str] | None:
    """The store and the id of `reports.store:report.pdf#3`; None where no store is meant."""
    places = [i for i, letter in enumerate(where) if letter == ":" and where[i + 1 : i + 3] != "//"]
    for i in places:
        at = where[:i]
        if "://" not in at and is_store(at):
            return at, where[i + 1 :]
    remote = [i for i in places if "://" in where[:i] and "/" in where[:i].split("://", 1)[1]]
    return (where[: remote[0]], where[remote[0] + 1 :]) if remote else None


def entry_of(store: Store, id: str) -> Entry:
    """A page of a store by its id."""
    if found := store.get([id]):
        return found[0]
    raise NotFound(f"the store has no page '{id}'; ids are as search gives them: report.pdf#3")


def file_of(entry: Entry) -> Path:
    """The file that a page was made from, if it is still there and has not changed; else what is missing, in words."""
    missing = "a store keeps compressed pages, not the patches they were made from, and "
    if not entry.root:
        raise NotFound(
            f"{missing}it does not say where '{entry.source}' was: inspect the file itself"
        )
    path = Path(entry.root) / entry.source
    if ".." in Path(entry.source).parts or not path.is_file():
        raise NotFound(
            f"{missing}'{entry.source}' is no longer where it was indexed: bring it back"
        )
    if entry.hash and _hash(path, path.stat().st_mtime_ns, path.stat().st_size) != entry.hash:
        raise NotFound(
            f"{missing}'{entry.source}' has changed since it was indexed: adamerge index it again"
        )
    return path


def encode_again(store: Store, entry: Entry, encoder: Encoder) -> tuple[MultiVector, Page]:
    """The patches and the picture of a page, by the encoder that made it, in the resolution that the store knows."""
    about = store.require_about()
    path = file_of(entry)
    about.check_encoder(encoder.about)
    page = read_page(f"{path}#{entry.number}", about.encoder.get("dpi", DPI))
    words = page.words or entry.words  # what OCR read when the page was indexed
    page = Page(entry.id, page.image, words, entry.source, entry.number)
    page = prepare_page(encoder, page)
    return encoder.encode_pages([page])[0], page


@lru_cache(1024)
def _hash(path: Path, changed: int, size: int) -> str:
    """The hash of a file, computed once for as long as it stays as it is."""
    return hash_of(path)
