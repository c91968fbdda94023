"""Page -> MultiVector. load_encoder(name) loads one when it is asked for; `import adamerge` imports none of them."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from adamerge.arrays import Floats
from adamerge.errors import missing_extra
from adamerge.types import MultiVector, Page

# kind -> (module and class, packages it needs, extra that installs them, what it is)
ENCODERS = {
    "minilm": (
        "minilm.MiniLM",
        ("transformers", "torch"),
        "local",
        "words of the text layer, on any laptop; of scans, with the extra ocr",
    ),
    "colpali": ("colpali.ColPaliEncoder", ("colpali_engine", "torch"), "colpali", "page images, by hub name or folder"),
}


class Encoder(Protocol):
    """Turns pages into patches, and queries into vectors to find them by."""

    name: str
    revision: str
    dim: int

    @property
    def about(self) -> dict[str, Any]:
        """What a manifest says of it."""

    def encode_pages(self, pages: Sequence[Page | Any]) -> list[MultiVector]:
        """The patches of each page; a bare PIL image is a page without words."""

    def encode_queries(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of each query: (q, d)."""

    def query_tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """What stands behind each of those vectors, to show: q texts per query."""


def as_pages(given: Sequence[Page | Any]) -> list[Page]:
    """Pages as they are, and bare PIL images as pages that are named by their number."""
    return [page if isinstance(page, Page) else Page(str(i), page) for i, page in enumerate(given)]


def load_encoder(name: str, **options: Any) -> Encoder:
    """An encoder by name: `minilm`, or a checkpoint of the ColPali family on the hub or in a folder."""
    kind = name if name in ENCODERS else "colpali"
    where, packages, extra, _ = ENCODERS[kind]
    if not all(find_spec(package) for package in packages):
        raise missing_extra(f"the encoder {name}", extra)
    module, cls = where.split(".")
    encoder: Encoder = getattr(import_module(f"adamerge.encoders.{module}"), cls)(name, **options)
    return encoder
