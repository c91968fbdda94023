"""A folder of result files -> what tables and figures ask of it: means over datasets, values of all queries.

Nothing here knows a method but by its name, so a method of one's own is in every table and figure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from adamerge.arrays import Doubles
from adamerge.compress.names import NUMBER, Name, as_text, read_name
from adamerge.errors import AdamergeError, BadFile, BadInput, UnknownName
from adamerge.evaluate import catalogue, controls
from adamerge.evaluate.results import DATASETS, Cell, read_cells, read_datasets

MEASURE = "nDCG@5"
MANY = 12  # names that an error lists


@dataclass(frozen=True, eq=False)
class Results:
    """The cells of a folder, and what they say of each method.

    cells     (encoder, method) -> a cell per dataset, in the order of `datasets`
    about     dataset -> pages, judgements, source, queries
    left_out  encoder and method of those that do not have a cell for every dataset
    """

    datasets: tuple[str, ...]
    cells: Mapping[tuple[str, str], tuple[Cell, ...]]
    about: Mapping[str, Mapping[str, Any]]
    left_out: tuple[tuple[str, str], ...] = ()
    measure: str = MEASURE
    encoders: tuple[str, ...] = field(init=False)
    names: Mapping[str, Name] = field(init=False)
    _methods: Mapping[Name, str] = field(init=False)
    _unit_by_default: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Note the encoders, and take the names apart, once."""
        encoders = dict.fromkeys(encoder for encoder, _ in self.cells)
        names = {method: read_name(method) for _, method in self.cells}
        methods = {name: method for method, name in names.items()}
        unit = {name.method for name in methods if name.options.get("unit") == "false"}
        object.__setattr__(self, "encoders", tuple(encoders))
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "_methods", methods)
        object.__setattr__(self, "_unit_by_default", frozenset(unit))

    def has(self, encoder: str, method: str) -> bool:
        """Whether a method was measured on every dataset."""
        return (
            all(cell.measures for cell in self.cells.get((encoder, method), ()))
            and (encoder, method) in self.cells
        )

    def methods(self, encoder: str) -> Iterator[tuple[str, Name]]:
        """Methods and controls that were measured, with their names taken apart."""
        for one, method in self.cells:
            if one == encoder and self.has(encoder, method):
                yield method, self.names[method]

    def find(self, encoder: str, name: Name) -> str | None:
        """The method or control of a name that was taken apart, if it was measured."""
        method = self._methods.get(name)
        return method if method and self.has(encoder, method) else None

    def is_unit(self, name: Name) -> bool:
        """Whether a method scales groups to unit length.

        What is a method's default is not written: one that somewhere writes unit=false has unit length elsewhere.
        """
        default = "true" if name.method in self._unit_by_default else "false"
        return name.options.get("unit", default) == "true"

    def with_unit(self, name: Name, unit: bool) -> Name:
        """The name of the same method with groups of unit length, or as they are."""
        if self.is_unit(name) == unit:
            return name
        is_default = (name.method in self._unit_by_default) == unit
        return name.but(unit=None if is_default else as_text(unit))

    def mean(self, encoder: str, method: str) -> float:
        """The measure, averaged over queries, then over datasets."""
        return fmean(cell.mean(self.measure) for cell in self.cells[encoder, method])

    def compression(self, encoder: str, method: str) -> float | None:
        """Compression, averaged over datasets; None where nothing is stored, as of BM25."""
        found = self.cells[encoder, method]
        return (
            fmean(cell.compression for cell in found)
            if all(cell.patches for cell in found)
            else None
        )

    def point(self, encoder: str, method: str) -> tuple[float, float]:
        """Compression and measure, averaged over datasets."""
        return self.compression(encoder, method) or 0.0, self.mean(encoder, method)

    def values(self, encoder: str, method: str) -> Doubles:
        """The measure of every query, dataset after dataset: (queries,)."""
        found = (cell.measures[self.measure] for cell in self.cells[encoder, method])
        return np.array([value for some in found for value in some], np.float64)


def load(folder: Path, datasets: tuple[str, ...] = (), measure: str = MEASURE) -> Results:
    """The results of a folder, or of some of its datasets (names or suites); a method must have cells for all."""
    found: dict[tuple[str, str], dict[str, Cell]] = {}
    for cell in read_cells(folder):
        found.setdefault((cell.encoder, cell.method), {})[cell.dataset] = cell
    there = sorted({dataset for some in found.values() for dataset in some})
    if not there:
        inside = [f"{path.parent} does" for path in sorted(folder.glob(f"*/{DATASETS}"))]
        make = f"make some with adamerge evaluate run EXPERIMENT.toml -o {folder}"
        raise BadFile(f"{folder} holds no result files: {inside[0] if inside else make}")
    asked = (
        list(dict.fromkeys(name for one in datasets for name in catalogue.names(one))) or there
    )  # each once
    if missing := [name for name in asked if name not in there]:
        raise UnknownName(f"{folder} has no results on '{missing[0]}'; it has {', '.join(there)}")
    whole = {
        key: tuple(some[name] for name in asked)
        for key, some in found.items()
        if set(asked) <= some.keys()
    }
    about = {name: one for name, one in read_datasets(folder).items() if name in asked}
    if not whole:
        raise BadFile(
            f"{folder} has no method with results on all of {', '.join(asked)}: finish the run, or use --dataset"
        )
    return Results(tuple(asked), whole, about, tuple(sorted(found.keys() - whole.keys())), measure)


def pick(asked: Sequence[str], there: Iterable[str], what: str) -> list[str]:
    """What is asked for, each once and as results write it; what is not there is refused."""
    names = list(dict.fromkeys(there))
    found = list(dict.fromkeys(map(as_written, asked)))
    if missing := [one for one in found if one not in names]:
        listed = ", ".join(names[:MANY]) + " ..." * (len(names) > MANY)
        raise BadInput(f"no {what} '{missing[0]}' in these results; there is {listed or 'none'}")
    return found


def as_written(text: str) -> str:
    """A number, method or control as results write it: -.25 is -0.25, adamerge is adamerge:k=-0.25,c_min=0.7."""
    if NUMBER.fullmatch(text) or re.fullmatch(r"[-+]?\.\d+", text):
        return as_text(float(text))
    try:
        return str(controls.parse(text))
    except AdamergeError:  # a method of somebody else's: known by its files
        return text


def restricted(results: Results, datasets: tuple[str, ...]) -> Results:
    """The same results on some of the datasets."""
    places = [results.datasets.index(name) for name in datasets]
    cells = {key: tuple(some[i] for i in places) for key, some in results.cells.items()}
    about = {name: one for name, one in results.about.items() if name in datasets}
    return Results(datasets, cells, about, results.left_out, results.measure)
