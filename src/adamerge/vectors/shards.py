"""A folder of safetensors shards and a manifest: written so that a killed run goes on where it was, read page by page.

    manifest.json             what made the pages: encoder, method, dtype, versions; and, once all is there, the shards
    shard-00000.safetensors   flat arrays (columns.py), page ids and checksums in its metadata

A file appears under its name only when it is whole. So a shard that is there is done, and a run that starts again skips
as many pages as the shards hold.
"""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import DTypeLike
from safetensors import safe_open
from safetensors.numpy import save

from adamerge import files
from adamerge.errors import AdamergeError, BadFile, BadInput, Damaged, Mismatch
from adamerge.types import Compressed, MultiVector
from adamerge.vectors import columns
from adamerge.vectors.columns import Array
from adamerge.vectors.manifest import DTYPES, NAME, Manifest, read_manifest, write_manifest

SHARD_BYTES = 32 << 20  # of vectors; large enough to stream, small enough to hold


@dataclass(frozen=True)
class Shards:
    """A folder of vectors, opened; pages are read when they are asked for, a shard at a time."""

    path: Path
    manifest: Manifest
    counts: dict[str, int]  # shard -> pages

    def __len__(self) -> int:
        """Pages in the folder."""
        return sum(self.counts.values())

    @property
    def dimension(self) -> int:
        """Numbers in a vector, d; 0 where there is none."""
        return dimension(self.path / next(iter(self.counts))) if self.counts else 0

    def pages(self, start: int = 0) -> Iterator[MultiVector]:
        """The pages from number `start` on, as their encoder gave them."""
        if self.manifest.method:
            raise BadFile(
                f"{self.path} holds pages compressed by {self.manifest.method}, not an encoder's"
            )
        for arrays, ids, where, first in self._from(start):
            try:
                yield from columns.to_pages(arrays, ids, where, first)
            except BadInput as error:  # with the right checksum, but never written by us
                raise Damaged(str(error)) from None

    def compressed(self, start: int = 0) -> Iterator[Compressed]:
        """The compressed pages from number `start` on."""
        if not self.manifest.method:
            raise BadFile(
                f"{self.path} holds pages that are not compressed: adamerge compress does that"
            )
        for arrays, ids, where, first in self._from(start):
            try:
                yield from columns.to_compressed(arrays, ids, where, self.manifest.method, first)
            except BadInput as error:
                raise Damaged(str(error)) from None

    def _from(self, start: int) -> Iterator[tuple[dict[str, Array], list[str], str, int]]:
        for name, pages in self.counts.items():
            if start < pages:
                arrays, ids = read_shard(self.path / name)
                if len(ids) != pages:
                    raise Damaged(
                        f"{self.path / name} holds {len(ids)} pages, the manifest counts {pages}"
                    )
                yield arrays, ids, str(self.path / name), start
            start = max(start - pages, 0)


