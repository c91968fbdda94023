"""A folder of cells -> what tables and figures ask of it: means over datasets, values of all queries.

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
from adamerge.compress.names import NUMBER, Name, as_text, read_name
from adamerge.errors import AdamergeError, BadFile, BadInput, UnknownName
from adamerge.evaluate.data import dataset_names
from adamerge.evaluate.experiment import (
    DATASETS,
    MEASURE,
    Cell,
    parse_method_or_control,
    read_cells,
    read_datasets,
)

MANY = 12  # names that an error lists
Key = tuple[str, str]  # encoder, method


@dataclass(frozen=True, eq=False)
class Results:
    """The cells of a folder, and what they say of each method.

    cells     (encoder, method) -> a cell per dataset, in the order of `datasets`, of methods in float16
    rounded   the same of methods in fewer bits (height+int4): only what is asked in bytes looks at them
    about     dataset -> pages, judgements, source, queries
    left_out  encoder and method of those that do not have a cell for every dataset
    """

    datasets: tuple[str, ...]
    cells: Mapping[Key, tuple[Cell, ...]]
    about: Mapping[str, Mapping[str, Any]]
    left_out: tuple[Key, ...] = ()
    measure: str = MEASURE
    rounded: Mapping[Key, tuple[Cell, ...]] = field(default_factory=dict)
    encoders: tuple[str, ...] = field(init=False)
    names: Mapping[str, Name] = field(init=False)
    _methods: Mapping[Name, str] = field(init=False)
    _unit_by_default: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """List the encoders, and parse the names, once."""
        encoders: dict[str, None] = {}
        names: dict[str, Name] = {}
        methods: dict[Name, str] = {}
        unit: set[str] = set()
        for encoder, _ in self.rounded:
            encoders[encoder] = None
        for encoder, method in self.cells:
            name = read_name(method)
            encoders[encoder] = None
            names[method] = name
            methods[name] = method
            if name.options.get("unit") == "false":
                unit.add(name.method)
        object.__setattr__(self, "encoders", tuple(encoders))
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "_methods", methods)
        object.__setattr__(self, "_unit_by_default", frozenset(unit))

    def has(self, encoder: str, method: str) -> bool:
        """Whether a method was measured on every dataset."""
        cells = self.cells.get((encoder, method))
        if cells is None:
            return False
        return all(cell.measures for cell in cells)

    def methods(self, encoder: str) -> Iterator[tuple[str, Name]]:
        """Methods and controls that were measured, with their parsed names."""
        for one, method in self.cells:
            if one == encoder and self.has(encoder, method):
                yield method, self.names[method]

    def find(self, encoder: str, name: Name) -> str | None:
        """The method or control of a parsed name, if it was measured."""
        method = self._methods.get(name)
        if method and self.has(encoder, method):
            return method
        return None

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
        if is_default:
            return name.but(unit=None)
        return name.but(unit=as_text(unit))

    def mean(self, encoder: str, method: str) -> float:
        """The measure, averaged over queries, then over datasets."""
        return fmean(cell.mean(self.measure) for cell in self.cells[encoder, method])

    def compression(self, encoder: str, method: str) -> float | None:
        """Compression, averaged over datasets; None where nothing is stored, as of BM25."""
        cells = self.cells[encoder, method]
        if not all(cell.patches for cell in cells):
            return None
        return fmean(cell.compression for cell in cells)

    def point(self, encoder: str, method: str) -> tuple[float, float]:
        """Compression and measure, averaged over datasets."""
        return self.compression(encoder, method) or 0.0, self.mean(encoder, method)

    def values(self, encoder: str, method: str) -> Doubles:
        """The measure of every query, dataset after dataset: (queries,)."""
        parts = []
        for cell in self.cells[encoder, method]:
            parts.append(np.array(cell.measures[self.measure], np.float64))
        return np.concatenate(parts)

    def thetas(self, encoder: str, method: str) -> list[float]:
        """The theta of every page that has one, dataset after dataset."""
        found: list[float] = []
        for cell in self.cells[encoder, method]:
            found += cell.thetas
        return found

    def on(self, datasets: tuple[str, ...]) -> "Results":
        """The same results on some of the datasets."""
        about = {name: one for name, one in self.about.items() if name in datasets}
        return replace(
            self,
            datasets=datasets,
            cells=self._cells_on(datasets, self.cells),
            about=about,
            rounded=self._cells_on(datasets, self.rounded),
        )

    def _cells_on(
        self, datasets: tuple[str, ...], cells: Mapping[Key, tuple[Cell, ...]]
    ) -> dict[Key, tuple[Cell, ...]]:
        found = {}
        for key, some in cells.items():
            by_dataset = dict(zip(self.datasets, some, strict=True))
            found[key] = tuple(by_dataset[name] for name in datasets)
        return found

    def of(self, encoder: str) -> "Results":
        """The same results of one encoder."""
        cells = {key: some for key, some in self.cells.items() if key[0] == encoder}
        rounded = {key: some for key, some in self.rounded.items() if key[0] == encoder}
        return replace(self, cells=cells, rounded=rounded)


def load_results(
    folder: str | Path, datasets: Sequence[str] = (), measure: str = MEASURE
) -> Results:
    """The results of a folder, or of some of its datasets (names or suites).

    A method that does not have a cell for every dataset is left out, and `left_out` names it.
    """
    folder = Path(folder)
    found: dict[Key, dict[str, Cell]] = {}
    for cell in read_cells(folder):
        by_dataset = found.setdefault((cell.encoder, cell.method), {})
        by_dataset[cell.dataset] = cell

    there: set[str] = set()
    for by_dataset in found.values():
        there |= by_dataset.keys()
    if not there:
        raise BadFile(f"{folder} holds no result files: {_where_to_find_some(folder)}")
    asked = _asked(datasets, sorted(there), folder)

    whole = {}
    for key, by_dataset in found.items():
        if by_dataset.keys() >= set(asked):
            whole[key] = tuple(by_dataset[name] for name in asked)
    if not whole:
        raise BadFile(
            f"{folder} has no method with results on all of {', '.join(asked)}: "
            "finish the run, or use --dataset"
        )

    cells, rounded = {}, {}
    for key, some in whole.items():
        _, method = key
        if read_name(method).dtype:
            rounded[key] = some
        else:
            cells[key] = some
    about = {name: one for name, one in read_datasets(folder).items() if name in asked}
    left_out = tuple(sorted(found.keys() - whole.keys()))
    return Results(tuple(asked), cells, about, left_out, measure, rounded)


def _where_to_find_some(folder: Path) -> str:
    for path in sorted(folder.glob(f"*/{DATASETS}")):
        return f"{path.parent} does"
    return f"make some with adamerge evaluate run EXPERIMENT.toml -o {folder}"


def _asked(datasets: Sequence[str], there: list[str], folder: Path) -> list[str]:
    """The datasets that are asked for, each once; all that are there where none is."""
    asked: dict[str, None] = {}
    for given in datasets:
        asked |= dict.fromkeys(dataset_names(given))

    for name in asked:
        if name not in there:
            known = ", ".join(there)
            raise UnknownName(f"{folder} has no results on '{name}'; it has {known}")
    return list(asked) or there


def pick(asked: Sequence[str], there: Iterable[str], what: str) -> list[str]:
    """What is asked for, each once and as results write it; a name that is not there is refused."""
    names = list(dict.fromkeys(there))
    found = list(dict.fromkeys(map(as_written, asked)))
    for one in found:
        if one not in names:
            raise BadInput(f"no {what} '{one}' in these results; there is {_listed(names)}")
    return found


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(names[:MANY]) or "none"
    if len(names) > MANY:
        listed += " ..."
    return listed


def as_written(text: str) -> str:
    """A number, method or control as results write it: -.25 is -0.25, adamerge is adamerge:k=-0.25,c_min=0.7."""
    if NUMBER.fullmatch(text) or re.fullmatch(r"[-+]?\.\d+", text):
        return as_text(float(text))
    try:
        return str(parse_method_or_control(text))
    except AdamergeError:  # a method of somebody else's: known by its cells
        return text
