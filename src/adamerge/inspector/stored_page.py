"""A page of a store -> its patches. A store keeps only compressed pages, so the page's file is encoded again."""

import re
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from adamerge.documents import DPI
from adamerge.encoders import Encoder
from adamerge.encoders.ocr_fallback import prepare_page
from adamerge.errors import NotFound
from adamerge.files import hash_of
from adamerge.inspector.page_address import read_page
from adamerge.store import Entry, Store, is_store
from adamerge.types import MultiVector, Page

MISSING = "a store keeps compressed pages, not the patches they were made from, and "


def split_store(address: str) -> tuple[str, str] | None:
    """The store and the id of `reports.store:report.pdf#3`; None if the address is not one of a store.

    A local store must exist, since its name may have a colon. The address of a remote store ends at the first colon of
    its path: `http://host:6333/reports:report.pdf#3`.
    """
    colons = [match.start() for match in re.finditer(":(?!//)", address)]
    for colon in colons:
        store = address[:colon]
        if "://" not in store and is_store(store):
            return store, address[colon + 1 :]
    for colon in colons:
        store = address[:colon]
        _, remote, path = store.partition("://")
        if remote and "/" in path:
            return store, address[colon + 1 :]
    return None


def entry_by_id(store: Store, id: str) -> Entry:
    """A page of a store by its id."""
    found = store.get([id])
    if not found:
        raise NotFound(f"the store has no page '{id}'; ids are as search gives them: report.pdf#3")
    return found[0]


def file_of(entry: Entry) -> Path:
    """The file that a page was made from; an error if the file is gone or has changed since."""
    return find_original(entry.source, entry.root, [entry.hash])


def find_original(source: str, root: str, hashes: Collection[str]) -> Path:
    """The file `source` of the folder `root`; an error if it is gone, or if its hash is none of `hashes` any more."""
    if not root:
        raise NotFound(f"{MISSING}it does not say where '{source}' was: inspect the file itself")
    if "://" in root:
        raise NotFound(
            f"{MISSING}'{source}' lies in a bucket: copy it from there, and inspect the copy"
        )

    path = Path(root) / source
    if ".." in Path(source).parts or not path.is_file():
        raise NotFound(f"{MISSING}'{source}' is no longer where it was indexed: bring it back")

    status = path.stat()
    is_known = "" in hashes or _hash(path, status.st_mtime_ns, status.st_size) in hashes
    if not is_known:
        raise NotFound(
            f"{MISSING}'{source}' has changed since it was indexed: adamerge index it again"
        )
    return path


def encode_again(
    store: Store, entry: Entry, encoder: Encoder, password: str = ""
) -> tuple[MultiVector, Page]:
    """The patches and the picture of a page: encoded from its file as when the page was indexed."""
    path = file_of(entry)
    about = store.require_about()
    about.check_encoder(encoder.about)
    dpi = about.encoder.get("dpi", DPI)
    page = read_page(f"{path}#{entry.number}", dpi, password)
    words = page.words or entry.words  # what OCR read when the page was indexed
    page = Page(entry.id, page.image, words, entry.source, entry.number)
    page = prepare_page(encoder, page)
    return encoder.encode_pages([page])[0], page


@lru_cache(1024)
def _hash(path: Path, changed: int, size: int) -> str:
    """The hash of a file, computed once for as long as its time of change and its size stay."""
    return hash_of(path)
