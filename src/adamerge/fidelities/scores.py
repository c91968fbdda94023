"""Queries x pages -> MaxSim of every pair, for the uncompressed pages and for each method.

Pages come and go, some at a time; only scores stay. That is 4 bytes for each query, page and method.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from adamerge.arrays import Floats
from adamerge.compress import compress_pages
from adamerge.errors import BadShape
from adamerge.fidelities.queries import Queries
from adamerge.search import score_pages
from adamerge.threads import cores
from adamerge.types import Compressed, MultiVector

Compress = Callable[[MultiVector], Compressed]

PAGES_AT_ONCE = 64


@dataclass(eq=False)
class Scored:
    """What is kept of the pages of one method, or of the uncompressed pages.

    scores  (queries, pages)      patches, vectors, bytes, thetas: a number a page
    """

    parts: list[Floats] = field(default_factory=list)
    patches: list[int] = field(default_factory=list)
    vectors: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    thetas: list[float] = field(default_factory=list)

    def add(self, scores: Floats, pages: Iterable[Compressed]) -> None:
        """Keep what there is to know of some more pages."""
        self.parts.append(scores)
        for page in pages:
            self.patches.append(len(page.groups))
            self.vectors.append(len(page))
            self.bytes.append(page.bytes())
            self.thetas.append(page.cut.theta)

    @property
    def scores(self) -> Floats:
        """The score of every query on every page: (queries, pages)."""
        return np.concatenate(self.parts, axis=1)


def score_methods(
    pages: Iterable[MultiVector],
    methods: Sequence[Compress],
    queries: Queries,
    workers: int | None = None,
) -> tuple[list[str], list[Scored]]:
    """The ids of the pages, and what each method makes of them; pages are read once."""
    ids: list[str] = []
    scored = [Scored() for _ in methods]
    for chunk in _chunks(pages):
        _check_width(chunk, queries)
        ids.extend(page.id for page in chunk)
        for method, kept in zip(methods, scored, strict=True):
            small = list(compress_pages(chunk, method, workers))
            kept.add(score_pages(queries, small, workers or cores()), small)
    return ids, scored


def _chunks(pages: Iterable[MultiVector]) -> Iterator[list[MultiVector]]:
    source = iter(pages)
    while chunk := list(islice(source, PAGES_AT_ONCE)):
        yield chunk


def _check_width(pages: Sequence[MultiVector], queries: Queries) -> None:
    d = queries.vectors.shape[1]
    for page in pages:
        width = page.vectors.shape[1]
        if width != d:
            raise BadShape(f"page '{page.id}' has {width} dimensions, and the queries have {d}")
