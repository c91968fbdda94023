"""Vectors on disk: our folders of shards, and the files of others.

columns.py        pages <-> flat arrays
row_columns.py    stored rows <-> flat arrays, in every dtype
manifest.py       what made a folder
shards.py         one shard written or read, all pages read
safetensors_file.py, safetensors_object.py   the file of a shard on a disk, and in a bucket
writer.py         fills a folder, also after kill -9
units.py          a run divided into units of work; planned.py: fills a folder unit by unit, by one process or many
compress_folder.py   a folder of vectors -> a folder of compressed pages; watcher.py: is told how far a run is
formats.py        which reader a file of others has, by its suffix; options.py: what readers have to be told
numpy_files.py, safetensors_files.py, torch_files.py, arrow_files.py, byaldi.py   the readers
named_arrays.py   arrays by name -> pages; prompt.py: rows of the prompt -> extra
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from adamerge.buckets import AnyPath, BucketPath, as_path
from adamerge.errors import BadInput, NotFound
from adamerge.types import Compressed, MultiVector
from adamerge.vectors import byaldi
from adamerge.vectors.formats import read_path
from adamerge.vectors.manifest import Manifest, is_shards, read_manifest
from adamerge.vectors.options import NO_OPTIONS, ReadOptions
from adamerge.vectors.shards import Shards, fingerprint, open_shards, pages_per_shard
from adamerge.vectors.writer import Writer, write_vectors

__all__ = [
    "NO_OPTIONS",
    "Manifest",
    "ReadOptions",
    "Shards",
    "Writer",
    "fingerprint",
    "is_shards",
    "open_shards",
    "pages_per_shard",
    "read_compressed",
    "read_manifest",
    "read_vectors",
    "recorded_encoder",
    "write_vectors",
]


def read_vectors(
    path: str | AnyPath,
    start: int = 0,
    *,
    column: str = "",
    prompt_rows: tuple[int, int] | None = None,
) -> Iterator[MultiVector]:
    """The pages of a folder or file from number `start` on, read when they are asked for.

    `column` names the column or array that holds the vectors, where that is not `vectors`. `prompt_rows` says how many
    rows before and after the patches of every page are not patches; they become `extra`.
    """
    path = as_path(path)
    options = ReadOptions(column, prompt_rows)
    if is_shards(path):
        if options:
            raise BadInput(f"{path} says itself where its vectors are: leave out {options}")
        return open_shards(path).pages(start)
    if isinstance(path, BucketPath):
        raise NotFound(
            f"{path} is not a folder of vectors, and other files are read from a disk: copy them first"
        )
    if not path.exists():
        raise NotFound(f"{path} does not exist")
    return islice(read_path(path, options), start, None)


def recorded_encoder(path: str | AnyPath) -> dict[str, Any]:
    """What a folder of vectors says about the encoder that made it; empty if it says nothing."""
    path = as_path(path)
    if is_shards(path):
        return read_manifest(path).encoder
    if isinstance(path, BucketPath):
        return {}
    if byaldi.is_index(path):
        return {"name": byaldi.model_of(path)}
    return {}


def read_compressed(path: str | AnyPath) -> Iterator[Compressed]:
    """The compressed pages of a folder, read when they are asked for."""
    return open_shards(path).compressed()
