"""An experiment -> a folder of results, cell by cell; cells that are there are passed over."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from adamerge.encoders import EncoderSpec
from adamerge.evaluate.data import Dataset, dataset_names, load_dataset
from adamerge.evaluate.experiment.cell import Cell
from adamerge.evaluate.experiment.cell_files import pack_cells, read_cells_of, write_cell
from adamerge.evaluate.experiment.compute_cell import EncodedDataset, compute_cell
from adamerge.evaluate.experiment.controls import MethodOrControl
from adamerge.evaluate.experiment.dataset_files import write_dataset
from adamerge.evaluate.experiment.experiment_file import Experiment
from adamerge.evaluate.experiment.measures import ir_measures_library
from adamerge.evaluate.experiment.vector_cache import (
    cache_folders,
    encode_dataset,
    read_cached,
)
from adamerge.search import stack_queries
from adamerge.vectors import open_shards, pages_per_shard

Progress = Callable[[str, int, int], None]  # what is done, how much of it, of how much


@dataclass(frozen=True, eq=False)
class PlannedCells:
    """An encoder, a dataset, and the methods and controls whose cells are not there yet."""

    spec: EncoderSpec
    dataset: Dataset
    entries: Sequence[MethodOrControl]


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
    for encoder in experiment.encoders:
        spec = EncoderSpec(encoder, experiment.options)
        for dataset in datasets.values():
            there = read_cells_of(results, spec.name, dataset.name)
            if there:  # all others agree with the first
                spec.check(there[0].made_by, results)
            done = {cell.method for cell in there}
            entries = [entry for entry in experiment.entries if str(entry) not in done]
            plan.append(PlannedCells(spec, dataset, entries))
    return plan


def run_cells(
    plan: Sequence[PlannedCells],
    results: Path,
    vectors: Path,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[Cell]:
    """Run what was planned, and yield each cell once its file is written.

    vectors   folder of encoded datasets; what is not there is encoded first
    progress  is called as ("cells", done, total), and as ("encoding DATASET", done, total) with pages
    """
    progress = progress or _ignore
    total = sum(len(planned.entries) for planned in plan)
    done = 0
    progress("cells", done, total)

    for planned in plan:
        if planned.entries:
            encoded = load_encoded(planned.spec, planned.dataset, vectors, progress)
        for entry in planned.entries:
            cell = compute_cell(encoded, entry, jobs)
            write_cell(results, cell)
            done += 1
            progress("cells", done, total)
            yield cell
        pack_cells(results, planned.spec.name, planned.dataset.name)


def load_encoded(
    spec: EncoderSpec, dataset: Dataset, vectors: Path, progress: Progress | None = None
) -> EncodedDataset:
    """Encode a dataset, if nobody has yet, and hold it in memory."""
    progress = progress or _ignore
    folders = cache_folders(vectors, spec.name, dataset.name)
    task = f"encoding {dataset.name}"

    done = sum(pages_per_shard(folders.pages).values())  # by an earlier run that was stopped
    progress(task, done, len(dataset))
    for _ in encode_dataset(dataset, folders, spec):
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
