"""Files -> a store, by a cluster: actors write rows that no reader sees, and the driver commits them all at once.

Beside the table lies a folder of the job, `.job-KEY`. It has a note for each unit that is done: which files of the
table hold its rows. The same command again goes on from there. The key is that of the plan, and it stands in the
transaction of the commit, so a job is committed once.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from adamerge.buckets import AnyPath
from adamerge.compress import Method, parse_method
from adamerge.compress.names import split_dtype
from adamerge.encoders import EncoderSpec
from adamerge.encoders.encode import Skipped
from adamerge.errors import BadFile, BadInput
from adamerge.scale.connect import Cluster
from adamerge.scale.encoder_workers import LoadEncoder, encoder_workers
from adamerge.scale.notes import Notes, notes_at
from adamerge.scale.pool import Attempt, Done, Meter
from adamerge.scale.summary import Summary
from adamerge.store import Change, Indexing, Store
from adamerge.store.index import (
    FileToIndex,
    begin_indexing,
    change_of,
    checked_method,
    entries_of_unit,
    pages_of_removed_files,
    unchanged_pages,
    units_to_index,
    update_known,
)
from adamerge.store.lance.fragments import RowWriter, are_there
from adamerge.store.lance.store import LanceStore
from adamerge.vectors.planned import PLAN
from adamerge.vectors.units import Unit


@dataclass(frozen=True)
class IndexJob:
    """What an actor is told with a unit.

    files  those that the unit reads, by their names in the store
    notes  the address of the notes of the job
    """

    rows: RowWriter
    method: str
    files: Mapping[str, FileToIndex]
    batch_size: int
    dpi: int
    pixels: int
    skips_bad: bool
    notes: str


class IndexingActor:
    """A worker that encodes, compresses and writes units."""

    def __init__(self, setup: LoadEncoder) -> None:
        """Nothing is loaded yet, so that an error of loading comes from load()."""
        self._setup = setup

    def load(self) -> dict[str, Any]:
        """Load the encoder; what it says of itself, and the dimension of its vectors."""
        self._encoder = self._setup.load()
        return {"about": dict(self._encoder.about), "dimension": self._encoder.dim}

    def work(self, job: IndexJob, attempt: Attempt) -> Done:
        """Write the rows of a unit, and then its note; a unit that has a note is done."""
        meter = Meter()
        notes = notes_at(job.notes)
        name = _note_name(attempt.unit)
        if not attempt.is_trial:
            there = notes.read(name)
            if there is not None:
                noted = json.loads(there)
                return meter.done(len(noted["pages"]), tuple(noted["skipped"]))

        method, _ = split_dtype(parse_method(job.method))
        skipped = Skipped()
        how = Indexing(
            self._encoder,
            method,
            job.batch_size,
            job.dpi,
            job.pixels,
            skipped if job.skips_bad else None,
        )
        readable = set[str]()
        unit, encoder = attempt.unit, self._encoder
        entries = list(entries_of_unit(encoder, unit, job.files, how, method, readable))
        texts = [*skipped.texts, *attempt.skipped]
        if not attempt.is_trial:
            note = {
                "fragments": job.rows.write(entries),
                "pages": [(entry.source, entry.id) for entry in entries],
                "readable": sorted(readable),
                "skipped": texts,
            }
            notes.write(name, json.dumps(note))
        return meter.done(len(entries), tuple(texts))


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


def index_files(
    paths: Sequence[str | AnyPath],
    store: Store,
    cluster: Cluster,
    how: Indexing | None = None,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
    summary: Summary | None = None,
) -> Iterator[Change]:
    """Bring a store up to date as adamerge.index_files() does, on a cluster; readers see the whole job at once.

    `summary` is told what the run has cost.
    """
    if not isinstance(store, LanceStore):
        raise BadInput(
            f"a cluster fills stores in folders and buckets, and {store} is none: index into one of those "
            "with --ray, and then `adamerge copy FOLDER URL`"
        )
    how = how or Indexing()
    method = checked_method(store, how)
    files = begin_indexing(paths, store, metadata or {}, how)
    yield from unchanged_pages(files)

    changed = {file.source: file for file in files if not file.unchanged}
    removed = list(pages_of_removed_files(paths, files, store))
    if changed:
        job = StoreJob(store, cluster, how, method, changed)
        yield from job.run(removed, summary or Summary())
    elif removed:
        store.delete(*removed)
    for id in removed:
        yield Change(id, "removed")
    update_known(files, store)


class StoreJob:
    """Some changed files that become pages of a store in one commit."""

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
        how = self._how
        with encoder_workers(self._cluster, IndexingActor, self._encoder_spec()) as workers:
            rows = self._row_writer(workers.facts)
            key = self._key(rows, workers.facts)
            self._begin(key)

            def job_of(unit: Unit) -> IndexJob:
                return self._job(unit, rows)

            units = self._missing(rows)
            for _ in workers.run(units, job_of, summary, how.skip_bad, how.watcher):
                pass

        outcome = Outcome(self._notes, self._changed, self._plan)
        replaced, stale = outcome.gone()
        gone = replaced.union(stale, removed)
        self._store.commit_rows(rows, outcome.fragments(), gone, key)
        yield from outcome.changes()
        for id in stale:
            yield Change(id, "removed")
        self._notes.remove()

    def _encoder_spec(self) -> EncoderSpec:
        """The encoder by its name and options, which is what can be sent to a worker."""
        encoder = self._how.encoder
        if isinstance(encoder, str):
            return EncoderSpec(encoder)
        if not isinstance(encoder, EncoderSpec):
            raise BadInput("workers load the encoder themselves: give its name or an EncoderSpec")
        return encoder

    def _row_writer(self, facts: Mapping[str, Any]) -> RowWriter:
        """Check that the workers' encoder is that of the store, and give what they need to write rows."""
        store = self._store
        store.set_encoder(facts["about"], dpi=self._how.dpi)
        about = store.about or store.new_about(facts["dimension"], str(self._method))
        return store.row_writer(about, [file.metadata for file in self._changed.values()])

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

    def _job(self, unit: Unit, rows: RowWriter) -> IndexJob:
        names = {part.name for part in unit.parts}
        how = self._how
        return IndexJob(
            rows,
            str(self._method),
            {name: self._changed[name] for name in names},
            how.batch_size,
            how.dpi,
            how.pixels,
            how.skip_bad is not None,
            self._address,
        )


def _note_name(unit: Unit) -> str:
    return f"unit-{unit.number:05d}.json"
