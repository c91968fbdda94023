"""A sample and its queries -> what each method in each dtype keeps of the uncompressed order, and its bytes.

A page is linked once for all heights, and pooled once for all dtypes: only its numbers are rounded again.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from adamerge.arrays import Floats
from adamerge.codes import bytes_per_row
from adamerge.compress import Height, Identity, Method
from adamerge.fidelities import Queries, measures
from adamerge.fidelities.bootstrap import Estimate, mean_by_page
from adamerge.plans.linked_pages import LinkedPages, link_pages
from adamerge.search import StackedQueries, score_pages
from adamerge.types import Compressed, MultiVector

FLOATS = ("float16", "float32")


@dataclass(frozen=True)
class Measured:
    """What a method in a dtype makes of the sample: means over its pages.

    method            its name, ready for --method
    dtype             in which its vectors are kept
    bytes_per_page    of vectors and extra rows, with their scales
    rows_per_page     stored vectors and extra rows
    most_rows         of any page of the sample
    compression       1 - stored patches / patches
    agreement         share of the uncompressed top ten that is kept
    """

    method: str
    dtype: str
    bytes_per_page: float
    rows_per_page: float
    most_rows: int
    compression: float
    agreement: Estimate


class SampleTrial:
    """A sample of pages on which methods are tried, one after the other."""

    def __init__(
        self, pages: Sequence[MultiVector], queries: Queries, top: int, workers: int, seed: int
    ) -> None:
        """Score the uncompressed pages; `top` is that of agreement."""
        self.pages = pages
        self.d = pages[0].vectors.shape[1]
        self.queries = queries
        self._top = top
        self._workers = workers
        self._seed = seed

        self._linked: dict[float | None, LinkedPages] = {}
        self._sources = queries.pages
        if not queries.know_their_page:
            self._sources = np.arange(len(queries))
        self._before = self._scores(self._compressed(None, None), "float16")

    @property
    def has_attention(self) -> bool:
        """Whether every page can be pruned by attention."""
        return all(page.attention is not None for page in self.pages)

    def linked(self, k: float | None) -> LinkedPages:
        """The pages with their trees after pruning at k; linked once."""
        if k not in self._linked:
            self._linked[k] = link_pages(self.pages, k, self._workers)
        return self._linked[k]

    def measure(self, h: float | None, k: float | None, dtypes: Sequence[str]) -> list[Measured]:
        """What Height(h, k) keeps in each of some dtypes; h = None is the uncompressed page."""
        small = self._compressed(h, k)
        method = _method(h, k)
        found = []
        for dtype in dtypes:
            if h is None and dtype in FLOATS:
                after = self._before
            else:
                after = self._scores(small, dtype)
            found.append(self._measure(method, small, dtype, after))
        return found

    def _compressed(self, h: float | None, k: float | None) -> list[Compressed]:
        if h is None:
            return [Identity()(page) for page in self.pages]
        return self.linked(k).compress(h, self._workers)

    def _measure(
        self, method: Method, small: Sequence[Compressed], dtype: str, after: Floats
    ) -> Measured:
        values = measures.agreement(self._before, after, self._top)
        rows = np.array([len(page) + page.extra_rows for page in small])
        patches = sum(len(page.groups) for page in small)
        stored = sum(len(page) for page in small)
        return Measured(
            method=name_in_dtype(method, dtype),
            dtype=dtype,
            bytes_per_page=float(rows.mean()) * bytes_per_row(self.d, dtype),
            rows_per_page=float(rows.mean()),
            most_rows=int(rows.max()),
            compression=1 - stored / patches,
            agreement=mean_by_page(values, self._sources, self._seed),
        )

    def _scores(self, pages: Sequence[Compressed], dtype: str) -> Floats:
        return score_in_dtype(self.queries, pages, dtype, self._workers)


def score_in_dtype(
    queries: StackedQueries, pages: Sequence[Compressed], dtype: str, workers: int
) -> Floats:
    """The score of every query on every page, as a store of the dtype has it: (queries, pages)."""
    if dtype in FLOATS:
        return score_pages(queries, pages, workers)

    def rounded(page: Compressed) -> Compressed:
        return replace(page, rows=page.rows_in(dtype))

    with ThreadPoolExecutor(workers) as pool:
        return score_pages(queries, pool.map(rounded, pages), workers)


def name_in_dtype(method: Method | str, dtype: str) -> str:
    """The name of a method with its dtype: height:h=1+int4; float16 is not written."""
    if dtype == "float16":
        return str(method)
    return f"{method}+{dtype}"


def _method(h: float | None, k: float | None) -> Method:
    if h is None:
        return Identity()
    return Height(h=h, k=k)
