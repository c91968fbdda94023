"""An encoder that needs no model: a patch a word, its vector drawn from its letters. For tests of what is around."""

from dataclasses import replace
from hashlib import sha256

import numpy as np

import adamerge as am
from adamerge.errors import BadInput

D = 32


class Light:
    """A word is the same vector wherever it stands."""

    name, revision, dim = "light", "1", D

    def __init__(self, name="light", *, revision="1"):
        self.name, self.revision = name, revision

    @property
    def about(self):
        return {"name": self.name, "revision": self.revision}

    def encode_pages(self, pages):
        return [self._page(page) for page in pages]

    def encode_queries(self, texts):
        if empty := [text for text in texts if not text.split()]:
            raise BadInput(f"a query needs words, got {empty[0]!r}")
        return [np.array([of_word(word) for word in text.split()]) for text in texts]

    def query_tokens(self, texts):
        return [text.split() for text in texts]

    def _page(self, page):
        if not page.words:
            raise BadInput(f"page '{page.id}' has no words")
        vectors = np.array([of_word(word.text) for word in page.words])
        boxes = np.array([word.box for word in page.words])
        return am.MultiVector(vectors, np.ones(len(vectors)), boxes=boxes, id=page.id)


class Batched(Light):
    """As a model on a GPU: the vectors of a page depend a little on the pages that it is encoded with."""

    def encode_pages(self, pages):
        alone = super().encode_pages(pages)
        others = sum(len(page) for page in alone)
        return [replace(page, vectors=page.vectors * (1 + others / 4096)) for page in alone]


def of_word(word):
    seed = int.from_bytes(sha256(word.lower().encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=D)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def write_pdf(path, pages):
    """A PDF with a line of words per page."""
    from reportlab.pdfgen.canvas import Canvas  # servers and workers need the encoder alone

    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path), pagesize=(300, 200), invariant=1)
    for text in pages:
        canvas.drawString(20, 100, text)
        canvas.showPage()
    canvas.save()
    return path
