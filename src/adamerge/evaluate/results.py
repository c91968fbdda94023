"""A folder of result files: one per encoder, dataset and method, small enough to commit.

    RESULTS/datasets/DATASET.json.gz             queries and counts, once
    RESULTS/ENCODER/DATASET/METHOD.json.gz       a cell: what a method did to the pages, and what it cost every query

Names are reversible (encoded.file_name). Files are JSON, gzipped without a date: the same run writes the same bytes,
but for times. A file appears under its name when it is whole, so a cell that is there is done.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from adamerge.arrays import ArrayLike
from adamerge.errors import Damaged, Mixture
from adamerge.evaluate.datasets import Dataset
from adamerge.evaluate.encoded import file_name, text_of
from adamerge.vectors.manifest import settle

SUFFIX = ".json.gz"
DATASETS = "datasets"
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
    versions, machine    what made it; "encoder" is the revision of its weights
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
    return [None if isnan(value) else int(value) if value == int(value) else value for value in short]


def cell_path(results: Path, encoder: str, dataset: str, method: str) -> Path:
    """The file of a cell."""
    return results / file_name(encoder) / file_name(dataset) / (file_name(method) + SUFFIX)


def write_cell(results: Path, cell: Cell) -> None:
    """Write a cell's file."""
    _write(cell_path(results, cell.encoder, cell.dataset, cell.method), asdict(cell))


def read_cells(results: Path) -> Iterator[Cell]:
    """Every cell of a folder, ordered by name."""
    for path in sorted(results.glob(f"*/*/*{SUFFIX}")):
        try:
            cell = Cell(**_read(path))
        except TypeError as error:
            raise Damaged(f"{path} is no result file ({error}): remove it, and run again") from None
        if cell.method != text_of(path.name.removesuffix(SUFFIX)):
            raise Damaged(f"{path} holds the cell of {cell.method}: it was renamed; name it back")
        yield cell


def write_dataset(results: Path, dataset: Dataset) -> None:
    """Write what all cells of a dataset share, once; cells of other queries or pages are not mixed with new ones."""
    path = results / DATASETS / (file_name(dataset.name) + SUFFIX)
    about: dict[str, Any] = {
        "name": dataset.name,
        "pages": len(dataset),
        "judgements": dataset.pairs,
        "source": dataset.source,
    }
    about |= {"queries": dict(dataset.queries)}
    if not path.exists():
        _write(path, about)
    elif _read(path) != about:
        raise Mixture(
            f"{results} holds cells of another {dataset.name} (other pages or queries): choose another folder"
        )


def read_datasets(results: Path) -> dict[str, dict[str, Any]]:
    """What a folder says of its datasets: name -> name, pages, judgements, source, queries."""
    found = (_read(path) for path in sorted((results / DATASETS).glob(f"*{SUFFIX}")))
    return {about["name"]: about for about in found}


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(gzip.compress(text.encode(), mtime=0))
    settle(temporary, path)


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, ValueError, EOFError) as error:
        raise Damaged(f"{path} cannot be read ({error}): remove it, and run again") from None
    return content
