"""Which encoder is asked for: a name and options, as stores, caches, workers and results record and restore it.

A name is one of ours (`minilm`), a checkpoint of the ColPali family on the hub or in a folder
(`vidore/colqwen2.5-v0.2`), an entry point of the group `adamerge.encoders`, or a class of one's own
(`package.module:Class`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from adamerge.encoders import query_prefix
from adamerge.errors import (
    BadFile,
    BadInput,
    Mismatch,
    UnknownName,
    did_you_mean,
    missing_extra,
)

if TYPE_CHECKING:
    from adamerge.encoders import Encoder

GROUP = "adamerge.encoders"
DEFAULT_ENCODER = "minilm"  # where none is named: it runs on any machine
CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class Kind(NamedTuple):
    """How a kind of encoder is made."""

    where: str  # module:Class, called with the name and the options
    does: str
    options: tuple[str, ...] | None = None  # None where only the class knows
    packages: tuple[str, ...] = ()  # that it needs
    extra: str = ""  # that installs them

    @property
    def installed(self) -> bool:
        """Whether the packages that it needs are there."""
        return all(find_spec(package) for package in self.packages)


KINDS = {
    "minilm": Kind(
        "adamerge.encoders.minilm:MiniLM",
        "words of the text layer, on any laptop; of scans, with the extra ocr",
        ("device", "threads", "weights"),
        ("tokenizers",),
        "local",
    )
}
COLPALI = Kind(
    "adamerge.encoders.colpali:ColPaliEncoder",
    "page images; ColPali, ColQwen, ColNomic ...: a name on the hub, or a folder",
    ("device", "dtype", "max_num_visual_tokens", "query_prefix", "revision"),
    ("colpali_engine", "torch"),
    "colpali",
)
EXAMPLES = (  # checkpoints of the hub that a person may mean; docs/encoders.md has more
    "vidore/colqwen2.5-v0.2",
    "vidore/colqwen2-v1.0",
    "vidore/colpali-v1.3",
    "vidore/colSmol-500M",
    "nomic-ai/colnomic-embed-multimodal-3b",
    "ModernVBERT/colmodernvbert",
)


@dataclass(frozen=True)
class EncoderSpec:
    """An encoder that is asked for: its name and the options it is loaded with.

    device   where it runs; not recorded, since the same vectors may be made on another machine
    trusted  False where a file named it, not the user: then it loads no code from outside of installed encoders
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    device: str | None = field(default=None, compare=False)
    trusted: bool = field(default=True, compare=False)

    @classmethod
    def recorded(cls, about: Mapping[str, Any], device: str | None = None) -> Self | None:
        """The encoder that a store or a manifest names, with its options; None where it names none.

        Queries get the prefix that is recorded, also where today's default is another one.
        """
        if not about.get("name"):
            return None
        options = about.get("options")
        if options is None:  # written before options were recorded as such
            options = {}
            if (tokens := about.get("max_num_visual_tokens")) is not None:
                options = {"max_num_visual_tokens": tokens}
        return cls(about["name"], _with_prefix(options, about), device, trusted=False)

    def with_query_prefix(self, prefix: str | None) -> Self:
        """The same encoder with other words before every query; None leaves them as they are."""
        if prefix is None:
            return self
        return replace(self, options=dict(self.options) | {query_prefix.OPTION: prefix})

    @property
    def is_code(self) -> bool:
        """Whether loading it imports a class by its path."""
        return self.name not in installed() and CLASS.fullmatch(self.name) is not None

    def load(self) -> "Encoder":
        """Load it; refuse options that it does not have, and say what to install."""
        self.check_options()
        if self.is_code and not self.trusted:
            raise BadInput(
                f"these pages were made by code outside of adamerge, {self.name}: if you trust it, say so with "
                f"--encoder {self.name}, or encoder='{self.name}' in Python"
            )
        kind = kind_of(self.name)
        if not kind.installed:
            raise missing_extra(f"the encoder {self.name}", kind.extra)
        given = dict(self.options)
        if self.device is not None:
            given["device"] = self.device
        encoder: Encoder = _class_of(kind.where)(self.name, **given)
        if encoder.name != self.name:
            raise BadInput(
                f"the encoder {self.name} calls itself {encoder.name}: no store could find it again"
            )
        return encoder

    def check_options(self) -> None:
        """Refuse a name that there is not, and options that the encoder does not have, before it is loaded."""
        known = kind_of(self.name).options
        if known is None:
            return
        for option in sorted(self.options):
            if option not in known:
                raise BadInput(f"{self.name} takes no {option}")

    def weights(self) -> str | None:
        """Which weights would be loaded now, found without loading them; None where that cannot be known.

        A folder is known by the names, sizes and times of its files, so a copy of it is another one; a checkpoint of
        the hub by its commit on this machine. Encoders of ours load no weights but the known ones.
        """
        if self.name in KINDS:
            return None
        folder = Path(self.name)
        if folder.is_dir():
            return _weights_of_folder(folder)
        return _weights_of_hub(self.name, self.options.get("revision"))

    def check(self, made: Mapping[str, Any], where: Path) -> None:
        """Refuse what the same name made with other options or weights; `made` has the two, if they are known."""
        options = dict(self.options)
        if "class" in made:  # without it nobody knows the default
            options.setdefault(query_prefix.OPTION, query_prefix.trained_prefix(made["class"]))
        recorded = _with_prefix(made.get("options") or {}, made)
        if recorded != options:
            raise Mismatch(
                f"{where} was made by {self.name} with options {recorded}, not {options}: choose another folder"
            )
        before = made.get("weights")
        now = self.weights()
        if now not in (None, before):
            raise Mismatch(
                f"{where} was made by {self.name} with weights {before}, now they are {now}: choose another folder"
            )


