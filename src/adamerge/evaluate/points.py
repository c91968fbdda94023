"""A folder of result files -> what tables and figures ask of it: means over datasets, values of all queries.

Nothing here knows a method but by its name, so a method of one's own is in every table and figure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from adamerge.arrays import Doubles
from adamerge.compress.names import as_text
from adamerge.errors import AdamergeError, BadFile, BadInput, UnknownName
from adamerge.evaluate import catalogue, controls
from adamerge.evaluate.results import DATASETS, Cell, read_cells, read_datasets

MEASURE = "nDCG@5"
MANY = 12  # names that an error lists
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


@dataclass(frozen=True)
class Parts:
    """A name taken apart: random(adamerge:k=0,unit=true) is a control, a name, and options in the order written."""

    control: str
    name: str
    options: Mapping[str, str]

    @property
    def key(self) -> "Key":
        """What two names of one method share, whatever the order of their options."""
        return self.control, self.name, frozenset(self.options.items())

    @property
    def unit(self) -> bool:
        """Whether groups are scaled to unit length."""
        return self.options.get("unit") == "true"

    def but(self, **changed: str | None) -> "Parts":
        """The same with other options; None leaves one out."""
        options = {**self.options, **changed}
        return replace(
            self, options={key: value for key, value in options.items() if value is not None}
        )

    def number(self, option: str) -> float | None:
        """An option that is a number, None where it is a word or not there."""
        text = self.options.get(option, "")
        return float(text) if NUMBER.fullmatch(text) else None

    def words(self) -> dict[str, str]:
        """Options that are no numbers: they say which variant it is, numbers how far it goes."""
        return {key: value for key, value in self.options.items() if not NUMBER.fullmatch(value)}


Key = tuple[str, str, frozenset[tuple[str, str]]]


def take_apart(method: str) -> Parts:
    """The parts of the name of a method or control."""
    found = re.fullmatch(
        r"(?:(?P<control>[^:()]+)\()?(?P<name>[^:()]+)(?::(?P<options>[^()]*))?\)?", method
    )
    if not found:
        return Parts("", method, {})
    pairs = (pair.partition("=") for pair in filter(None, (found["options"] or "").split(",")))
    return Parts(found["control"] or "", found["name"], {key: value for key, _, value in pairs})


def canonical(methods: Iterable[str]) -> dict[str, Parts]:
    """Every name taken apart, with unit=true where groups have unit length and no word of it where they have not.

    What is a method's default is not written: one that somewhere writes unit=false has unit length elsewhere.
    """
    apart = {method: take_apart(method) for method in methods}
    usual = {parts.name: "true" for parts in apart.values() if parts.options.get("unit") == "false"}
    said = {
        method: parts.options.get("unit", usual.get(parts.name)) for method, parts in apart.items()
    }
    return {
        method: parts.but(unit="true" if said[method] == "true" else None)
        for method, parts in apart.items()
    }


def put_together(name: str, options: Mapping[str, str]) -> str:
    """The name of a method from its parts."""
    written = ",".join(f"{key}={value}" for key, value in options.items())
    return f"{name}:{written}" if written else name


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
    parts: Mapping[str, Parts] = field(init=False)
    _names: Mapping[Key, str] = field(init=False)

    def __post_init__(self) -> None:
        """Note the encoders, and take the names apart, once."""
        object.__setattr__(
            self, "encoders", tuple(dict.fromkeys(encoder for encoder, _ in self.cells))
        )
        object.__setattr__(self, "parts", canonical(method for _, method in self.cells))
        object.__setattr__(
            self, "_names", {parts.key: method for method, parts in self.parts.items()}
        )

    def has(self, encoder: str, method: str) -> bool:
        """Whether a method was measured on every dataset."""
        return (
            all(cell.measures for cell in self.cells.get((encoder, method), ()))
            and (encoder, method) in self.cells
        )

    def methods(self, encoder: str) -> Iterator[tuple[str, Parts]]:
        """Methods and controls that were measured, with their names taken apart."""
        for one, method in self.cells:
            if one == encoder and self.has(encoder, method):
                yield method, self.parts[method]

    def find(self, encoder: str, parts: Parts) -> str | None:
        """The method or control of these parts, if it was measured."""
        method = self._names.get(parts.key)
        return method if method and self.has(encoder, method) else None

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
