"""Vectors on disk: our folders of shards, and the files of others."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from adamerge.errors import NotFound
from adamerge.types import Compressed, MultiVector
from adamerge.vectors.formats import read_path
from adamerge.vectors.manifest import Manifest, is_shards, read_manifest
from adamerge.vectors.shards import Shards, fingerprint, open_shards, pages_per_shard
from adamerge.vectors.writer import Writer, write_vectors

__all__ = [
    "Manifest",
    "Shards",
    "Writer",
    "fingerprint",
    "is_shards",
    "open_shards",
    "pages_per_shard",
    "read_compressed",
    "read_manifest",
    "read_vectors",
    "write_vectors",
]


def read_vectors(path: str | Path, start: int = 0) -> Iterator[MultiVector]:
    """The pages of a folder or file from number `start` on, read when they are asked for."""
    path = Path(path)
    if is_shards(path):
        return open_shards(path).pages(start)
    if not path.exists():
        raise NotFound(f"{path} does not exist")
    return islice(read_path(path), start, None)


def read_compressed(path: str | Path) -> Iterator[Compressed]:
    """The compressed pages of a folder, read when they are asked for."""
    return open_shards(path).compressed()
