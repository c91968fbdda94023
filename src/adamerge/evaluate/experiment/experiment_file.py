"""A TOML file -> what to run: encoders, datasets, and a grid of methods and controls.

encoders = ["minilm"]
datasets = ["books"]
modules = ["halves.py"]                  Python files with methods of one's own, beside the TOML file; imported first
data = "../data"                         folder of datasets, from where the TOML file is; else "data"
vectors = "../vectors"                   folder of encoded datasets, likewise; else "vectors"

[[methods]]                              every combination of the lists is a method
name = "adamerge"
k = ["none", -0.25]
unit = [false, true]

[[controls]]                             every control of every method below it
name = ["random", "merge-total"]
of = { name = "adamerge", k = "none" }
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from adamerge.compress.names import Name, as_text
from adamerge.errors import BadFile, BadInput, UnknownName
from adamerge.evaluate.experiment.controls import MethodOrControl, parse_method_or_control
from adamerge.user_modules import import_user_module

KEYS = {"encoders", "datasets", "modules", "data", "vectors", "options", "methods", "controls"}


@dataclass(frozen=True)
class Experiment:
    """What to run: every method on every dataset as every encoder sees it.

    methods        methods and controls, or their names
    options        of the encoders
    data, vectors  folders of datasets and of encoded datasets
    entries        the methods and controls, parsed

    A name that is given twice is run once.
    """

    encoders: Sequence[str]
    datasets: Sequence[str]
    methods: Sequence[MethodOrControl | str]
    options: Mapping[str, Any] = field(default_factory=dict)
    data: Path = Path("data")
    vectors: Path = Path("vectors")
    entries: tuple[MethodOrControl, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Parse the methods, and drop names that are there twice."""
        entries = dict.fromkeys(map(_parsed, self.methods))
        object.__setattr__(self, "encoders", tuple(dict.fromkeys(self.encoders)))
        object.__setattr__(self, "datasets", tuple(dict.fromkeys(self.datasets)))
        object.__setattr__(self, "methods", tuple(map(str, entries)))
        object.__setattr__(self, "entries", tuple(entries))


def _parsed(method: MethodOrControl | str) -> MethodOrControl:
    if isinstance(method, str):
        return parse_method_or_control(method)
    return method


def read_experiment(path: Path) -> Experiment:
    """The experiment of a TOML file; a key or a value that it does not know is refused."""
    try:
        raw = tomllib.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise BadFile(f"{path} cannot be read as an experiment ({error})") from None

    unknown = sorted(raw.keys() - KEYS)
    if unknown:
        known = ", ".join(sorted(KEYS))
        raise BadFile(f"{path} has '{unknown[0]}', and an experiment has {known}")

    try:
        return _as_experiment(raw, path)
    except (BadFile, BadInput, UnknownName) as error:
        raise BadFile(f"{path}: {error}") from None


def _as_experiment(raw: Mapping[str, Any], path: Path) -> Experiment:
    for file in _names(raw, "modules"):
        import_user_module(path.parent / file)

    methods: list[str] = []
    for grid in _as_list(raw.get("methods", [])):
        methods += expand_grid(grid)
    for grid in _as_list(raw.get("controls", [])):
        methods += _expand_controls(grid)

    encoders = _names(raw, "encoders")
    datasets = _names(raw, "datasets")
    options = raw.get("options", {})
    if not encoders or not datasets or not methods or not isinstance(options, dict):
        raise BadFile("it must name encoders, datasets and methods, and options as a table")

    return Experiment(
        encoders=encoders,
        datasets=datasets,
        methods=methods,
        options=options,
        data=_folder(path, raw, "data"),
        vectors=_folder(path, raw, "vectors"),
    )


def _folder(path: Path, raw: Mapping[str, Any], key: str) -> Path:
    """A folder that the file names, from where the file is; one called as the key where it names none."""
    name = raw.get(key, key)
    if not isinstance(name, str) or not name:
        raise BadFile(f"it must name a folder in '{key}', got {name!r}")
    return path.parent / name


def expand_grid(grid: Mapping[str, Any] | str) -> Iterator[str]:
    """The names of all methods of a grid: every combination of its lists; a text is a name as it is."""
    if isinstance(grid, str):
        grid = {"name": grid}
    if not isinstance(grid, Mapping) or "name" not in grid:
        raise BadFile(f"a method is a table of its name and options, got {grid!r}")

    options = {key: _as_list(value) for key, value in grid.items() if key != "name"}
    for name in _as_list(grid["name"]):
        for values in product(*options.values()):
            texts = map(as_text, values)
            yield str(Name(name, dict(zip(options, texts, strict=True))))


def _expand_controls(grid: Any) -> Iterator[str]:
    """The names of every control of every method."""
    if not isinstance(grid, Mapping) or not {"name"} <= grid.keys() <= {"name", "of"}:
        raise BadFile(f"a control is a table of name and of, got {grid!r}")

    methods: list[str] = []
    for method_grid in _as_list(grid.get("of", [])):
        methods += expand_grid(method_grid)

    for control in _as_list(grid["name"]):
        if not methods:
            yield str(control)
        for method in methods:
            yield f"{control}({method})"


def _names(raw: Mapping[str, Any], key: str) -> list[str]:
    names = _as_list(raw.get(key, []))
    for name in names:
        if not isinstance(name, str):
            raise BadFile(f"{key} are names, got {name!r}")
    return names


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value]
