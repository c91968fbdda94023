"""Writes a folder of shards so that a killed run goes on where it was.

A shard is written to a temporary name, synced and renamed. A run that starts again skips as many pages as the shards
hold. The manifest counts the shards when the last page is written; before that the folder is not finished.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from os import PathLike
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from adamerge import files
from adamerge.buckets import AnyPath, BucketPath, as_path
from adamerge.codes import DTYPES, bytes_per_row
from adamerge.errors import BadFile, BadInput, Mismatch
from adamerge.types import Compressed, MultiVector
from adamerge.vectors import columns, shards
from adamerge.vectors.manifest import (
    FLOATS,
    NAME,
    VERSION,
    Manifest,
    is_shards,
    read_manifest,
    write_manifest,
)

PACKAGES = ("adamerge", "numpy", "safetensors")  # whose versions a manifest records


class Writer:
    """Adds pages to a folder; use it in a `with` block, which finishes the folder unless it ends in an error.

    with Writer("vectors", dtype="float16") as out:
        for page in out.rest(pages):
            out.add(page)
    """

    def __init__(
        self,
        path: str | AnyPath,
        *,
        dtype: DTypeLike = "float16",
        method: str = "",
        encoder: Mapping[str, Any] | None = None,
        source: str = "",
    ) -> None:
        """Open a folder to write, or to go on writing what the same source, encoder and method began."""
        name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
        self.path = as_path(path)
        self.manifest = new_manifest(name, method, source, encoder or {})
        self._pages: list[Any] = []
        self._bytes = 0
        self._lock = files.lock_folder(self.path)
        try:
            self.counts = _shards_of_earlier_run(self.path, self.manifest)
            self._known_ids = set(self.ids())  # of pages on disk and waiting
        except BaseException:
            os.close(self._lock)
            raise

        self.done = sum(self.counts.values())  # pages that are safely on disk
        self._dimension: int | None = None
        for name in self.counts:
            self._dimension = shards.dimension(self.path / name)
            break

    def add(self, *pages: MultiVector | Compressed) -> None:
        """Take more pages; they are on disk when their shard is full, or at the end. A shard ends with a whole call."""
        for page in pages:
            self._check(page)
            self._known_ids.add(self._new_id(page))
            self._pages.append(page)
            self._bytes += len(page) * bytes_per_row(page.vectors.shape[1], self.manifest.dtype)
        if self._bytes >= shards.SHARD_BYTES:
            self.end_shard()

    def _check(self, page: MultiVector | Compressed) -> None:
        """Refuse a page of another method or width than the pages before it."""
        method = method_of(page)
        if method != self.manifest.method:
            ours = self.manifest.method or "no compression"
            theirs = method or "no compression"
            raise Mismatch(
                f"page '{page.id}' was made by {theirs}, the folder is for pages made by {ours}"
            )

        d = page.vectors.shape[1]
        self._dimension = self._dimension or d
        if d != self._dimension:
            raise Mismatch(
                f"page '{page.id}' has {d} dimensions, the pages before it {self._dimension}"
            )

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
        ids = []
        for name in self.counts:
            ids.extend(shards.read_ids(self.path / name))
        return ids

    def rest(self, pages: Iterable[MultiVector | Compressed]) -> Iterator[MultiVector | Compressed]:
        """The pages that are not on disk yet; those before them must be the ones that are."""
        source = iter(pages)
        for number, on_disk in enumerate(self.ids()):
            page = next(source, None)
            if page is None:
                raise self._other_page(on_disk, "nothing")
            if (page.id or str(number)) != on_disk:
                raise self._other_page(on_disk, f"'{page.id}'")
        yield from source

    def _other_page(self, on_disk: str, now: str) -> Mismatch:
        return Mismatch(
            f"{self.path} holds page '{on_disk}' where there is {now} now: choose another folder"
        )

    def end_shard(self) -> None:
        """Write the pages that wait as one shard, however small."""
        if not self._pages:
            return
        if self.manifest.method:
            arrays = columns.of_compressed(self._pages, self.manifest.dtype)
        else:
            arrays = columns.of_pages(self._pages, self.manifest.dtype)
        ids = [page.id or str(number) for number, page in enumerate(self._pages, self.done)]

        name = shards.shard_name(len(self.counts))
        shards.write_shard(self.path / name, arrays, ids)
        self.counts[name] = len(ids)
        self.done += len(ids)
        self._pages = []
        self._bytes = 0

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
                self.end_shard()
                whole = replace(self.manifest, pages=self.done, shards=self.counts)
                write_manifest(self.path, whole)
                finished = True
        finally:
            if not finished:
                _tidy_unfinished(self.path)
            os.close(self._lock)


def write_vectors(
    path: str | AnyPath,
    pages: Iterable[MultiVector | Compressed],
    *,
    dtype: DTypeLike | None = None,
    encoder: Mapping[str, Any] | None = None,
) -> int:
    """Write pages, compressed or not, to a folder and return how many it holds.

    Those that a killed run wrote are not written again. `encoder` says what made them: name, revision ... Without
    `dtype` it is that of the first page: float16, or what its method says (`height+int4`).
    """
    _check_arguments(path, pages)
    source = iter(pages)
    first = next(source, None)
    method = ""
    if first is not None:
        method = method_of(first)
        if dtype is None and isinstance(first, Compressed):
            dtype = first.dtype
        source = chain([first], source)
    with Writer(path, dtype=dtype or "float16", method=method, encoder=encoder) as out:
        for page in out.rest(source):
            out.add(page)
    return out.done


def _check_arguments(path: Any, pages: Any) -> None:
    """Refuse arguments in the wrong order, and arrays in the place of pages, with the line to write."""
    if not isinstance(path, str | PathLike | BucketPath):
        raise BadInput(
            f"write_vectors takes a folder and then pages, got a {type(path).__name__} first: "
            "am.write_vectors('vectors', pages)"
        )
    if isinstance(pages, MultiVector | Compressed) or hasattr(pages, "shape"):
        raise BadInput(
            f"write_vectors takes a list of pages, got a {type(pages).__name__}: "
            "am.write_vectors('vectors', [am.MultiVector(vectors, id='report.pdf#1')])"
        )


def method_of(page: MultiVector | Compressed) -> str:
    """The method that compressed a page; "" for a page as its encoder gave it."""
    if isinstance(page, Compressed):
        return page.method
    return ""


def _shards_of_earlier_run(path: AnyPath, manifest: Manifest) -> dict[str, int]:
    """Shards of an earlier run with the same manifest; a fresh folder gets its manifest now."""
    remove_temporary(path)
    if is_shards(path):
        check_recorded(path, read_manifest(path), manifest)
    elif any(path.iterdir()):
        raise BadFile(f"{path} is not empty and holds no vectors: choose another folder")
    else:
        _begin(path, manifest)
    return shards.pages_per_shard(path)


def check_recorded(path: AnyPath, recorded: Manifest, manifest: Manifest) -> None:
    """Refuse to go on in a folder whose pages were made in another way."""
    if recorded.made_by() != manifest.made_by():
        raise Mismatch(f"{path} holds {recorded}; cannot mix in {manifest}: choose another folder")


def _begin(path: AnyPath, manifest: Manifest) -> None:
    """Write the manifest of an empty folder; if that fails, the folder goes too."""
    try:
        write_manifest(path, manifest)
    except BaseException:
        _tidy_unfinished(path)
        raise


def new_manifest(dtype: str, method: str, source: str, encoder: Mapping[str, Any]) -> Manifest:
    """The manifest of a folder that is begun now; pages as their encoder gave them are kept as floats."""
    allowed = DTYPES if method else FLOATS
    if dtype not in allowed:
        advice = ""
        if str(dtype) == "bfloat16":
            advice = ": float32 holds every bfloat16"
        raise BadInput(f"vectors are stored as {', '.join(allowed)}; got '{dtype}'{advice}")
    version = 1 if dtype in FLOATS else VERSION
    return Manifest(dtype, method, source, dict(encoder), _versions(), version=version)


def _versions() -> dict[str, str]:
    from importlib.metadata import version  # takes long to import, and readers do not need it

    return {package: version(package) for package in PACKAGES}


def remove_temporary(path: AnyPath, *more: str) -> None:
    """Remove what was being written when a run was stopped: manifest, shards, and `more` names or globs."""
    for name in (NAME, "shard-*.safetensors", *more):
        for left_over in path.glob(f".{name}.*{files.TEMPORARY}"):
            left_over.unlink(missing_ok=True)


def _tidy_unfinished(path: AnyPath) -> None:
    """Leave the shards that are done, or nothing at all; a disk that refuses even that is tidied by the next run."""
    with suppress(OSError):
        remove_temporary(path)
        if not shards.shard_names(path):
            (path / NAME).unlink(missing_ok=True)
            path.rmdir()
