"""What made a folder of vectors: manifest.json."""

import json
import re
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from adamerge import files
from adamerge.buckets import AnyPath, as_path
from adamerge.codes import DTYPES
from adamerge.errors import Damaged, NotFound, TooNew

VERSION = 2  # 1 where vectors are floats, so that earlier versions of adamerge read them
NAME = "manifest.json"
FLOATS = ("float16", "float32")
MOST_PAGES = 1 << 40  # of a shard: a number beyond it counts nothing
SHARD = re.compile(r"shard-\d{5,}\.safetensors", re.ASCII)  # a name, never a path out of the folder


@dataclass(frozen=True)
class Manifest:
    """What a folder holds and what made it; `pages` is None until the last one is written."""

    dtype: str = "float16"
    method: str = ""  # empty: pages as their encoder gave them
    source: str = ""  # fingerprint of what they were made from, where it is known
    # name, revision, batch size, attention kernel ...
    encoder: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    pages: int | None = None
    shards: dict[str, int] = field(default_factory=dict)  # name -> pages
    version: int = 1

    def __str__(self) -> str:
        """What made the pages, in words."""
        pages = self.encoder.get("name", "pages of no named encoder")
        if self.source:
            pages += f" of source {self.source}"
        return f"{pages} + {self.method or 'no compression'} in {self.dtype}"

    def made_by(self) -> tuple[object, ...]:
        """What two runs must share to write to one folder."""
        return self.dtype, self.method, self.source, self.encoder


def write_manifest(path: AnyPath, manifest: Manifest) -> None:
    """Write a folder's manifest; it is there whole or not at all."""
    # In parts, because a folder may have 100,000 shards.
    parts = json.JSONEncoder(indent=1).iterencode(vars(manifest))
    files.write_lines(path / NAME, chain(parts, ["\n"]))


def read_manifest(path: AnyPath) -> Manifest:
    """The manifest of a folder; one that a later version wrote is refused."""
    try:
        raw = json.loads((path / NAME).read_text())
        json.dumps(raw, ensure_ascii=False).encode()  # half a letter could never be printed
        found = raw["version"]
    except FileNotFoundError:
        raise NotFound(f"{path} is not a folder of vectors: it has no {NAME}") from None
    except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
        raise Damaged(f"{path / NAME} cannot be read ({error!r})") from None
    if type(found) is not int or found > VERSION:
        raise TooNew(
            f"{path} has format {found!r}; this adamerge reads up to {VERSION}: "
            "pip install -U adamerge"
        )
    try:
        manifest = Manifest(**raw)
    except TypeError as error:
        raise Damaged(f"{path / NAME} cannot be understood ({error})") from None
    wrong = _wrong_field(manifest)
    if wrong:
        raise Damaged(f"{path / NAME} cannot be understood ({wrong})")
    return manifest


def is_shards(path: str | AnyPath) -> bool:
    """Whether a path is a folder of vectors that adamerge wrote, or began to write."""
    return (as_path(path) / NAME).exists()


def _wrong_field(manifest: Manifest) -> str:
    """What is wrong with the values of a manifest, in words; empty if nothing is."""
    if manifest.version < 1:
        return f"its version is {manifest.version}"
    dtypes = FLOATS if manifest.version == 1 else DTYPES
    if manifest.dtype not in dtypes:
        return f"its dtype is {manifest.dtype!r}, and vectors are {', '.join(dtypes)}"
    for name in ("method", "source"):
        value = getattr(manifest, name)
        if not isinstance(value, str):
            return f"its {name} must be text, got {value!r}"
    for name in ("encoder", "versions", "shards"):
        value = getattr(manifest, name)
        if not isinstance(value, dict):
            return f"its {name} must be an object, got {value!r}"
    return _wrong_count(manifest)


def _wrong_count(manifest: Manifest) -> str:
    for name, pages in manifest.shards.items():
        is_count = type(pages) is int and 0 <= pages <= MOST_PAGES
        if not SHARD.fullmatch(name) or not is_count:
            return f"no shard is called {name!r} with {pages!r} pages"

    in_shards = sum(manifest.shards.values())
    is_unfinished = manifest.pages is None
    is_right = type(manifest.pages) is int and manifest.pages == in_shards
    if not is_unfinished and not is_right:
        return f"it counts {manifest.pages!r} pages, its shards {in_shards}"
    return ""
