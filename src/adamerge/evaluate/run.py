"""An experiment -> a folder of result files, cell by cell; cells that are there are passed over."""

import json
import platform
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import chain, count, islice
from pathlib import Path
from statistics import fmean
from time import thread_time
from typing import NamedTuple

from adamerge.arrays import Floats
from adamerge.compress.methods import PruneThenMerge, SemCluster
from adamerge.compress.names import Method
from adamerge.compress.stream import compress_pages
from adamerge.encoders import EncoderSpec
from adamerge.evaluate import catalogue, encoded, results
from adamerge.evaluate.bm25 import bm25
from adamerge.evaluate.controls import Compressor, Control, compressor
from adamerge.evaluate.datasets import Dataset
from adamerge.evaluate.experiment import Experiment
from adamerge.evaluate.measures import library, measure
from adamerge.evaluate.results import Cell, rounded
from adamerge.evaluate.scores import Queries, score, stack
from adamerge.types import Compressed, MultiVector
from adamerge.vectors import open_shards, pages_per_shard

PACKAGES = ("adamerge", "numpy", "ir-measures")
COUNTED = (
    SemCluster,
    PruneThenMerge,
)  # cut by a number of groups, where theta says nothing of the page
Entry = Method | Control
Watch = Callable[[str, int, int], None]  # what is done, how much of it, of how much


@dataclass(frozen=True)
class Folders:
    """Where datasets, their vectors, and results are kept."""

    data: Path
    vectors: Path
    results: Path


class Size(NamedTuple):
    """What was kept of a page."""

    patches: int
    stored: int
    extra: int
    theta: float
    gap: float


@dataclass(frozen=True, eq=False)
class Work:
    """A dataset as an encoder sees it, in memory."""

    encoder: str
    versions: Mapping[str, str]
    dataset: Dataset
    pages: Sequence[MultiVector]
    queries: Queries


def cells(
    experiment: Experiment, folders: Folders
) -> list[tuple[EncoderSpec, Dataset, list[Entry]]]:
    """What there is to do: encoder, dataset, and the methods whose cells are not there yet.

    Cells that are there must be of the same data, weights and options, also where there is nothing to do.
    """
    names = dict.fromkeys(chain.from_iterable(map(catalogue.names, experiment.datasets)))
    datasets = {dataset.name: dataset for dataset in (_checked(name, folders) for name in names)}
    todo = []
    for spec in (EncoderSpec(encoder, experiment.options) for encoder in experiment.encoders):
        for name, dataset in datasets.items():
            for cell in islice(
                results.cells_of(folders.results, spec.name, name), 1
            ):  # all others agree with it
                spec.check(cell.made_by, folders.results)
            paths = {
                e: results.cell_path(folders.results, spec.name, name, str(e))
                for e in experiment.methods
            }
            if entries := [entry for entry, path in paths.items() if not path.exists()]:
                todo.append((spec, dataset, entries))
    return todo


def _checked(name: str, folders: Folders) -> Dataset:
    dataset = catalogue.load(name, folders.data)
    results.write_dataset(folders.results, dataset)
    return dataset


def run(
    experiment: Experiment, folders: Folders, jobs: int = 1, watch: Watch | None = None
) -> Iterator[Cell]:
    """Run what is not there yet, and yield each cell once its file is written; `watch` hears of cells and pages."""
    library()
    watch = watch or _watch_nothing
    todo = cells(experiment, folders)
    done, total = count(1), sum(len(entries) for _, _, entries in todo)
    watch("cells", 0, total)
    for spec, dataset, entries in todo:
        work = prepare(spec, dataset, folders.vectors, watch)
        for entry in entries:
            cell = run_cell(work, entry, jobs)
            results.write_cell(folders.results, cell)
            watch("cells", next(done), total)
            yield cell


def _watch_nothing(what: str, done: int, total: int) -> None:
    pass