class Writer:
    """Adds pages to a folder; use it in a `with` block, which finishes the folder unless it ends in an error.

    with Writer("vectors", dtype="float16") as out:
        for page in out.rest(pages):
            out.add(page)
    """

    def __init__(
        self,
        path: str | Path,
        *,
        dtype: DTypeLike = "float16",
        method: str = "",
        encoder: Mapping[str, Any] | None = None,
        source: str = "",
    ) -> None:
        """Open a folder to write, or to go on writing what the same source, encoder and method began."""
        dtype = np.dtype(dtype).name
        if dtype not in DTYPES:
            raise BadInput(f"vectors are stored as {' or '.join(DTYPES)}, got '{dtype}'")
        self.path = Path(path)
        self.manifest = Manifest(dtype, method, source, dict(encoder or {}), _versions())
        self._pages: list[Any] = []
        self._bytes = 0
        self._lock = files.lock_folder(self.path)
        try:
            self.counts = _resumed(self.path, self.manifest)
            self._known_ids = set(self.ids())  # of pages on disk and waiting
        except BaseException:
            os.close(self._lock)
            raise
        self.done = sum(self.counts.values())  # pages that are safely on disk
        self._dimension = dimension(self.path / next(iter(self.counts))) if self.counts else None

    def add(self, *pages: MultiVector | Compressed) -> None:
        """Take more pages; they are on disk when their shard is full, or at the end. A shard ends with a whole call."""
        for page in pages:
            self._take(page)
        if self._bytes >= SHARD_BYTES:
            self._flush()

    def _take(self, page: MultiVector | Compressed) -> None:
        method = page.method if isinstance(page, Compressed) else ""
        if method != self.manifest.method:
            ours, theirs = self.manifest.method or "no compression", method or "no compression"
            raise Mismatch(
                f"page '{page.id}' was made by {theirs}, the folder is for pages made by {ours}"
            )
        self._dimension = self._dimension or page.vectors.shape[1]
        if page.vectors.shape[1] != self._dimension:
            raise Mismatch(
                f"page '{page.id}' has {page.vectors.shape[1]} dimensions, the pages before it {self._dimension}"
            )
        self._known_ids.add(self._new_id(page))
        self._pages.append(page)
        self._bytes += page.vectors.size * np.dtype(self.manifest.dtype).itemsize

    def _new_id(self, page: MultiVector | Compressed) -> str:
        """The id of the next page, its own or its number; refused if it is taken, or no text."""
        id = page.id or str(self.done + self.waiting)
        if id in self._known_ids:
            raise BadInput(f"two pages have the id '{id}': give each page an id of its own")
        if any("\ud800" <= letter <= "\udfff" for letter in id):
            raise BadInput(f"the id {id!r} is not Unicode text: half a letter cannot be written")
        return id

    @property
    def waiting(self) -> int:
        """Pages taken and not on disk yet."""
        return len(self._pages)

    def ids(self) -> list[str]:
        """The ids of all pages on disk."""
        return [id for name in self.counts for id in read_shard(self.path / name, only=())[1]]

    def rest(self, pages: Iterable[MultiVector | Compressed]) -> Iterator[MultiVector | Compressed]:
        """The pages that are not on disk yet; those before them must be the ones that are."""
        source = iter(pages)
        for number, there in enumerate(self.ids()):
            page = next(source, None)
            if page is None or (page.id or str(number)) != there:
                here = "nothing" if page is None else f"'{page.id}'"
                raise Mismatch(
                    f"{self.path} holds page '{there}' where there is {here} now: choose another folder"
                )
        yield from source

    def _flush(self) -> None:
        if not self._pages:
            return
        make = columns.of_compressed if self.manifest.method else columns.of_pages
        ids = [page.id or str(self.done + i) for i, page in enumerate(self._pages)]
        name = f"shard-{len(self.counts):05d}.safetensors"
        write_shard(self.path / name, make(self._pages, self.manifest.dtype), ids)
        self.counts[name] = len(ids)
        self.done += len(ids)
        self._pages, self._bytes = [], 0

    def __enter__(self) -> Self:
        """Nothing to do: the folder is open."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        """Write the last shard and finish the manifest; after an error leave what can be resumed, or nothing."""
        finished = False
        try:
            if kind is None:
                self._flush()
                write_manifest(
                    self.path, replace(self.manifest, pages=self.done, shards=self.counts)
                )
                finished = True
        finally:
            if not finished:
                _abandon(self.path)
            os.close(self._lock)


def write_vectors(
    path: str | Path,
    pages: Iterable[MultiVector | Compressed],
    *,
    dtype: DTypeLike = "float16",
    encoder: Mapping[str, Any] | None = None,
) -> int:
    """Write pages, compressed or not, to a folder and return how many it holds.

    Those that a killed run wrote are not written again. `encoder` says what made them: name, revision ...
    """
    source = iter(pages)
    first = next(source, None)
    method = first.method if isinstance(first, Compressed) else ""
    with Writer(path, dtype=dtype, method=method, encoder=encoder) as out:
        for page in out.rest(chain([] if first is None else [first], source)):
            out.add(page)
    return out.done


def open_shards(path: str | Path) -> Shards:
    """Open a folder of vectors; one that is not finished, or lacks a shard, is refused."""
    path = Path(path)
    manifest = read_manifest(path)
    if manifest.pages is None:
        raise BadFile(
            f"{path} is not finished ({len(_names(path))} shards): run the command that writes it again"
        )
    for name in manifest.shards:
        if not (path / name).exists():
            raise Damaged(f"{path / name} is missing, and the manifest counts on it")
    return Shards(path, manifest, manifest.shards)


def write_shard(path: Path, arrays: dict[str, Array], ids: list[str]) -> None:
    """Write flat arrays and page ids; the shard is there whole or not at all."""
    sums = {name: crc32(np.ascontiguousarray(array).data) for name, array in arrays.items()}
    about = {"pages": json.dumps({"ids": ids, "crc32": sums})}  # one key: several come in any order
    files.write(path, save(arrays, about))


def read_shard(
    path: Path, only: Collection[str] | None = None
) -> tuple[dict[str, Array], list[str]]:
    """The flat arrays (all, or `only` some) and page ids of a shard; a byte that changed since is noticed."""
    with _opened(path) as file:
        ids, sums = _ids_and_sums(file)
        names = [name for name in file.keys() if only is None or name in only]  # noqa: SIM118 (not a dict)
        arrays = {name: file.get_tensor(name) for name in names}
    for name, array in arrays.items():
        if crc32(array.data) != sums.get(name):
            raise Damaged(f"{path} has changed since it was written: checksum of '{name}'")
    return arrays, ids


def dimension(path: Path) -> int:
    """Numbers in a vector of a shard, d."""
    with _opened(path) as file:
        _, d = file.get_slice("vectors").get_shape()
    return int(d)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A shard as safetensors has it; whatever goes wrong with it in the block is Damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except (AdamergeError, MemoryError):
        raise
    except Exception as error:  # of the library, or of metadata that is not ours
        raise Damaged(
            f"{path} cannot be read ({error}): it was cut short or changed; write it again"
        ) from None


def _ids_and_sums(file: Any) -> tuple[list[str], dict[str, int]]:
    """The ids of the pages and the checksum of every array, from the metadata of an open shard."""
    about = json.loads((file.metadata() or {})["pages"])
    ids, sums = about["ids"], about["crc32"]
    if not isinstance(ids, list) or not isinstance(sums, dict):
        raise ValueError("its metadata holds no ids and checksums")
    for id in ids:
        if not isinstance(id, str):
            raise ValueError(f"the id of a page is text, got {id!r}")
        id.encode()  # half a letter is no text
    return ids, sums


def _resumed(path: Path, manifest: Manifest) -> dict[str, int]:
    """Shards of an earlier run with the same manifest; a fresh folder gets its manifest now."""
    _clear(path)
    if (path / NAME).exists():
        there = read_manifest(path)
        if there.made_by() != manifest.made_by():
            raise Mismatch(f"{path} holds {there}; cannot mix in {manifest}: choose another folder")
    elif any(path.iterdir()):
        raise BadFile(f"{path} is not empty and holds no vectors: choose another folder")
    else:
        _begin(path, manifest)
    return counted(path)


def _begin(path: Path, manifest: Manifest) -> None:
    """Write the manifest of an empty folder; if that fails, the folder goes too."""
    try:
        write_manifest(path, manifest)
    except BaseException:
        _abandon(path)
        raise


def counted(path: Path) -> dict[str, int]:
    """The shards that are in a folder now, finished or not, and the pages of each."""
    return {name: len(read_shard(path / name, only=())[1]) for name in _names(path)}


def fingerprint(source: Path) -> str:
    """What a file or folder of vectors holds, in eight letters; a folder of shards tells by their checksums."""
    if not source.is_dir():
        return files.fingerprint((source.name, source))
    if (source / NAME).exists():
        metadata = [_metadata(source / name) for name in _names(source)]
        return f"{crc32(json.dumps(metadata).encode()):08x}"
    inside = sorted(file for file in source.rglob("*") if file.is_file())
    return files.fingerprint(*((file.relative_to(source).as_posix(), file) for file in inside))


def _metadata(path: Path) -> Any:
    with _opened(path) as shard:
        return shard.metadata()


def _versions() -> dict[str, str]:
    return {package: version(package) for package in ("adamerge", "numpy", "safetensors")}


def _clear(path: Path) -> None:
    """Remove what was being written when a run was stopped."""
    for name in (NAME, "shard-*.safetensors"):
        for left_over in path.glob(f".{name}.*{files.TEMPORARY}"):
            left_over.unlink(missing_ok=True)


def _abandon(path: Path) -> None:
    """Leave the shards that are done, or nothing at all; a disk that refuses even that is tidied by the next run."""
    with suppress(OSError):
        _clear(path)
        if not _names(path):
            (path / NAME).unlink(missing_ok=True)
            path.rmdir()


def _names(path: Path) -> list[str]:
    names = sorted(p.name for p in path.glob("shard-*.safetensors"))
    expected = [f"shard-{i:05d}.safetensors" for i in range(len(names))]
    if names != expected:
        raise Damaged(
            f"{path} lacks {min(set(expected) - set(names))}: copy it back, or start in another folder"
        )
    return names
