"""A folder of result files: one per encoder, dataset and method, small enough to commit.

    RESULTS/datasets/DATASET.json.gz             queries, counts and identity, once
    RESULTS/ENCODER/DATASET/METHOD.json.gz       a cell: what a method did to the pages, and what it cost every query

Names are reversible (encoded.file_name). Files are JSON, gzipped without a date: the same run writes the same bytes,
but for times. A file appears under its name when it is whole, so a cell that is there is done.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from adamerge import files
from adamerge.arrays import ArrayLike
from adamerge.compress.names import read_name
from adamerge.errors import BadInput, Damaged, Mismatch
from adamerge.evaluate.datasets import Dataset
from adamerge.evaluate.encoded import file_name

SUFFIX = ".json.gz"
DATASETS = "datasets"
ABOUT = {"name", "pages", "judgements", "source", "queries"}  # what tables need of a dataset
Values = list[float | None]


@dataclass(frozen=True)
class Cell:
    """One method on one dataset as one encoder sees it.

    measures             name -> a value per query, in the order of the dataset's file; empty where only sizes are asked
    pages, patches       before
    stored, extra        vectors after: groups, and rows that are stored untouched
    dimensions           of a vector, d
    theta, gap           a value per page where a method found its own cut, in the dataset's order; else empty
    ms                   of one thread of the CPU per page; None for a control that looks at all pages first
    versions, machine    what made it; "encoder" is the revision of its weights, "options" what it was given
    """

    encoder: str
    dataset: str
    method: str
    measures: dict[str, Values]
    pages: int
    patches: int
    stored: int
    extra: int
    dimensions: int
    theta: Values
    gap: Values
    ms: float | None
    versions: dict[str, str]
    machine: str

    @property
    def made_by(self) -> dict[str, Any]:
        """The weights of the encoder, and the options it was given."""
        return {
            "weights": self.versions.get("encoder"),
            "options": json.loads(self.versions.get("options", "{}")),
        }

    @property
    def compression(self) -> float:
        """Share of patches that are not stored any more, as in the paper."""
        return 1 - self.stored / self.patches if self.patches else 0.0

    @property
    def compression_of_all(self) -> float:
        """The same with extra rows counted on both sides."""
        return 1 - (self.stored + self.extra) / (self.patches + self.extra) if self.patches else 0.0

    @property
    def bytes(self) -> int:
        """Bytes of all stored vectors in float16."""
        return 2 * (self.stored + self.extra) * self.dimensions

    def mean(self, measure: str = "nDCG@5") -> float:
        """The mean of a measure over the queries."""
        return fmean(value for value in self.measures[measure] if value is not None)


def rounded(values: ArrayLike, digits: int = 4) -> Values:
    """Numbers as JSON writes them shortest: rounded, 0 and 1 without a point, nan as null."""
    short = (round(value, digits) for value in np.asarray(values, np.float64).tolist())
    return [
        None if isnan(value) else int(value) if value == int(value) else value for value in short
    ]


def cell_path(results: Path, encoder: str, dataset: str, method: str) -> Path:
    """The file of a cell."""
    return results / file_name(encoder) / file_name(dataset) / (file_name(method) + SUFFIX)


def write_cell(results: Path, cell: Cell) -> None:
    """Write a cell's file."""
    _write(cell_path(results, cell.encoder, cell.dataset, cell.method), asdict(cell))


def read_cells(results: Path) -> Iterator[Cell]:
    """Every cell of a folder, ordered by name."""
    for path in sorted(results.glob(f"*/*/*{SUFFIX}")):
        if path.parent.name != DATASETS:  # of a folder of results in this one
            yield _cell(results, path)


def cells_of(results: Path, encoder: str, dataset: str) -> Iterator[Cell]:
    """The cells of one encoder on one dataset, ordered by name."""
    for path in sorted(cell_path(results, encoder, dataset, "").parent.glob(f"*{SUFFIX}")):
        yield _cell(results, path)


def write_dataset(results: Path, dataset: Dataset) -> None:
    """Write what all cells of a dataset share, once; cells of other pages, queries or judgements are not mixed."""
    path = results / DATASETS / (file_name(dataset.name) + SUFFIX)
    about: dict[str, Any] = {
        "name": dataset.name,
        "identity": dataset.identity,
        "pages": len(dataset),
        "judgements": dataset.pairs,
        "source": dataset.source,
    }
    about |= {"queries": dict(dataset.queries)}
    if not path.exists():
        _write(path, about)
    elif (there := _read(path)) != about:
        raise Mismatch(
            f"{results} holds cells of another {dataset.name} (identity {there.get('identity')}, source "
            f"{there.get('source')}), with other pages, queries or judgements: choose another folder"
        )


def read_datasets(results: Path) -> dict[str, dict[str, Any]]:
    """What a folder says of its datasets: name -> name, identity, pages, judgements, source, queries."""
    found = {path: _read(path) for path in sorted((results / DATASETS).glob(f"*{SUFFIX}"))}
    for path, about in found.items():
        if not about.keys() >= ABOUT:
            raise Damaged(
                f"{path} says nothing of {min(ABOUT - about.keys())}: remove it, and run again"
            )
    return {about["name"]: about for about in found.values()}


def _cell(results: Path, path: Path) -> Cell:
    try:
        cell = Cell(**_read(path))
        read_name(cell.method)
    except (TypeError, BadInput) as error:
        raise Damaged(f"{path} is no result file ({error}): remove it, and run again") from None
    if path != cell_path(results, cell.encoder, cell.dataset, cell.method):
        raise Damaged(
            f"{path} holds the cell of {cell.method} on {cell.dataset} by {cell.encoder}: it was moved; move it back"
        )
    return cell


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    files.write(path, gzip.compress(text.encode(), mtime=0))


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(gzip.decompress(path.read_bytes()))
        if not isinstance(content, dict):
            raise ValueError(f"a {type(content).__name__}")
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise Damaged(f"{path} cannot be read ({error}): remove it, and run again") from None
    return content
