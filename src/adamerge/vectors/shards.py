"""A folder of safetensors shards and a manifest: one shard written or read, all pages read; writer.py fills a folder.

    manifest.json             what made the pages: encoder, method, dtype, versions; and, once all is there, the shards
    shard-00000.safetensors   flat arrays (columns.py), page ids and checksums in its metadata

A file appears under its name only when it is whole, so a shard that is there is done.
"""

import json
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from adamerge import files
from adamerge.buckets import AnyPath, BucketPath, as_path
from adamerge.errors import AdamergeError, BadFile, BadInput, Damaged, NotFound
from adamerge.threads import read_ahead
from adamerge.types import Compressed, MultiVector
from adamerge.vectors import columns
from adamerge.vectors.manifest import FLOATS, NAME, Manifest, is_shards, read_manifest
from adamerge.vectors.row_columns import Array, dtype_of
from adamerge.vectors.safetensors_file import SafetensorsFile
from adamerge.vectors.safetensors_object import SafetensorsObject

SHARD_BYTES = 32 << 20  # of vectors; large enough to stream, small enough to hold


class Part(NamedTuple):
    """A shard that was read, and the number of its first page that is asked for."""

    arrays: dict[str, Array]
    ids: list[str]
    where: str
    first: int


@dataclass(frozen=True)
class Shards:
    """A folder of vectors, opened; pages are read when they are asked for, a shard at a time."""

    path: AnyPath
    manifest: Manifest
    counts: dict[str, int]  # shard -> pages

    def __len__(self) -> int:
        """Pages in the folder."""
        return sum(self.counts.values())

    @property
    def dimension(self) -> int:
        """Numbers in a vector, d; 0 where there is none."""
        for name in self.counts:
            return dimension(self.path / name)
        return 0

    def only(self, names: Iterable[str]) -> "Shards":
        """The same folder with some of its shards."""
        return replace(self, counts={name: self.counts[name] for name in names})

    def pages(self, start: int = 0) -> Iterator[MultiVector]:
        """The pages from number `start` on, as their encoder gave them."""
        for load in self.page_loaders(start):
            yield load()

    def page_loaders(self, start: int = 0) -> Iterator[Callable[[], MultiVector]]:
        """A function for each of those pages that makes it, so that several threads may share that work.

        Meanwhile a thread reads the next shard and compares its checksums.
        """
        method = self.manifest.method
        if method:
            raise BadFile(f"{self.path} holds pages compressed by {method}, not an encoder's")
        for part in read_ahead(self._parts(start)):
            loaders = columns.page_loaders(part.arrays, part.ids, part.where, part.first)
            for load in loaders:
                yield partial(load_written_page, load)

    def compressed(self, start: int = 0) -> Iterator[Compressed]:
        """The compressed pages from number `start` on."""
        method = self.manifest.method
        if not method:
            raise BadFile(
                f"{self.path} holds pages that are not compressed: adamerge compress does that"
            )
        for part in self._parts(start):
            try:
                self._check_dtype(part)
                yield from columns.to_compressed(
                    part.arrays, part.ids, part.where, method, part.first
                )
            except BadInput as error:
                raise Damaged(str(error)) from None

    def _check_dtype(self, part: Part) -> None:
        """Refuse a shard in another dtype than the manifest says; which float it is, the array says itself."""
        found = dtype_of(part.arrays, part.where)
        expected = self.manifest.dtype
        if found != expected and not {found, expected} <= set(FLOATS):
            raise Damaged(f"{part.where} is in {found}, and the manifest says {expected}")

    def _parts(self, start: int) -> Generator[Part, None, None]:
        for name, first in self._shards_from(start):
            yield self._part(name, first)

    def _shards_from(self, start: int) -> Iterator[tuple[str, int]]:
        """The shards with a page of number `start` or later, and the first of those in each."""
        for name, pages in self.counts.items():
            if start < pages:
                yield name, start
            start = max(start - pages, 0)

    def _part(self, name: str, first: int) -> Part:
        path = self.path / name
        arrays, ids = read_shard(path)
        if len(ids) != self.counts[name]:
            counted = self.counts[name]
            raise Damaged(f"{path} holds {len(ids)} pages, the manifest counts {counted}")
        return Part(arrays, ids, str(path), first)


def load_written_page(load: Callable[[], MultiVector]) -> MultiVector:
    """A page of ours; one that is refused has the right checksum, but was never written by us."""
    try:
        return load()
    except BadInput as error:
        raise Damaged(str(error)) from None