def prepare(spec: EncoderSpec, dataset: Dataset, vectors: Path, watch: Watch | None = None) -> Work:
    """Encode a dataset, if nobody has yet, and hold it in memory."""
    there = encoded.places(vectors, spec.name, dataset.name)
    watch = watch or _watch_nothing
    done = sum(pages_per_shard(there.pages).values())  # by an earlier run that was stopped
    watch(f"encoding {dataset.name}", done, len(dataset))
    for _ in encoded.encode(dataset, there, spec):
        done += 1
        watch(f"encoding {dataset.name}", done, len(dataset))
    made = open_shards(there.pages).manifest.encoder
    versions = {"encoder": str(made.get("weights") or made.get("revision", ""))}
    versions |= {"options": json.dumps(spec.options)} if spec.options else {}
    pages, queries = (
        encoded.opened(there.pages, dataset.page_ids),
        encoded.opened(there.queries, list(dataset.queries)),
    )
    return Work(spec.name, versions, dataset, pages, stack(queries))


def run_cell(work: Work, entry: Entry, jobs: int = 1) -> Cell:
    """One cell; bm25 on pages without text has one without measures."""
    if str(entry) == "bm25":
        texts = work.dataset.texts()
        return _cell(work, entry, [], bm25(work.dataset, texts) if texts else None, None)
    seconds: list[float] = []
    sizes: list[Size] = []
    compress = _timed(compressor(entry, work.pages), seconds)
    pages = _noted(compress_pages(work.pages, compress, jobs), sizes)
    if (
        isinstance(entry, Control) and entry.name == "gaussian"
    ):  # pages without structure: asked for their cuts alone
        deque(pages, maxlen=0)
        return _cell(work, entry, sizes, None, None)
    scores = score(work.queries, pages, jobs)
    return _cell(
        work, entry, sizes, scores, None if isinstance(entry, Control) else 1e3 * fmean(seconds)
    )


def _timed(compress: Compressor, seconds: list[float]) -> Compressor:
    """The same, with the time that its thread spent on each page."""

    def timed(page: MultiVector) -> Compressed:
        start = thread_time()
        small = compress(page)
        seconds.append(thread_time() - start)
        return small

    return timed


def _noted(pages: Iterable[Compressed], sizes: list[Size]) -> Iterator[Compressed]:
    """Pages as they pass, with a note of what was kept of each."""
    for page in pages:
        extra = 0 if page.extra is None else len(page.extra)
        sizes.append(Size(len(page.groups), len(page), extra, page.cut.theta, page.cut.gap))
        yield page


def _cell(
    work: Work, entry: Entry, sizes: list[Size], scores: Floats | None, ms: float | None
) -> Cell:
    data = work.dataset
    values = (
        {}
        if scores is None
        else measure(scores, list(data.queries), data.page_ids, data.judgements)
    )
    theta, gap = (rounded([getattr(size, name) for size in sizes]) for name in ("theta", "gap"))
    found = (
        entry.name == "gaussian" if isinstance(entry, Control) else not isinstance(entry, COUNTED)
    )
    was_cut = found and any(value is not None for value in theta)
    return Cell(
        encoder=work.encoder,
        dataset=data.name,
        method=str(entry),
        measures={name: rounded(some) for name, some in values.items()},
        pages=len(data),
        patches=sum(size.patches for size in sizes),
        stored=sum(size.stored for size in sizes),
        extra=sum(size.extra for size in sizes),
        dimensions=work.queries.vectors.shape[1],
        theta=theta if was_cut else [],
        gap=gap if was_cut else [],
        ms=None if ms is None else round(ms, 3),
        versions={**work.versions, **{package: version(package) for package in PACKAGES}},
        machine=machine(),
    )


@cache
def machine() -> str:
    """The processor that this runs on."""
    try:
        with open("/proc/cpuinfo") as lines:
            return next(
                line.partition(":")[2].strip() for line in lines if line.startswith("model name")
            )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
