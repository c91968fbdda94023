"""Any encoder of ours, compressed by any method, as a model of mteb: its own code runs the tasks and measures them.

    mteb.evaluate(CompressedModel("vidore/colqwen2.5-v0.2", "adamerge"), mteb.get_benchmark("ViDoRe(v2)"))

Pages are encoded as everywhere here and searched by exact MaxSim over what is stored: nothing is padded with zeros, as
in mteb's own search, and no page is held uncompressed. Needs the extra `mteb`.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from mteb.models import ModelMeta

from adamerge.arrays import Floats
from adamerge.compress.names import as_method
from adamerge.encoders import Encoder, load_encoder
from adamerge.encoders.batches import batches
from adamerge.errors import BadInput
from adamerge.evaluate.experiment import file_name
from adamerge.search import score_pages, stack_queries
from adamerge.types import Compressed, MultiVector, Page, Word

BATCH = 4
Hits = dict[str, dict[str, float]]  # query id -> page id -> score


class CompressedModel:
    """An encoder and a method as mteb's SearchProtocol: it indexes the pages of a task, then answers its queries."""

    def __init__(
        self, encoder: Encoder | str, method: str = "adamerge", *, threads: int = 1
    ) -> None:
        """An encoder by name or loaded, and a method by name."""
        self.encoder = load_encoder(encoder) if isinstance(encoder, str) else encoder
        self.method = as_method(method)
        self.threads = threads
        self.pages: list[Compressed] = []

    @property
    def mteb_model_meta(self) -> ModelMeta:
        """What mteb's results say of the model: the encoder and the method in its name, the encoder's revision."""
        name = f"adamerge/{Path(self.encoder.name).name}--{file_name(str(self.method))}"
        about = {"name": name, "revision": self.encoder.revision, "embed_dim": self.encoder.dim}
        kinds = {
            "modalities": ["image", "text"],
            "model_type": ["late-interaction"],
            "similarity_fn_name": "MaxSim",
        }
        return ModelMeta.create_empty(overwrites=about | kinds)

    @property
    def compression(self) -> float:
        """Share of the patches of the last corpus that are not stored."""
        stored = sum(len(page) for page in self.pages)
        patches = sum(len(page.groups) for page in self.pages)
        return 1 - stored / max(patches, 1)

    def index(
        self, corpus: Iterable[Mapping[str, Any]], *, encode_kwargs: Mapping[str, Any], **_: Any
    ) -> None:
        """Encode and compress the pages of a task, a batch at a time."""
        size = int(encode_kwargs.get("batch_size", BATCH))
        self.pages = [self.method(page) for page in self._encoded(corpus, size)]

    def search(
        self,
        queries: Iterable[Mapping[str, Any]],
        *,
        top_k: int,
        top_ranked: Mapping[str, Iterable[str]] | None = None,
        **_: Any,
    ) -> Hits:
        """The best pages of every query; of those that are offered in `top_ranked` alone, where there are such."""
        texts = {str(row["id"]): str(row["text"]) for row in queries}
        encoded = self.encoder.encode_queries(list(texts.values()))
        vectors = stack_queries(MultiVector(query) for query in encoded)
        scores = score_pages(vectors, self.pages, self.threads)

        offered = top_ranked or {}
        hits: Hits = {}
        for id, row in zip(texts, scores, strict=True):
            hits[id] = self._best(row, top_k, offered.get(id))
        return hits

    def _encoded(self, corpus: Iterable[Mapping[str, Any]], size: int) -> Iterator[MultiVector]:
        for some in batches(map(_page, corpus), size):
            yield from self.encoder.encode_pages(some)

    def _best(self, row: Floats, top_k: int, offered: Iterable[str] | None) -> dict[str, float]:
        allowed = None
        if offered is not None:
            allowed = set(offered)
        best: dict[str, float] = {}
        for i in np.argsort(-row, kind="stable"):
            if len(best) == top_k:
                break
            id = self.pages[i].id
            if allowed is None or id in allowed:
                best[id] = float(row[i])
        return best


def _page(row: Mapping[str, Any]) -> Page:
    """A row of a corpus as a page: its image, or its text as words without places."""
    image = row.get("image")
    title = row.get("title") or ""
    text = row.get("text") or ""
    words = f"{title} {text}".split()
    if image is None and not words:
        raise BadInput(
            f"page '{row['id']}' of the task has neither an image nor a text: we encode nothing else"
        )
    if image is not None:
        image = image.convert("RGB")
    nowhere = (0.0, 0.0, 0.0, 0.0)
    return Page(str(row["id"]), image, tuple(Word(word, nowhere) for word in words))
