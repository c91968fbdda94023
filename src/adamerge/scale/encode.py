"""Files -> a folder of vectors, by a cluster: actors load the encoder once, and compress where they encode."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adamerge.buckets import AnyPath, as_path
from adamerge.compress import parse_method
from adamerge.compress.names import split_dtype
from adamerge.documents import Report
from adamerge.encoders import EncoderSpec
from adamerge.encoders.encode import (
    DEFAULT,
    Encoding,
    Skipped,
    begin_watching,
    encode_unit,
    encoded_folder,
)
from adamerge.scale.connect import Cluster
from adamerge.scale.encoder_workers import LoadEncoder, encoder_workers
from adamerge.scale.pool import Attempt, Done, Meter
from adamerge.scale.summary import Summary
from adamerge.vectors.manifest import Manifest
from adamerge.vectors.planned import UnitOutput, read_output, write_unit
from adamerge.vectors.watcher import Watcher


@dataclass(frozen=True)
class EncodeJob:
    """What an actor is told with every unit."""

    out: AnyPath
    manifest: Manifest
    batch_size: int
    dpi: int
    skips_bad: bool

    def encoding(self) -> Encoding:
        """How to encode; the method is known by its name only after the user's files were run."""
        method = None
        if self.manifest.method:
            method, _ = split_dtype(parse_method(self.manifest.method))
        return Encoding(self.batch_size, self.dpi, method, self.manifest.dtype)


class EncodingActor:
    """A worker that encodes units."""

    def __init__(self, setup: LoadEncoder) -> None:
        """Nothing is loaded yet, so that an error of loading comes from load()."""
        self._setup = setup

    def load(self) -> dict[str, Any]:
        """Load the encoder; what it says of itself."""
        self._encoder = self._setup.load()
        return dict(self._encoder.about)

    def work(self, job: EncodeJob, attempt: Attempt) -> Done:
        """Encode the pages of a unit and write its shard; a shard that is there is done."""
        meter = Meter()
        unit = attempt.unit
        if not attempt.is_trial:
            there = read_output(job.out, unit)
            if there is not None:
                return meter.done(there.pages, tuple(there.skipped))

        skipped = Skipped()
        skip = skipped if job.skips_bad else None
        pages = list(encode_unit(self._encoder, unit, job.encoding(), skip))
        texts = (*skipped.texts, *attempt.skipped)
        if not attempt.is_trial:
            write_unit(job.out, job.manifest, unit, pages, texts)
        return meter.done(len(pages), texts)


def encode_files(
    paths: Sequence[str | AnyPath],
    out: str | AnyPath,
    encoder: EncoderSpec,
    cluster: Cluster,
    how: Encoding = DEFAULT,
    *,
    skip_bad: Report | None = None,
    watcher: Watcher | None = None,
) -> Summary:
    """Encode files on a cluster, into the same bytes as on one machine.

    Files and folder are on a disk that every node sees under the same path, or in a bucket. Units that an earlier
    run wrote are passed over.
    """
    summary = Summary()
    out = as_path(out).absolute()
    with (
        encoder_workers(cluster, EncodingActor, encoder) as workers,
        encoded_folder(paths, out, workers.facts, how) as folder,
    ):
        begin_watching(folder, skip_bad, watcher)
        skips_bad = skip_bad is not None
        job = EncodeJob(out, folder.manifest, how.batch_size, how.dpi, skips_bad)
        units = folder.missing()
        for unit, done in workers.run(units, lambda unit: job, summary, skip_bad, watcher):
            folder.note(unit, UnitOutput(done.pages, done.skipped))
    return summary
