"""Queries -> the inner products of their vectors with a page, before and after compression."""

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
    tokens   (q,)    the text of each vector; vectors without texts are numbered
    """

    text: str
    vectors: Floats
    tokens: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check the shapes, and number the tokens if they have no texts."""
        vectors = arrays.floats(self.vectors, f"the vectors of query '{self.text}'", rank=2)
        numbers = range(1, len(vectors) + 1)
        tokens = tuple(map(str, self.tokens or numbers))
        if len(tokens) != len(vectors) or not len(vectors):
            raise BadShape(
                f"query '{self.text}' has {len(vectors)} vectors and {len(tokens)} tokens"
            )
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "tokens", tokens)


@dataclass(frozen=True, eq=False)
class QueryScores:
    """Inner products of a query's vectors.

    patches  (q, n)  with every patch
    extra    (q,)    the highest with a row of extra; empty without extra
    stored   (q, m)  with every stored vector; empty where the browser computes it from `patches`
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


def score(
    query: Query, page: MultiVector, small: Compressed, browser_can_pool: bool
) -> QueryScores:
    """The inner products of a query with a page.

    The browser can pool if stored vectors are means of their patches: the inner product with a mean is the mean of the
    inner products.
    """
    if query.vectors.shape[1] != page.vectors.shape[1]:
        raise BadShape(
            f"query '{query.text}' has shape {query.vectors.shape}, the page {page.vectors.shape}"
        )
    extra = stored = NONE
    if page.extra is not None and len(page.extra):
        extra = (query.vectors @ page.extra.T).max(axis=1)
    if not browser_can_pool:
        stored = query.vectors @ small.vectors.T
    return QueryScores(query, query.vectors @ page.vectors.T, extra, stored)
