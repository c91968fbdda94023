"""What made a folder of vectors: manifest.json."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adamerge import files
from adamerge.errors import Damaged, NotFound, TooNew

VERSION = 1
NAME = "manifest.json"
DTYPES = ("float16", "float32")


@dataclass(frozen=True)
class Manifest:
    """What a folder holds and what made it; `pages` is None until the last one is written."""

    dtype: str = "float16"
    method: str = ""  # empty: pages as their encoder gave them
    source: str = ""  # fingerprint of what they were made from, where it is known
    encoder: dict[str, Any] = field(
        default_factory=dict
    )  # name, revision, batch size, attention kernel ...
    versions: dict[str, str] = field(default_factory=dict)
    pages: int | None = None
    shards: dict[str, int] = field(default_factory=dict)  # name -> pages
    version: int = VERSION

    def __str__(self) -> str:
        """What made the pages, in words."""
        encoder = self.encoder.get("name", "pages of no named encoder")
        source = f" of source {self.source}" if self.source else ""
        return f"{encoder}{source} + {self.method or 'no compression'} in {self.dtype}"

    def made_by(self) -> tuple[object, ...]:
        """What two runs must share to write to one folder."""
        return self.dtype, self.method, self.source, self.encoder


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write a folder's manifest; it is there whole or not at all."""
    files.write(path / NAME, json.dumps(asdict(manifest), indent=1) + "\n")


def read_manifest(path: Path) -> Manifest:
    """The manifest of a folder; one that a later version wrote is refused."""
    try:
        raw = json.loads((path / NAME).read_text())
        found = raw["version"]
    except FileNotFoundError:
        raise NotFound(f"{path} is not a folder of vectors: it has no {NAME}") from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise Damaged(f"{path / NAME} cannot be read ({error!r})") from None
    if not isinstance(found, int) or found > VERSION:
        raise TooNew(
            f"{path} has format {found}; this adamerge reads up to {VERSION}: pip install -U adamerge"
        )
    try:
        manifest = Manifest(**raw)
        whole = manifest.pages is None or manifest.pages == sum(manifest.shards.values())
        if not whole or manifest.dtype not in DTYPES or not isinstance(manifest.encoder, dict):
            raise ValueError("its numbers do not agree")
    except (TypeError, ValueError, AttributeError) as error:
        raise Damaged(f"{path / NAME} cannot be understood ({error})") from None
    return manifest
