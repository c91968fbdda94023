"""A TOML file -> what to run: encoders, datasets, and a grid of methods and controls.

encoders = ["minilm"]
datasets = ["books"]
modules = ["halves.py"]                  Python files with methods of one's own, beside the TOML file; imported first
data = "../data"                         folder of datasets, from where the TOML file is; "data" if not said
vectors = "../vectors"                   folder of encoded datasets, likewise; "vectors" if not said

[[methods]]                              every combination of the lists is a method
name = "adamerge"
k = ["none", -0.25]
unit = [false, true]

[[controls]]                             every control of every method below it
name = ["random", "merge-total"]
of = { name = "adamerge", k = "none" }
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from adamerge.compress.method_files import import_methods
from adamerge.compress.names import Method, Name, as_text
from adamerge.errors import BadFile, BadInput, UnknownName
from adamerge.evaluate import controls
from adamerge.evaluate.controls import Control

KEYS = {"encoders", "datasets", "modules", "data", "vectors", "options", "methods", "controls"}


@dataclass(frozen=True)
class Experiment:
    """What to run: every method on every dataset as every encoder sees it; `options` are those of the encoders.

    data, vectors  folders of datasets and of encoded datasets
    """

    encoders: tuple[str, ...]
    datasets: tuple[str, ...]
    methods: tuple[Method | Control, ...]
    options: Mapping[str, Any]
    data: Path = Path("data")
    vectors: Path = Path("vectors")

    def __post_init__(self) -> None:
        """What is asked twice is asked once."""
        for name in ("encoders", "datasets", "methods"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))


def read(path: Path) -> Experiment:
    """The experiment of a TOML file; what it does not understand is refused."""
    try:
        raw = tomllib.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise BadFile(f"{path} cannot be read as an experiment ({error})") from None
    if wrong := sorted(raw.keys() - KEYS):
        raise BadFile(f"{path} has '{wrong[0]}', and an experiment has {', '.join(sorted(KEYS))}")
    try:
        return _experiment(raw, path)
    except (BadFile, BadInput, UnknownName) as error:
        raise BadFile(f"{path}: {error}") from None


def _experiment(raw: Mapping[str, Any], path: Path) -> Experiment:
    for file in _texts(raw, "modules"):
        import_methods(path.parent / file)
    texts = [text for grid in _list(raw.get("methods", [])) for text in expand(grid)]
    texts += [text for control in _list(raw.get("controls", [])) for text in _controls(control)]
    encoders, datasets, options = (
        _texts(raw, "encoders"),
        _texts(raw, "datasets"),
        raw.get("options", {}),
    )
    if not encoders or not datasets or not texts or not isinstance(options, dict):
        raise BadFile("it must name encoders, datasets and methods, and options as a table")
    return Experiment(
        tuple(encoders),
        tuple(datasets),
        tuple(map(controls.parse, texts)),
        options,
        data=_folder(path, raw, "data"),
        vectors=_folder(path, raw, "vectors"),
    )


def _folder(path: Path, raw: Mapping[str, Any], key: str) -> Path:
    """A folder that the file names, from where the file is; one called as the key where it names none."""
    name = raw.get(key, key)
    if not isinstance(name, str) or not name:
        raise BadFile(f"it must name a folder in '{key}', got {name!r}")
    return path.parent / name


def expand(grid: Mapping[str, Any] | str) -> Iterator[str]:
    """The names of all methods of a grid: every combination of its lists; a text is a name as it is."""
    grid = {"name": grid} if isinstance(grid, str) else grid
    if not isinstance(grid, Mapping) or "name" not in grid:
        raise BadFile(f"a method is a table of its name and options, got {grid!r}")
    options = {key: _list(value) for key, value in grid.items() if key != "name"}
    for name in _list(grid["name"]):
        for values in product(*options.values()):
            texts = map(as_text, values)
            yield str(Name(name, dict(zip(options, texts, strict=True))))


def _controls(given: Any) -> Iterator[str]:
    """The names of every control of every method."""
    if not isinstance(given, Mapping) or not {"name"} <= given.keys() <= {"name", "of"}:
        raise BadFile(f"a control is a table of name and of, got {given!r}")
    of = [f"({text})" for grid in _list(given.get("of", [])) for text in expand(grid)] or [""]
    return (f"{name}{text}" for name in _list(given["name"]) for text in of)


def _texts(raw: Mapping[str, Any], key: str) -> list[str]:
    found = _list(raw.get(key, []))
    if wrong := [one for one in found if not isinstance(one, str)]:
        raise BadFile(f"{key} are names, got {wrong[0]!r}")
    return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
