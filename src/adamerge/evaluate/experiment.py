"""A TOML file -> what to run: encoders, datasets, and a grid of methods and controls.

encoders = ["minilm"]
datasets = ["books"]

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

from adamerge.compress.names import Method, as_text
from adamerge.errors import BadFile
from adamerge.evaluate import controls
from adamerge.evaluate.controls import Control

KEYS = {"encoders", "datasets", "options", "methods", "controls"}


@dataclass(frozen=True)
class Experiment:
    """What to run: every method on every dataset as every encoder sees it; `options` are those of the encoders."""

    encoders: tuple[str, ...]
    datasets: tuple[str, ...]
    methods: tuple[Method | Control, ...]
    options: Mapping[str, Any]


def read(path: Path) -> Experiment:
    """The experiment of a TOML file; what it does not understand is refused."""
    try:
        raw = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read as an experiment ({error})") from None
    if wrong := sorted(raw.keys() - KEYS):
        raise BadFile(f"{path} has '{wrong[0]}', and an experiment has {', '.join(sorted(KEYS))}")
    texts = [text for grid in raw.get("methods", []) for text in expand(grid)]
    for control in raw.get("controls", []):
        names, of = _list(control.get("name", [])), control.get("of", {})
        texts += names if not of else [f"{name}({text})" for name in names for text in expand(of)]
    entries = dict.fromkeys(controls.parse(text) for text in texts)  # each once, in order
    if not entries or not raw.get("encoders") or not raw.get("datasets"):
        raise BadFile(f"{path} must name encoders, datasets and methods")
    return Experiment(tuple(raw["encoders"]), tuple(raw["datasets"]), tuple(entries), raw.get("options", {}))


def expand(grid: Mapping[str, Any]) -> Iterator[str]:
    """The names of all methods of a grid: every combination of its lists."""
    options = {key: _list(value) for key, value in grid.items() if key != "name"}
    for name in _list(grid.get("name", "")):
        for values in product(*options.values()):
            written = ",".join(f"{key}={as_text(value)}" for key, value in zip(options, values, strict=True))
            yield f"{name}:{written}" if written else name


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
