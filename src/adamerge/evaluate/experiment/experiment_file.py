"""A TOML file -> what to run: encoders, datasets, and a grid of methods and controls.

encoders = ["minilm"]                    or a [[encoders]] each, with options of its own; see below
datasets = ["books"]
modules = ["halves.py"]                  Python files with methods of one's own, beside the TOML file; imported first
data = "../data"                         folder of datasets, from where the TOML file is; else "data"
vectors = "../vectors"                   folder of encoded datasets, likewise; else "vectors"

[[methods]]                              every combination of the lists is a method
name = "adamerge"
k = ["none", -0.25]
unit = [false, true]
dtype = ["float16", "int4"]              in which its vectors are kept: adamerge:k=none+int4

[[controls]]                             every control of every method below it
name = ["random", "merge-total"]
of = { name = "adamerge", k = "none" }

[[encoders]]                             an encoder, the options it is loaded with, and the patches of a usual page:
name = "vidore/colqwen2.5-v0.2"          a dataset whose median page has far more or far fewer is warned about
revision = "6f6fcdfd1a114dfe365f529701b33d66b9349014"
max_num_visual_tokens = 768
usual_patches = 744
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from adamerge.compress.names import Name, as_text
from adamerge.encoders import EncoderSpec
from adamerge.errors import BadFile, BadInput, UnknownName
from adamerge.evaluate.experiment.controls import MethodOrControl, parse_method_or_control
from adamerge.user_modules import import_user_module

USUAL = "usual_patches"
DTYPE = "dtype"
UNWRITTEN_DTYPE = "float16"
KEYS = {"encoders", "datasets", "modules", "data", "vectors", "options", "methods", "controls"}


@dataclass(frozen=True)
class Experiment:
    """What to run: every method on every dataset as every encoder sees it.

    encoders       their names, or specs with options of their own
    methods        methods and controls, or their names
    options        of all encoders, where a spec says nothing else
    data, vectors  folders of datasets and of encoded datasets
    usual_patches  encoder -> patches of a usual page, where that is known
    specs          the encoders with all of their options
    entries        the methods and controls, parsed

    A name that is given twice is run once.
    """

    encoders: Sequence[str | EncoderSpec]
    datasets: Sequence[str]
    methods: Sequence[MethodOrControl | str]
    options: Mapping[str, Any] = field(default_factory=dict)
    data: Path = Path("data")
    vectors: Path = Path("vectors")
    usual_patches: Mapping[str, int] = field(default_factory=dict)
    specs: tuple[EncoderSpec, ...] = field(init=False)
    entries: tuple[MethodOrControl, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Parse the methods, and drop names that are there twice."""
        entries = dict.fromkeys(map(_parsed, self.methods))
        specs = {}
        for encoder in self.encoders:
            spec = EncoderSpec(encoder) if isinstance(encoder, str) else encoder
            specs[spec.name] = replace(spec, options=dict(self.options) | dict(spec.options))
        object.__setattr__(self, "encoders", tuple(self.encoders))
        object.__setattr__(self, "specs", tuple(specs.values()))
        object.__setattr__(self, "datasets", tuple(dict.fromkeys(self.datasets)))
        object.__setattr__(self, "methods", tuple(map(str, entries)))
        object.__setattr__(self, "entries", tuple(entries))

    def encoder(self, name: str) -> EncoderSpec:
        """An encoder of a name: the experiment's, or any other with the options of all."""
        for spec in self.specs:
            if spec.name == name:
                return spec
        return EncoderSpec(name, self.options)


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

    encoders = [_encoder(one) for one in _as_list(raw.get("encoders", []))]
    datasets = _names(raw, "datasets")
    options = raw.get("options", {})
    if not encoders or not datasets or not methods or not isinstance(options, dict):
        raise BadFile("it must name encoders, datasets and methods, and options as a table")

    usual_patches = {}
    for spec in encoders:
        if USUAL in spec.options:
            usual_patches[spec.name] = _count(spec.options[USUAL])
    return Experiment(
        encoders=[_without_usual(spec) for spec in encoders],
        datasets=datasets,
        methods=methods,
        options=options,
        data=_folder(path, raw, "data"),
        vectors=_folder(path, raw, "vectors"),
        usual_patches=usual_patches,
    )


def _encoder(given: Any) -> EncoderSpec:
    """An encoder by its name, or by a table of its name and options."""
    if isinstance(given, str):
        return EncoderSpec(given)
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise BadFile(f"an encoder is a name, or a table of its name and options; got {given!r}")
    options = {key: value for key, value in given.items() if key != "name"}
    return EncoderSpec(given["name"], options)


def _without_usual(spec: EncoderSpec) -> EncoderSpec:
    options = {key: value for key, value in spec.options.items() if key != USUAL}
    return replace(spec, options=options)


def _count(value: Any) -> int:
    if not isinstance(value, int) or value < 1:
        raise BadFile(f"{USUAL} must be a whole number, at least 1, got {value!r}")
    return value


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

    lists = {key: _as_list(value) for key, value in grid.items()}
    names = lists.pop("name")
    dtypes = lists.pop(DTYPE, [UNWRITTEN_DTYPE])
    for name in names:
        for values in product(*lists.values()):
            options = dict(zip(lists, map(as_text, values), strict=True))
            for dtype in dtypes:
                yield str(Name(name, options, dtype=_written_dtype(dtype)))


def _written_dtype(dtype: Any) -> str:
    """A dtype as a method's name has it: float16 is not written."""
    if dtype == UNWRITTEN_DTYPE:
        return ""
    return str(dtype)


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
