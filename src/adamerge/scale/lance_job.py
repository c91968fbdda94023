"""Changed files -> pages of a Lance table: workers write rows that no reader sees, and the driver commits all at once.

Beside the table lies a folder of the job, `.job-KEY`. It has a note for each unit that is done: which files of the
table hold its rows. The same command again goes on from there. The key is that of the plan, and it stands in the
transaction of the commit, so a job is committed once.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from adamerge.compress import Method
from adamerge.errors import BadFile
from adamerge.scale.connect import Cluster
from adamerge.scale.index_workers import IndexWorkers, UnitPages, index_workers
from adamerge.scale.notes import Notes, notes_at
from adamerge.scale.summary import Summary
from adamerge.store import Change, Indexing
from adamerge.store.entry import Entry
from adamerge.store.index import FileToIndex, change_of, units_to_index
from adamerge.store.lance.fragments import RowWriter, are_there
from adamerge.store.lance.store import LanceStore
from adamerge.vectors.planned import PLAN
from adamerge.vectors.units import Unit


@dataclass(frozen=True)
class RowOutput:
    """Pages become rows of files that no version of the table names yet, and a note says which.

    notes  the address of the notes of the job
    """

    rows: RowWriter
    notes: str

    def read(self, unit: Unit) -> UnitPages | None:
        """What the note of a unit says; a unit that has a note is done."""
        text = notes_at(self.notes).read(_note_name(unit))
        if text is None:
            return None
        noted = json.loads(text)
        return UnitPages(noted["pages"], noted["readable"], noted["skipped"])

    def write(self, unit: Unit, entries: list[Entry], made: UnitPages) -> None:
        """Write the rows of a unit, and then its note; the driver reads the notes at the end."""
        note = {"fragments": self.rows.write(entries), **made._asdict()}
        notes_at(self.notes).write(_note_name(unit), json.dumps(note))


class Outcome:
    """What became of the pages of a job, told by its notes one unit at a time."""

    def __init__(self, notes: Notes, changed: Mapping[str, FileToIndex], plan: list[Unit]) -> None:
        """Read nothing yet."""
        self._notes, self._changed, self._plan = notes, changed, plan

    def fragments(self) -> list[str]:
        """The files of all units."""
        found = []
        for note in self._each():
            found += note["fragments"]
        return found

    def gone(self) -> tuple[set[str], list[str]]:
        """The ids of pages that were replaced, and of pages that the changed files no longer have."""
        written, readable = set[str](), set[str]()
        for note in self._each():
            readable.update(note["readable"])
            for source, id in note["pages"]:
                if self._changed[source].known is not None:
                    written.add(id)

        replaced, stale = set[str](), list[str]()
        for file in self._changed.values():
            stale += file.stale(written, readable)
            if file.known is not None:
                replaced.update(written.intersection(file.known.hashes))
        return replaced, stale

    def changes(self) -> Iterator[Change]:
        """What was done with each page that was written."""
        for note in self._each():
            for source, id in note["pages"]:
                yield change_of(id, self._changed[source])

    def _each(self) -> Iterator[Any]:
        for unit in self._plan:
            text = self._notes.read(_note_name(unit))
            if text is None:
                raise BadFile(
                    f"the note of unit {unit.number} is gone: give the same command again"
                )
            yield json.loads(text)


class LanceJob:
    """Some changed files that become pages of a table in one commit."""

    def __init__(
        self,
        store: LanceStore,
        cluster: Cluster,
        how: Indexing,
        method: Method,
        changed: Mapping[str, FileToIndex],
    ) -> None:
        """Plan the units."""
        self._store, self._cluster, self._how = store, cluster, how
        self._method, self._changed = method, changed
        self._plan = list(units_to_index(changed.values()))

    def _key(self, rows: RowWriter, facts: Mapping[str, Any]) -> str:
        """What tells this job from another: its plan, its files, and how they are indexed."""
        how = self._how
        digest = sha256()
        for file in self._changed.values():
            digest.update(f"{file.source}\0{file.hash}\0{sorted(file.done)}\0".encode())
            digest.update(f"{file.root}\0{sorted(file.metadata.items())}\0".encode())
        for unit in self._plan:
            digest.update(json.dumps(asdict(unit)).encode())
        digest.update(f"{facts} {self._method} {how.batch_size} {how.dpi} {how.pixels}".encode())
        digest.update(f"{rows.about.dtype} {rows.schema.names}".encode())
        return digest.hexdigest()[:16]

    def _begin(self, key: str) -> None:
        """Write the plan down; jobs of another plan are given up."""
        self._store.remove_other_jobs(key)
        self._address = self._store.job_address(key)
        self._notes = notes_at(self._address)
        if self._notes.read(PLAN) is None:
            lines = [json.dumps(asdict(unit)) for unit in self._plan]
            self._notes.write(PLAN, "\n".join(lines) + "\n")

    def run(self, removed: Sequence[str], summary: Summary) -> Iterator[Change]:
        """Do what is missing, commit, and tell what was done; pages in `removed` go in the same commit."""
        with index_workers(self._cluster, self._how, self._method, self._changed) as workers:
            rows = self._row_writer(workers)
            key = self._key(rows, workers.facts)
            self._begin(key)
            for _ in workers.run(self._missing(rows), RowOutput(rows, self._address), summary):
                pass

        outcome = Outcome(self._notes, self._changed, self._plan)
        replaced, stale = outcome.gone()
        gone = replaced.union(stale, removed)
        self._store.commit_rows(rows, outcome.fragments(), gone, key)
        yield from outcome.changes()
        for id in stale:
            yield Change(id, "removed")
        self._notes.remove()

    def _row_writer(self, workers: IndexWorkers) -> RowWriter:
        """What the workers need to write rows."""
        about = workers.about(self._store)
        return self._store.row_writer(about, [file.metadata for file in self._changed.values()])

    def _missing(self, rows: RowWriter) -> Iterator[Unit]:
        """The units that are not done; of the others, what they skipped is told again."""
        for unit in self._plan:
            text = self._notes.read(_note_name(unit))
            if text is not None:
                noted = json.loads(text)
                if are_there(rows.address, noted["fragments"]):
                    self._tell_done(noted)
                    continue
                self._notes.forget(_note_name(unit))
            yield unit

    def _tell_done(self, noted: Mapping[str, Any]) -> None:
        if self._how.watcher:
            self._how.watcher.pass_over(len(noted["pages"]))
        for text in noted["skipped"]:
            if self._how.skip_bad:
                self._how.skip_bad(BadFile(text))


def _note_name(unit: Unit) -> str:
    return f"unit-{unit.number:05d}.json"
