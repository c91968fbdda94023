"""Files -> a folder of vectors, by a cluster: actors load the encoder once, and compress where they encode."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adamerge.buckets import AnyPath, as_path
from adamerge.compress import parse_method
from adamerge.compress.names import split_dtype
from adamerge.documents import Report, page_id
from adamerge.encoders import Encoder, EncoderSpec
from adamerge.encoders.encode import (
    DEFAULT,
    Encoding,
    Skipped,
    begin_watching,
    encode_unit,
    encoded_folder,
)
from adamerge.scale.connect import Cluster, connected
from adamerge.scale.driver import Driver
from adamerge.scale.pool import ActorPool, Attempt, Done, Meter, default_workers
from adamerge.scale.summary import Summary
from adamerge.scale.user_code import UserFile, read_user_files, run_user_files
from adamerge.vectors.manifest import Manifest
from adamerge.vectors.planned import UnitOutput, read_output, write_unit
from adamerge.vectors.units import Unit
from adamerge.vectors.watcher import Watcher


@dataclass(frozen=True)
class LoadEncoder:
    """What an actor is told when it starts."""

    encoder: EncoderSpec
    user_files: tuple[UserFile, ...]

    def load(self) -> Encoder:
        """The encoder, after the user's files were run."""
        run_user_files(self.user_files)
        return self.encoder.load()


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
    paths: Sequence[str | Path],
    out: str | AnyPath,
    encoder: EncoderSpec,
    cluster: Cluster,
    how: Encoding = DEFAULT,
    *,
    skip_bad: Report | None = None,
    watcher: Watcher | None = None,
) -> Summary:
    """Encode files on a cluster, into the same bytes as on one machine.

    Files and folder are on a disk that every node sees under the same path; the folder may be in a bucket.
    Units that an earlier run wrote are passed over.
    """
    setup = LoadEncoder(encoder, read_user_files(cluster.modules))
    with connected(cluster) as ray:
        workers = cluster.workers or default_workers(ray, cluster.gpus_per_worker)
        pool = ActorPool(ray, EncodingActor, setup, workers, cluster.gpus_per_worker)
        try:
            about = pool.wait_for_one()
            with encoded_folder(paths, as_path(out).absolute(), about, how) as folder:
                begin_watching(folder, skip_bad, watcher)
                job = EncodeJob(
                    folder.path, folder.manifest, how.batch_size, how.dpi, skip_bad is not None
                )
                pool.job_of = lambda unit: job
                driver = Driver(
                    ray,
                    pool,
                    id_of_page,
                    skip_bad=skip_bad,
                    watcher=watcher,
                    gpus_per_worker=cluster.gpus_per_worker,
                )
                for unit, done in driver.run(folder.missing()):
                    folder.note(unit, UnitOutput(done.pages, done.skipped))
        finally:
            pool.stop([])
    return driver.summary


def id_of_page(unit: Unit) -> str:
    """The id of the one page of a unit."""
    page = unit.parts[0]
    return page_id(Path(page.path), page.name, page.first)
