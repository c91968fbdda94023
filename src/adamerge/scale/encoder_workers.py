"""Actors that load an encoder once, and the units they are given: what encoding and indexing share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from adamerge.buckets import as_path
from adamerge.documents import Report, page_id
from adamerge.encoders import Encoder, EncoderSpec
from adamerge.scale.connect import Cluster, connected
from adamerge.scale.driver import Driver
from adamerge.scale.head import Head, asking_head
from adamerge.scale.pool import ActorPool, Done, default_workers
from adamerge.scale.summary import Summary
from adamerge.scale.user_code import UserFile, read_user_files, run_user_files
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


class EncoderWorkers:
    """The actors of a run, once the first of them has loaded the encoder.

    facts  what load() of an actor gave; it is the same for all of them
    """

    def __init__(self, ray: Any, head: Head, pool: ActorPool, gpus_per_worker: float) -> None:
        """Wait for an actor."""
        self._ray, self._head, self._pool = ray, head, pool
        self._gpus_per_worker = gpus_per_worker
        self.facts = pool.wait_for_one()

    def run(
        self,
        units: Iterator[Unit],
        job_of: Callable[[Unit], Any],
        summary: Summary,
        skip_bad: Report | None,
        watcher: Watcher | None,
    ) -> Iterator[tuple[Unit, Done]]:
        """Each unit once it is done; an actor is told job_of(unit) beside the unit."""
        self._pool.job_of = job_of
        driver = Driver(
            self._ray,
            self._head,
            self._pool,
            id_of_page,
            summary=summary,
            skip_bad=skip_bad,
            watcher=watcher,
            gpus_per_worker=self._gpus_per_worker,
        )
        yield from driver.run(units)


@contextmanager
def encoder_workers(
    cluster: Cluster, actor: type, encoder: EncoderSpec
) -> Iterator[EncoderWorkers]:
    """Actors of a class on a cluster, which end with the block."""
    setup = LoadEncoder(encoder, read_user_files(cluster.modules))
    gpus = cluster.gpus_per_worker
    with connected(cluster) as ray, asking_head(ray) as head:
        count = cluster.workers or default_workers(ray, gpus)
        pool = ActorPool(ray, head, actor, setup, count, gpus)
        try:
            yield EncoderWorkers(ray, head, pool, gpus)
        finally:
            pool.stop([])


def id_of_page(unit: Unit) -> str:
    """The id of the one page of a unit."""
    page = unit.parts[0]
    return page_id(as_path(page.path), page.name, page.first)
