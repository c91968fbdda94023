"""Vectors on disk: our folders of shards, and the files of others."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from adamerge.errors import BadFile, NotFound
from adamerge.types import Compressed, MultiVector
from adamerge.vectors.formats import READERS, read_file
from adamerge.vectors.manifest import NAME, Manifest, read_manifest
from adamerge.vectors.shards import Shards, Writer, fingerprint, open_shards, write_vectors

__all__ = [
    "Manifest",
    "Shards",
    "Writer",
    "fingerprint",
    "open_shards",
    "read_compressed",
    "read_manifest",
    "read_vectors",
    "write_vectors",
]


def read_vectors(path: str | Path, start: int = 0) -> Iterator[MultiVector]:
    """The pages of a folder or file from number `start` on, read when they are asked for."""
    path = Path(path)
    if (path / NAME).exists():
        return open_shards(path).pages(start)
    if not path.exists():
        raise NotFound(f"{path} does not exist")
    return islice(_read_files(path), start, None)


def read_compressed(path: str | Path) -> Iterator[Compressed]:
    """The compressed pages of a folder, read when they are asked for."""
    return open_shards(path).compressed()


def _read_files(path: Path) -> Iterator[MultiVector]:
    if path.is_file():
        yield from read_file(path)
        return
    files = sorted(file for file in path.rglob("*") if file.suffix in READERS)
    if not files:
        raise BadFile(
            f"{path} holds no vectors: no {NAME}, and no file of {', '.join(sorted(READERS))}"
        )
    for file in files:
        yield from read_file(file)
