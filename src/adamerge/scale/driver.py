"""Gives units to workers until all are done: what is lost is tried again, and a page that ends its worker is found."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from adamerge.documents import Report
from adamerge.errors import PageFailed, WorkerLost
from adamerge.scale.cluster_size import ClusterSize
from adamerge.scale.failures import Lost, result_of
from adamerge.scale.pool import Attempt, Done, Pool
from adamerge.scale.summary import Summary, counted
from adamerge.vectors.units import Unit
from adamerge.vectors.watcher import Watcher

TRIES = 3  # of a unit, and then of each of its pages alone
WAIT = 1.0  # seconds after which a person is told how many nodes there are, if nothing else happens


class Driver:
    """Runs units on a pool of workers.

    page_id   the id of the one page of a unit
    skip_bad  is told of bad pages; without it, the first bad page ends the run
    """

    def __init__(
        self,
        ray: Any,
        pool: Pool,
        page_id: Callable[[Unit], str],
        *,
        summary: Summary | None = None,
        skip_bad: Report | None = None,
        watcher: Watcher | None = None,
        gpus_per_worker: float = 0.0,
    ) -> None:
        """Begin with nothing done."""
        self.summary = summary or Summary()
        self._ray, self._pool = ray, pool
        self._size = ClusterSize(ray)
        self._page_id = page_id
        self._skip_bad, self._watcher = skip_bad, watcher
        self._gpus_per_worker = gpus_per_worker
        self._at_work: dict[Any, Attempt] = {}
        self._again: deque[Attempt] = deque()
        self._trials: dict[int, Trial] = {}  # of units whose pages are tried one by one

    def run(self, units: Iterator[Unit]) -> Iterator[tuple[Unit, Done]]:
        """Each unit once it is done, in the order in which that happens."""
        try:
            self._give(units)
            while self._at_work or self._again:
                for ref in self._wait():
                    yield from self._settle(ref)
                self._give(units)
        finally:
            self._pool.stop(list(self._at_work))

    def _give(self, units: Iterator[Unit]) -> None:
        """Give units to workers as long as they take any."""
        while self._pool.has_room() or self._is_idle():
            attempt = self._next(units)
            if attempt is None:
                return
            if not self._pool.has_room():  # all workers are still starting
                self._again.appendleft(attempt)
                return
            self._at_work[self._pool.submit(attempt)] = attempt

    def _is_idle(self) -> bool:
        return not self._at_work and not self._again

    def _next(self, units: Iterator[Unit]) -> Attempt | None:
        if self._again:
            return self._again.popleft()
        unit = next(units, None)
        if unit is None:
            return None
        return Attempt(unit)

    def _wait(self) -> list[Any]:
        """The results that are there, after a short while at most; workers that have started are taken."""
        refs = [*self._at_work, *self._pool.starting()]
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=WAIT)
        results = []
        for ref in ready:
            if ref in self._at_work:
                results.append(ref)
            else:
                self._pool.started(ref)
        self._tell_nodes()
        return results

    def _tell_nodes(self) -> None:
        nodes = self._size.nodes
        self.summary.nodes = max(self.summary.nodes, nodes)
        if self._watcher:
            told = [counted(nodes, "node", "nodes")]
            if self.summary.retries:
                told.append(counted(self.summary.retries, "retry", "retries"))
            self._watcher.begin(", ".join(told))

    def _settle(self, ref: Any) -> Iterator[tuple[Unit, Done]]:
        """Take a result: a unit is done, or it is tried again."""
        attempt = self._at_work.pop(ref)
        result = result_of(self._ray, ref)
        is_lost = isinstance(result, Lost)
        self._pool.release(ref, is_lost and result.is_worker)
        if is_lost:
            self._try_again(attempt, result)
        elif attempt.is_trial:
            self._end_trial(attempt, None)
        else:
            self._count(result)
            yield attempt.unit, result

    def _count(self, done: Done) -> None:
        self.summary.pages += done.pages
        self.summary.skipped += len(done.skipped)
        self.summary.cpu_seconds += done.cpu_seconds
        self.summary.gpu_seconds += done.seconds * self._gpus_per_worker
        if self._watcher:
            self._watcher.advance(done.pages)
        for text in done.skipped:
            if self._skip_bad:
                self._skip_bad(PageFailed(text))

    def _try_again(self, attempt: Attempt, lost: Lost) -> None:
        """Try a unit again; after three tries, each of its pages alone."""
        self.summary.retries += 1
        attempt = attempt._replace(tries=attempt.tries + 1)
        if attempt.tries < TRIES:
            self._again.append(attempt)
        elif not lost.is_worker:
            raise WorkerLost(f"{attempt.unit.title}: {lost.reason} ({TRIES} tries)")
        elif attempt.is_trial:
            id = self._page_id(attempt.unit)
            bad = f"page '{id}' ended its worker {TRIES} times: {lost.reason}"
            self._end_trial(attempt, bad)
        else:
            self._begin_trial(attempt, lost)

    def _begin_trial(self, attempt: Attempt, lost: Lost) -> None:
        """Try each page of a unit alone, once for a unit."""
        number = attempt.unit.number
        if number in self._trials:
            raise WorkerLost(
                f"{attempt.unit.title}: its worker ended {2 * TRIES} times, but with no page of the unit alone: "
                f"{lost.reason}"
            )
        self._trials[number] = Trial(attempt.unit)
        for single in attempt.unit.single_pages():
            self._again.append(Attempt(single, is_trial=True))

    def _end_trial(self, attempt: Attempt, bad: str | None) -> None:
        """Note what a page did; after the last one, the unit is tried without its bad pages."""
        trial = self._trials[attempt.unit.number]
        trial.left -= 1
        if bad is not None:
            if self._skip_bad is None:
                raise PageFailed(f"{bad}; --skip-bad passes over such pages")
            trial.bad.append((attempt.unit, bad))
        if trial.left:
            return
        unit = trial.unit
        skipped = []
        for single, text in trial.bad:
            unit = unit.without(single)
            skipped.append(text)
        self._again.append(Attempt(unit, skipped=tuple(skipped)))


class Trial:
    """A unit that has ended its worker three times, while its pages are tried one by one."""

    def __init__(self, unit: Unit) -> None:
        """No page was tried yet."""
        self.unit = unit
        self.left = unit.pages
        self.bad: list[tuple[Unit, str]] = []