def open_shards(path: str | AnyPath) -> Shards:
    """Open a folder of vectors; one that is not finished, or lacks a shard, is refused."""
    path = as_path(path)
    manifest = read_manifest(path)
    if manifest.pages is None:
        written = len(list(path.glob("shard-*.safetensors")))
        raise BadFile(
            f"{path} is not finished ({written} shards): run the command that writes it again"
        )
    there = {file.name for file in path.iterdir()}
    for name in manifest.shards:
        if name not in there:
            raise Damaged(f"{path / name} is missing, and the manifest counts on it")
    return Shards(path, manifest, manifest.shards)


def write_shard(path: AnyPath, arrays: dict[str, Array], ids: list[str]) -> None:
    """Write flat arrays and page ids; the shard is there whole or not at all."""
    checksums = {}
    for name, array in arrays.items():
        checksums[name] = crc32(np.ascontiguousarray(array).data)
    about = json.dumps({"ids": ids, "crc32": checksums})
    files.write(path, save(arrays, {"pages": about}))  # one key: several come in any order


def read_shard(
    path: AnyPath, only: Collection[str] | None = None
) -> tuple[dict[str, Array], list[str]]:
    """The flat arrays (all, or `only` some) and page ids of a shard; a byte that changed since is noticed."""
    arrays = {}
    with _opened(path) as file:
        ids, checksums = _ids_and_checksums(file)
        for name in file.keys():  # noqa: SIM118 (not a dict)
            if only is None or name in only:
                arrays[name] = file.get_tensor(name)

    for name, array in arrays.items():
        if crc32(array.data) != checksums.get(name):
            raise Damaged(f"{path} has changed since it was written: checksum of '{name}'")
    return arrays, ids


def read_ids(path: AnyPath) -> list[str]:
    """The page ids of a shard; its arrays are not read."""
    _, ids = read_shard(path, only=())
    return ids


def dimension(path: AnyPath) -> int:
    """Numbers in a vector of a shard, d."""
    with _opened(path) as file:
        if "dimensions" in file.keys():  # noqa: SIM118 (not a dict)
            return int(file.get_tensor("dimensions")[0])
        _, d = file.get_slice("vectors").get_shape()
    return int(d)


def pages_per_shard(path: AnyPath) -> dict[str, int]:
    """The shards that are in a folder now, finished or not, and the pages of each."""
    counts = {}
    for name in shard_names(path):
        counts[name] = len(read_ids(path / name))
    return counts


def shard_names(path: AnyPath) -> list[str]:
    """The names of the shards in a folder, in order; a gap in their numbers is refused."""
    names = sorted(file.name for file in path.glob("shard-*.safetensors"))
    expected = [shard_name(number) for number in range(len(names))]
    if names != expected:
        missing = min(set(expected) - set(names))
        raise Damaged(f"{path} lacks {missing}: copy it back, or start in another folder")
    return names


def shard_name(number: int) -> str:
    """The name of the shard of a number, from 0 on."""
    return f"shard-{number:05d}.safetensors"


def fingerprint(source: AnyPath) -> str:
    """What a file or folder of vectors holds, in eight letters; a folder of shards tells by their checksums."""
    if is_shards(source):
        metadata = [_metadata(source / name) for name in open_shards(source).counts]
        return f"{crc32(json.dumps(metadata).encode()):08x}"
    if isinstance(source, BucketPath):
        raise NotFound(f"{source} is not a folder of vectors: it has no {NAME}")
    if not source.is_dir():
        return files.fingerprint((source.name, source))

    inside = sorted(file for file in source.rglob("*") if file.is_file())
    named = [(file.relative_to(source).as_posix(), file) for file in inside]
    return files.fingerprint(*named)


def _metadata(path: AnyPath) -> Any:
    with _opened(path) as shard:
        return shard.metadata()


@contextmanager
def _opened(path: AnyPath) -> Iterator[Any]:
    """A shard as safetensors has it; whatever goes wrong with it in the block is Damaged."""
    try:
        if isinstance(path, BucketPath):
            yield SafetensorsObject(path)
            return
        with safe_open(path, framework="numpy") as checked, path.open("rb") as content:
            yield SafetensorsFile(checked, content)
    except (AdamergeError, MemoryError):
        raise
    except Exception as error:  # of the library, or of metadata that is not ours
        raise Damaged(
            f"{path} cannot be read ({error}): it was cut short or changed; write it again"
        ) from None


def _ids_and_checksums(file: Any) -> tuple[list[str], dict[str, int]]:
    """The ids of the pages and the checksum of every array, from the metadata of an open shard."""
    metadata = file.metadata() or {}
    about = json.loads(metadata["pages"])
    ids, checksums = about["ids"], about["crc32"]
    if not isinstance(ids, list) or not isinstance(checksums, dict):
        raise ValueError("its metadata holds no ids and checksums")

    for id in ids:
        if not isinstance(id, str):
            raise ValueError(f"the id of a page is text, got {id!r}")
        id.encode()  # half a letter is no text
    return ids, checksums
