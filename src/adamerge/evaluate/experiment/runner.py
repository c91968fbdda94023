"""An experiment -> a folder of results, cell by cell; cells that are there are passed over."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adamerge.encoders import EncoderSpec
from adamerge.evaluate.data import Dataset, dataset_names, load_dataset
from adamerge.evaluate.experiment.cell import Cell
from adamerge.evaluate.experiment.cell_files import pack_cells, read_cells_of, write_cell
from adamerge.evaluate.experiment.compute_cell import EncodedDataset, compute_cell
from adamerge.evaluate.experiment.controls import MethodOrControl
from adamerge.evaluate.experiment.dataset_files import write_dataset
from adamerge.evaluate.experiment.encoder_keeper import EncoderKeeper
from adamerge.evaluate.experiment.experiment_file import Experiment
from adamerge.evaluate.experiment.measures import ir_measures_library
from adamerge.evaluate.experiment.vector_cache import (
    LoadEncoder,
    cache_folders,
    encode_dataset,
    is_encoded,
    read_cached,
)
from adamerge.search import stack_queries
from adamerge.vectors import open_shards, pages_per_shard

log = logging.getLogger(__name__)
FAR = 0.25  # share by which the median page may differ from the usual one
Progress = Callable[[str, int, int], None]  # what is done, how much of it, of how much


@dataclass(frozen=True, eq=False)
class PlannedCells:
    """An encoder, a dataset, and the methods and controls whose cells are not there yet."""

    spec: EncoderSpec
    dataset: Dataset
    entries: Sequence[MethodOrControl]
    usual_patches: int | None = None


def plan_cells(experiment: Experiment, results: Path) -> list[PlannedCells]:
    """What there is to do for every encoder and dataset; `entries` is empty where all is done.

    Cells that are there must be of the same data, weights and options, also where there is nothing to do.
    """
    ir_measures_library()
    datasets: dict[str, Dataset] = {}
    for given in experiment.datasets:
        for name in dataset_names(given):
            dataset = load_dataset(name, experiment.data)
            write_dataset(results, dataset)
            datasets[dataset.name] = dataset

    plan = []
    for spec in experiment.specs:
        spec.check_options()
        usual = experiment.usual_patches.get(spec.name)
        for dataset in datasets.values():
            there = read_cells_of(results, spec.name, dataset.name)
            if there:  # all others agree with the first
                spec.check(there[0].made_by, results)
            done = {cell.method for cell in there}
            entries = [entry for entry in experiment.entries if str(entry) not in done]
            plan.append(PlannedCells(spec, dataset, entries, usual))
    return plan


def run_cells(
    plan: Sequence[PlannedCells],
    results: Path,
    vectors: Path,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[Cell]:
    """Run what was planned, and yield each cell once its file is written.

    Every encoder that is needed is loaded once before the first cell, so that one that cannot be is found then. An
    encoder stays loaded from dataset to dataset, and goes before the next one comes.

    vectors   folder of encoded datasets; what is not there is encoded first
    progress  is called as ("cells", done, total), and as ("encoding DATASET", done, total) with pages
    """
    progress = progress or _ignore
    total = sum(len(planned.entries) for planned in plan)
    done = 0
    progress("cells", done, total)

    keeper = EncoderKeeper()
    _try_encoders(plan, vectors, keeper)
    for planned in plan:
        if planned.entries:
            encoded = load_encoded(planned.spec, planned.dataset, vectors, progress, keeper.load)
            _warn_of_other_sizes(encoded, planned.usual_patches)
        for entry in planned.entries:
            cell = compute_cell(encoded, entry, jobs)
            write_cell(results, cell)
            done += 1
            progress("cells", done, total)
            yield cell
        pack_cells(results, planned.spec.name, planned.dataset.name)


def _try_encoders(plan: Sequence[PlannedCells], vectors: Path, keeper: EncoderKeeper) -> None:
    """Load every encoder that has something to encode; the first one last, since the last is kept."""
    needed = {}
    for planned in plan:
        spec = planned.spec
        folders = cache_folders(vectors, spec.name, planned.dataset.name)
        if planned.entries and not is_encoded(planned.dataset, folders, spec):
            needed[spec.name] = spec
    for spec in reversed(needed.values()):
        keeper.load(spec).encode_queries(["a query"])


def _warn_of_other_sizes(encoded: EncodedDataset, usual: int | None) -> None:
    """Say so where pages are cut into far more or far fewer patches than elsewhere."""
    if usual is None:
        return
    median = float(np.median([len(page) for page in encoded.pages]))
    if abs(median - usual) > FAR * usual:
        log.warning(
            "%s: half of the pages have %.0f patches or more, and %d are usual with %s",
            encoded.dataset.name,
            median,
            usual,
            encoded.encoder,
        )


def load_encoded(
    spec: EncoderSpec,
    dataset: Dataset,
    vectors: Path,
    progress: Progress | None = None,
    load: LoadEncoder = EncoderSpec.load,
) -> EncodedDataset:
    """Encode a dataset, if nobody has yet, and hold it in memory."""
    progress = progress or _ignore
    folders = cache_folders(vectors, spec.name, dataset.name)
    task = f"encoding {dataset.name}"

    done = sum(pages_per_shard(folders.pages).values())  # by an earlier run that was stopped
    progress(task, done, len(dataset))
    for _ in encode_dataset(dataset, folders, spec, load):
        done += 1
        progress(task, done, len(dataset))

    made_by = open_shards(folders.pages).manifest.encoder
    versions = {"encoder": str(made_by.get("weights") or made_by.get("revision", ""))}
    if spec.options:
        versions["options"] = json.dumps(spec.options)

    pages = read_cached(folders.pages, dataset.page_ids)
    queries = read_cached(folders.queries, list(dataset.queries))
    return EncodedDataset(spec.name, versions, dataset, pages, stack_queries(queries))


def _ignore(what: str, done: int, total: int) -> None:
    """Show no progress."""
