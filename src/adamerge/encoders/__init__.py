"""Page -> MultiVector. load_encoder(name) loads one when it is asked for; `import adamerge` imports none of them.

spec.py                       which encoder is asked for: name and options, as everything records it
encode.py                     files -> a folder of vectors
batches.py                    some pages at a time are encoded, while the next ones are read
minilm.py                     words on a laptop; bert.py: BERT without torch; minilm_weights.py: its weights
ocr_fallback.py, ocr.py       the words of pages without a text layer
colpali.py                    the ColPali family; layout.py: where its patches lie; device.py: where it runs
checkpoint.py                 the files of a model, on the hub or in a folder
attention.py                  the attention of the last layer, read while a model runs
query_prefix.py               the words before a query that a model was trained with
"""

from collections.abc import Sequence
from typing import Any, Protocol

from adamerge.arrays import Floats
from adamerge.encoders.spec import DEFAULT_ENCODER, EncoderSpec
from adamerge.types import MultiVector, Page

__all__ = [
    "DEFAULT_ENCODER",
    "Encoder",
    "EncoderSpec",
    "as_pages",
    "load_encoder",
]


class Encoder(Protocol):
    """Turns pages into patches, and queries into vectors to find them by; any number of threads may ask it.

    An encoder of text says `reads_words = True`: pages without a text layer then come with the words that OCR reads.
    """

    name: str
    revision: str
    dim: int

    @property
    def about(self) -> dict[str, Any]:
        """What a store or a manifest says of it: name, revision, and the `options` that load it again."""

    def encode_pages(self, pages: Sequence[Page | Any]) -> list[MultiVector]:
        """The patches of each page; a bare PIL image is a page without words."""

    def encode_queries(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of each query: (q, d)."""

    def query_tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """What stands behind each of those vectors, to show: q texts per query."""


def as_pages(given: Sequence[Page | Any]) -> list[Page]:
    """Pages as they are, and bare PIL images as pages that are named by their number."""
    pages = []
    for i, page in enumerate(given):
        if not isinstance(page, Page):
            page = Page(str(i), page)
        pages.append(page)
    return pages


def load_encoder(name: str, *, device: str | None = None, **options: Any) -> Encoder:
    """An encoder by name: `minilm`, a checkpoint of the ColPali family (hub or folder), or `package.module:Class`."""
    return EncoderSpec(name, options, device).load()