def _with_prefix(options: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """Options with the prefix of queries that an encoder says it had, which need not be among its options."""
    if "query prefix" not in about:
        return dict(options)
    return {query_prefix.OPTION: about["query prefix"]} | dict(options)


def _weights_of_folder(folder: Path) -> str:
    """The names, sizes and times of the files of a folder, in twelve letters."""
    files = []
    for path in sorted(folder.iterdir()):
        facts = path.stat()
        files.append((path.name, facts.st_size, facts.st_mtime_ns))
    return f"local {sha256(repr(files).encode()).hexdigest()[:12]}"


def _weights_of_hub(name: str, revision: str | None = None) -> str | None:
    """The commit of a checkpoint that is on this machine."""
    try:
        from huggingface_hub import try_to_load_from_cache

        for file in ("adapter_config.json", "config.json"):
            path = try_to_load_from_cache(name, file, revision=revision)
            if isinstance(path, str):
                return Path(path).parent.name
    except (ImportError, ValueError):
        pass
    return None


def installed() -> dict[str, Kind]:
    """The encoders that have a name of their own: ours, and those that installed packages bring."""
    kinds = {}
    for point in _entry_points():
        kinds[point.name] = Kind(point.value, f"of the package {_package(point)}")
    return kinds | KINDS


def examples() -> dict[str, Kind]:
    """The encoders to choose from: all that have a name of their own, and one checkpoint of the ColPali family."""
    return installed() | {EXAMPLES[0]: COLPALI}


def kind_of(name: str) -> Kind:
    """How an encoder of a name is made; a name that can be none is refused before any hub is asked."""
    known = installed()
    if name in known:
        return known[name]
    if CLASS.fullmatch(name):
        return Kind(name, "a class of one's own")
    if "/" in name or Path(name).is_dir():
        return COLPALI
    meant = did_you_mean(name, [*known, *EXAMPLES])
    raise UnknownName(
        f"no encoder '{name}'{meant}; give {', '.join(known)}, a name of the hub such as "
        f"{EXAMPLES[0]}, a folder, or package.module:Class"
    )


def _entry_points() -> Any:
    from importlib.metadata import entry_points  # takes long to import, and few commands need it

    return entry_points(group=GROUP)


def _package(point: Any) -> str:
    if point.dist is None:
        return "unknown"
    return str(point.dist.name)


def _class_of(where: str) -> Any:
    module, _, name = where.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise BadFile(f"the encoder {where} cannot be imported: {error}") from None
