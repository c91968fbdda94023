"""A method and a dataset as an encoder sees it -> a cell: compress the pages, score them, measure the queries."""

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from statistics import fmean
from time import thread_time
from typing import NamedTuple

from adamerge.arrays import Floats
from adamerge.compress.methods import PruneThenMerge, SemCluster
from adamerge.compress.names import split_dtype
from adamerge.compress.stream import compress_pages
from adamerge.evaluate.data import Dataset
from adamerge.evaluate.experiment.bm25_control import bm25_scores
from adamerge.evaluate.experiment.cell import Cell, rounded
from adamerge.evaluate.experiment.controls import (
    Compressor,
    Control,
    MethodOrControl,
    compressor,
)
from adamerge.evaluate.experiment.measures import measure_queries
from adamerge.search import StackedQueries, score_pages
from adamerge.types import Compressed, MultiVector

PACKAGES = ("adamerge", "numpy", "ir-measures")
# methods that cut by a number of groups, where theta says nothing of the page
CUT_BY_COUNT = (SemCluster, PruneThenMerge)


@dataclass(frozen=True, eq=False)
class EncodedDataset:
    """A dataset as an encoder sees it, in memory."""

    encoder: str
    versions: Mapping[str, str]
    dataset: Dataset
    pages: Sequence[MultiVector]
    queries: StackedQueries


class PageSize(NamedTuple):
    """What was kept of a page."""

    patches: int
    stored: int
    extra: int
    theta: float
    gap: float


def compute_cell(encoded: EncodedDataset, entry: MethodOrControl, jobs: int = 1) -> Cell:
    """The cell of a method or control; that of bm25 has no measures where pages have no text."""
    if str(entry) == "bm25":
        texts = encoded.dataset.texts()
        scores = bm25_scores(encoded.dataset, texts) if texts else None
        return _as_cell(encoded, entry, [], scores, None)

    seconds: list[float] = []
    sizes: list[PageSize] = []
    compress = _timed(compressor(entry, encoded.pages), seconds)
    pages = _noting_sizes(compress_pages(encoded.pages, compress, jobs), sizes)

    if isinstance(entry, Control) and entry.name == "gaussian":
        for _ in pages:  # pages without structure answer no query: only their cuts are asked for
            pass
        return _as_cell(encoded, entry, sizes, None, None)

    scores = score_pages(encoded.queries, pages, jobs)
    ms = None if isinstance(entry, Control) else 1e3 * fmean(seconds)
    return _as_cell(encoded, entry, sizes, scores, ms)


def _timed(compress: Compressor, seconds: list[float]) -> Compressor:
    """The same, with a note of the time that its thread spent on each page."""

    def timed(page: MultiVector) -> Compressed:
        start = thread_time()
        small = compress(page)
        seconds.append(thread_time() - start)
        return small

    return timed


def _noting_sizes(pages: Iterable[Compressed], sizes: list[PageSize]) -> Iterator[Compressed]:
    """Pages as they pass, with a note of what was kept of each."""
    for page in pages:
        extra = 0 if page.extra is None else len(page.extra)
        size = PageSize(len(page.groups), len(page), extra, page.cut.theta, page.cut.gap)
        sizes.append(size)
        yield page


def _as_cell(
    encoded: EncodedDataset,
    entry: MethodOrControl,
    sizes: Sequence[PageSize],
    scores: Floats | None,
    ms: float | None,
) -> Cell:
    dataset = encoded.dataset
    measures = {}
    if scores is not None:
        queries = list(dataset.queries)
        values = measure_queries(scores, queries, dataset.page_ids, dataset.judgements)
        measures = {name: rounded(some) for name, some in values.items()}

    theta = rounded([size.theta for size in sizes])
    gap = rounded([size.gap for size in sizes])
    if not _finds_its_cut(entry) or all(value is None for value in theta):
        theta, gap = [], []

    packages = {package: version(package) for package in PACKAGES}
    return Cell(
        encoder=encoded.encoder,
        dataset=dataset.name,
        method=str(entry),
        measures=measures,
        pages=len(dataset),
        patches=sum(size.patches for size in sizes),
        stored=sum(size.stored for size in sizes),
        extra=sum(size.extra for size in sizes),
        dimensions=encoded.queries.vectors.shape[1],
        theta=theta,
        gap=gap,
        ms=None if ms is None else round(ms, 3),
        versions={**encoded.versions, **packages},
        machine=machine(),
    )


def _finds_its_cut(entry: MethodOrControl) -> bool:
    """Whether theta says something of the page: of methods that cut by similarity, and of their Gaussian control."""
    if isinstance(entry, Control):
        return entry.name == "gaussian"
    method, _ = split_dtype(entry)
    return not isinstance(method, CUT_BY_COUNT)


@cache
def machine() -> str:
    """The processor that this runs on."""
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()
