"""Queries -> what each of their vectors finds on the page, before and after compression."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from adamerge import arrays
from adamerge.arrays import ArrayLike, Floats
from adamerge.errors import BadShape
from adamerge.types import Compressed, MultiVector

NONE = np.zeros(0, np.float32)


@dataclass(frozen=True, eq=False)
class Query:
    """A query as its encoder gave it.

    vectors  (q, d)
    tokens   (q,)    the text of each vector; none are numbered
    """

    text: str
    vectors: Floats
    tokens: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check the shapes and name what has no name."""
        vectors = arrays.floats(self.vectors, f"the vectors of query '{self.text}'", rank=2)
        tokens = tuple(str(token) for token in self.tokens) or tuple(
            str(i + 1) for i in range(len(vectors))
        )
        if len(tokens) != len(vectors) or not len(vectors):
            raise BadShape(
                f"query '{self.text}' has {len(vectors)} vectors and {len(tokens)} tokens"
            )
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "tokens", tokens)


@dataclass(frozen=True, eq=False)
class Found:
    """Inner products of a query's vectors.

    patches  (q, n)  with every patch
    extra    (q,)    the highest with a row of extra; empty without extra
    stored   (q, m)  with what is stored; only where it cannot be told from `patches`
    """

    query: Query
    patches: Floats
    extra: Floats
    stored: Floats


def as_queries(given: Mapping[str, ArrayLike] | Iterable[Query] | None) -> list[Query]:
    """Queries as they are, or from a mapping of texts to vectors (q, d)."""
    if isinstance(given, Mapping):
        return [Query(text, vectors) for text, vectors in given.items()]
    return list(given or ())


def find(query: Query, page: MultiVector, small: Compressed, pooled: bool) -> Found:
    """What a query finds on a page; `pooled` if the stored vectors are means that a reader can take himself."""
    if query.vectors.shape[1] != page.vectors.shape[1]:
        raise BadShape(
            f"query '{query.text}' has shape {query.vectors.shape}, the page {page.vectors.shape}"
        )
    extra = (
        NONE
        if page.extra is None or not len(page.extra)
        else (query.vectors @ page.extra.T).max(axis=1)
    )
    stored = NONE if pooled else query.vectors @ small.vectors.T
    return Found(query, query.vectors @ page.vectors.T, extra, stored)
