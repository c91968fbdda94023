"""Fills a folder of shards by a plan: a shard for each unit, in any order, by one process or by many.

    plan.jsonl                 the units, until the folder is finished
    shard-00003.skipped.json   the pages that unit 3 could not read or encode, and why; until the folder is finished

A unit is done if its shard is there, or if all its pages were skipped. Two attempts at one unit write the same bytes,
each under a temporary name of its own, so neither can harm the other.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, Self

from adamerge import files
from adamerge.buckets import AnyPath, as_path
from adamerge.errors import BadFile, Damaged, Mismatch
from adamerge.types import Compressed, MultiVector
from adamerge.vectors import columns, shards
from adamerge.vectors.manifest import NAME, Manifest, is_shards, read_manifest, write_manifest
from adamerge.vectors.row_columns import Array
from adamerge.vectors.units import Unit, read_plan, write_plan
from adamerge.vectors.writer import check_recorded, method_of, remove_temporary

PLAN = "plan.jsonl"
SKIPPED = ".skipped.json"  # in place of .safetensors


class UnitOutput(NamedTuple):
    """What a unit has made: so many pages, and what it says of those that it skipped."""

    pages: int
    skipped: Sequence[str] = ()


class PlannedFolder:
    """A folder of vectors whose shards were planned; a `with` block finishes it unless it ends in an error.

    with PlannedFolder("vectors", manifest, plan) as out:
        for unit in out.missing():
            out.note(unit, write_unit(out.path, manifest, unit, pages_of(unit)))
    """

    def __init__(
        self, path: str | AnyPath, manifest: Manifest, plan: Callable[[], Iterable[Unit]]
    ) -> None:
        """Open a folder to fill, or to go on filling it; `plan` is asked for the units of a new one."""
        self.path = as_path(path)
        self.manifest = manifest
        self._counts: dict[int, int] = {}  # pages that each unit made which is known to be done
        self._skipped: dict[int, Sequence[str]] = {}
        self._lock = files.lock_folder(self.path)
        try:
            self.is_finished = self._begin(plan)
        except BaseException:
            os.close(self._lock)
            raise

    def _begin(self, plan: Callable[[], Iterable[Unit]]) -> bool:
        """Check what is there, and write plan and manifest of a new folder; True if all has been done."""
        remove_temporary(self.path, PLAN, f"*{SKIPPED}")
        if is_shards(self.path):
            recorded = read_manifest(self.path)
            check_recorded(self.path, recorded, self.manifest)
            if recorded.pages is not None:
                self._remove_notes()  # a process was killed before it could
                return True
            if not (self.path / PLAN).exists():
                raise Damaged(
                    f"{self.path} was begun without a plan ({PLAN}): start in another folder"
                )
            return False

        others = [file.name for file in self.path.iterdir() if file.name != PLAN]
        if others:
            raise BadFile(f"{self.path} is not empty and holds no vectors: choose another folder")
        try:
            write_plan(self.path / PLAN, plan())
            write_manifest(self.path, self.manifest)
        except BaseException:
            self._tidy_unfinished()
            raise
        return False

    def units(self) -> Iterator[Unit]:
        """All units of the plan, one at a time; none if the folder is finished."""
        if self.is_finished:
            return iter(())
        return read_plan(self.path / PLAN)

    def missing(self) -> Iterator[Unit]:
        """The units that are not done yet."""
        for unit in self.units():
            if not self.is_done(unit):
                yield unit

    def done(self) -> int:
        """Pages that are on disk."""
        if self.is_finished:
            return read_manifest(self.path).pages or 0
        for unit in self.units():
            self.is_done(unit)
        return sum(self._counts.values())

    def is_done(self, unit: Unit) -> bool:
        """Whether a unit has made what it was to make."""
        if unit.number not in self._counts:
            output = read_output(self.path, unit)
            if output is None:
                return False
            self.note(unit, output)
        return True

    def note(self, unit: Unit, output: UnitOutput) -> None:
        """Remember that a unit is done."""
        self._counts[unit.number] = output.pages
        if output.skipped:
            self._skipped[unit.number] = output.skipped

    def skipped(self) -> list[str]:
        """What was said of the pages that were skipped, in the order of the plan."""
        texts: list[str] = []
        for number in sorted(self._skipped):
            texts += self._skipped[number]
        return texts

    def __enter__(self) -> Self:
        """Nothing to do: the folder is open."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        """Finish the manifest; after an error leave what can be resumed, or nothing."""
        try:
            if kind is None and not self.is_finished:
                self._finish()
        finally:
            if not self.is_finished:
                self._tidy_unfinished()
            os.close(self._lock)

    def _finish(self) -> None:
        counts = {}
        for unit in self.units():
            if not self.is_done(unit):
                raise Damaged(f"{self.path / unit.shard} is missing: run the same command again")
            if self._counts[unit.number]:
                counts[unit.shard] = self._counts[unit.number]
        if not counts:
            raise BadFile("no page could be encoded, and nothing was written")
        whole = replace(self.manifest, pages=sum(counts.values()), shards=counts)
        write_manifest(self.path, whole)
        self.is_finished = True
        self._remove_notes()

    def _remove_notes(self) -> None:
        """Remove what only an unfinished folder needs."""
        for note in [*self.path.glob(f"*{SKIPPED}"), self.path / PLAN]:
            note.unlink(missing_ok=True)

    def _tidy_unfinished(self) -> None:
        """Leave the units that are done, or nothing at all; a disk that refuses even that is tidied by the next run."""
        with suppress(OSError):
            remove_temporary(self.path, PLAN, f"*{SKIPPED}")
            if any(self.path.glob("shard-*.safetensors")):
                return
            (self.path / NAME).unlink(missing_ok=True)
            self._remove_notes()
            self.path.rmdir()


def write_unit(
    path: AnyPath,
    manifest: Manifest,
    unit: Unit,
    pages: Sequence[MultiVector | Compressed],
    skipped: Sequence[str] = (),
) -> UnitOutput:
    """Write the shard of a unit, and before it what was skipped, so that a shard never stands without that."""
    note = path / _note_name(unit)
    if skipped:
        files.write(note, json.dumps({"pages": len(pages), "skipped": list(skipped)}) + "\n")
    else:
        note.unlink(missing_ok=True)
    if pages:
        arrays, ids = _columns(manifest, pages)
        shards.write_shard(path / unit.shard, arrays, ids)
    return UnitOutput(len(pages), skipped)


def read_output(path: AnyPath, unit: Unit) -> UnitOutput | None:
    """What a unit has made, as its files tell; None if it is not done."""
    skipped: list[str] = []
    note = path / _note_name(unit)
    if note.exists():
        noted = json.loads(note.read_text())
        skipped = noted["skipped"]
        if not noted["pages"]:
            return UnitOutput(0, skipped)
    if not (path / unit.shard).exists():
        return None
    return UnitOutput(len(shards.read_ids(path / unit.shard)), skipped)


def _columns(
    manifest: Manifest, pages: Sequence[MultiVector | Compressed]
) -> tuple[dict[str, Array], list[str]]:
    """The flat arrays and the ids of pages; pages of another method than the folder's are refused."""
    ids = []
    compressed: list[Compressed] = []
    encoded: list[MultiVector] = []
    for page in pages:
        if method_of(page) != manifest.method:
            raise Mismatch(
                f"page '{page.id}' was made by {method_of(page) or 'no compression'}, "
                f"the folder is for pages made by {manifest.method or 'no compression'}"
            )
        ids.append(page.id)
        if isinstance(page, Compressed):
            compressed.append(page)
        else:
            encoded.append(page)
    if compressed:
        return columns.of_compressed(compressed, manifest.dtype), ids
    return columns.of_pages(encoded, manifest.dtype), ids


def _note_name(unit: Unit) -> str:
    return unit.shard.removesuffix(".safetensors") + SKIPPED
