"""Actors that encode, compress and write units into a store, whichever database it is."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from adamerge.compress import Method, parse_method
from adamerge.compress.names import split_dtype
from adamerge.encoders import EncoderSpec
from adamerge.encoders.encode import Skipped
from adamerge.errors import BadInput
from adamerge.scale.connect import Cluster
from adamerge.scale.encoder_workers import EncoderWorkers, LoadEncoder, encoder_workers
from adamerge.scale.pool import Attempt, Done, Meter
from adamerge.scale.summary import Summary
from adamerge.store import Indexing, Store
from adamerge.store.about import About
from adamerge.store.entry import Entry
from adamerge.store.index import FileToIndex, entries_of_unit
from adamerge.vectors.units import Unit


class UnitPages(NamedTuple):
    """What became of the pages of a unit.

    pages     source and id of each page that was written
    readable  sources of which a page could be read
    skipped   what is said of each bad page
    """

    pages: list[tuple[str, str]]
    readable: list[str]
    skipped: list[str]


class Output(Protocol):
    """Where a worker puts the pages of a unit; it travels to the worker."""

    def read(self, unit: Unit) -> UnitPages | None:
        """What an earlier attempt has written of a unit, if it was all."""

    def write(self, unit: Unit, entries: list[Entry], made: UnitPages) -> Any:
        """Write the pages of a unit; what the driver is told of them."""


@dataclass(frozen=True)
class IndexJob:
    """What an actor is told with a unit.

    files  those that the unit reads, by their names in the store
    """

    output: Output
    method: str
    files: Mapping[str, FileToIndex]
    batch_size: int
    dpi: int
    pixels: int
    skips_bad: bool


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
        """Write the pages of a unit; one that is there is done. A trial writes nothing."""
        meter = Meter()
        if not attempt.is_trial:
            there = job.output.read(attempt.unit)
            if there is not None:
                return meter.done(len(there.pages), tuple(there.skipped), there)

        entries, made = self._encode(job, attempt)
        told = None
        if not attempt.is_trial:
            told = job.output.write(attempt.unit, entries, made)
        return meter.done(len(entries), tuple(made.skipped), told)

    def _encode(self, job: IndexJob, attempt: Attempt) -> tuple[list[Entry], UnitPages]:
        """The pages of a unit, encoded and compressed."""
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
        pages = [(entry.source, entry.id) for entry in entries]
        return entries, UnitPages(pages, sorted(readable), [*skipped.texts, *attempt.skipped])


@contextmanager
def index_workers(
    cluster: Cluster, how: Indexing, method: Method, changed: Mapping[str, FileToIndex]
) -> Iterator["IndexWorkers"]:
    """Actors that index some changed files, which end with the block."""
    with encoder_workers(cluster, IndexingActor, _encoder_to_send(how)) as workers:
        yield IndexWorkers(workers, how, str(method), changed)


class IndexWorkers:
    """The actors of a run that indexes some changed files, once the first of them has loaded the encoder."""

    def __init__(
        self,
        workers: EncoderWorkers,
        how: Indexing,
        method: str,
        changed: Mapping[str, FileToIndex],
    ) -> None:
        """Nothing is at work yet."""
        self._workers, self._how, self._method, self._changed = workers, how, method, changed

    @property
    def facts(self) -> Any:
        """What all workers say of their encoder."""
        return self._workers.facts

    def about(self, store: Store) -> About:
        """What the store says of itself, or will; an encoder that is not that of the store is refused."""
        store.set_encoder(self.facts["about"], dpi=self._how.dpi)
        return store.about or store.new_about(self.facts["dimension"], self._method)

    def run(
        self, units: Iterator[Unit], output: Output, summary: Summary
    ) -> Iterator[tuple[Unit, Done]]:
        """Each unit once it is written."""
        how = self._how

        def job_of(unit: Unit) -> IndexJob:
            names = {part.name for part in unit.parts}
            return IndexJob(
                output,
                self._method,
                {name: self._changed[name] for name in names},
                how.batch_size,
                how.dpi,
                how.pixels,
                how.skip_bad is not None,
            )

        yield from self._workers.run(units, job_of, summary, how.skip_bad, how.watcher)


def _encoder_to_send(how: Indexing) -> EncoderSpec:
    """The encoder by its name and options, which is what can be sent to a worker."""
    if isinstance(how.encoder, str):
        return EncoderSpec(how.encoder)
    if not isinstance(how.encoder, EncoderSpec):
        raise BadInput("workers load the encoder themselves: give its name or an EncoderSpec")
    return how.encoder
