"""Workers of a cluster: tasks for work that needs nothing but a core, actors for work that loads an encoder once.

Neither lets Ray try again by itself: the driver does, because it counts, and because it has to find out which page
ends its worker. An actor that is lost is replaced by a new one, and gets no unit before it is ready, so that work never
waits for a worker that no node has room for.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from adamerge.errors import BadInput, Mismatch, WorkerLost
from adamerge.scale.failures import Lost, result_of
from adamerge.scale.head import Head
from adamerge.vectors.units import Unit

TASKS_PER_CORE = 2  # one at work, one on its way
WAIT = 1.0  # seconds after which it is asked whether the cluster is still there
NAMED = 1000  # units that Ray's dashboard shows by their files: the driver keeps every name, 2 kB each, until it ends
LOADING_TRIES = 3  # of actors that end while they load, before one has ever been ready


class Attempt(NamedTuple):
    """A unit that is given to a worker.

    is_trial  whether only to see if a page ends its worker: nothing is written
    skipped   what is said of pages of the unit that were found to be bad before
    tries     of it that came before
    """

    unit: Unit
    is_trial: bool = False
    skipped: tuple[str, ...] = ()
    tries: int = 0


class Done(NamedTuple):
    """What a worker says of a unit: what it made, and what that has cost.

    written  what the output of the unit is called by, where that is not its number
    """

    pages: int
    skipped: tuple[str, ...] = ()
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    written: Any = None


class Pool(Protocol):
    """Workers that take units."""

    def has_room(self) -> bool:
        """Whether a unit can be given now."""

    def submit(self, attempt: Attempt) -> Any:
        """Give a unit to a worker; what Ray calls its result."""

    def release(self, ref: Any, is_lost: bool) -> None:
        """The worker of a result is free, or lost."""

    def starting(self) -> list[Any]:
        """What to wait for, beside results: workers that are not ready yet."""

    def started(self, ref: Any) -> None:
        """A worker is ready, or could not start."""

    def stop(self, refs: list[Any]) -> None:
        """End all workers, and what they are doing."""


class TaskPool:
    """A task for each unit, on any core."""

    def __init__(self, ray: Any, head: Head, function: Callable[..., Done], job: Any) -> None:
        """Tasks that call function(job, attempt)."""
        self._ray, self._head = ray, head
        self._task = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(function)
        # The job goes with each task. By ray.put() it would stay in the memory of the driver's node, and where
        # that is lost, Ray ends the driver without a word.
        self._job = job
        self._at_work = 0

    def has_room(self) -> bool:
        """Whether a core waits for work, or will soon."""
        return self._at_work < max(1, TASKS_PER_CORE * self._head.nodes().cores)

    def submit(self, attempt: Attempt) -> Any:
        """Start a task."""
        self._at_work += 1
        return _named(self._task, attempt.unit).remote(self._job, attempt)

    def release(self, ref: Any, is_lost: bool) -> None:
        """One task less."""
        self._at_work -= 1

    def starting(self) -> list[Any]:
        """Nothing: a task needs no start."""
        return []

    def started(self, ref: Any) -> None:
        """Never called."""

    def stop(self, refs: list[Any]) -> None:
        """End the tasks that are at work; those of a lost cluster end by themselves."""
        if self._head.is_silent:
            return
        for ref in refs:
            self._ray.cancel(ref, force=True)


class ActorPool:
    """Actors that load something once, and then take a unit each."""

    def __init__(
        self,
        ray: Any,
        head: Head,
        actor: type,
        setup: Any,
        workers: int,
        gpus_per_worker: float,
    ) -> None:
        """Start actors; each is made by actor(setup), and has load() and work(job, attempt)."""
        self._ray, self._head = ray, head
        self._setup = setup
        # What the worker of a unit is told beside it; to be set before the first unit is given.
        self.job_of: Callable[[Unit], Any] = lambda unit: None
        self._class = ray.remote(
            num_cpus=1,
            num_gpus=gpus_per_worker,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy="SPREAD",
        )(actor)
        self._starting: dict[Any, Any] = {}
        self._idle: deque[Any] = deque()
        self._at_work: dict[Any, Any] = {}
        self._lost_while_loading = 0
        self.facts: Any = None  # what load() gave
        for _ in range(workers):
            self._start()

    def _start(self) -> None:
        actor = self._class.remote(self._setup)
        self._starting[actor.load.remote()] = actor

    def wait_for_one(self) -> Any:
        """What load() of the first actor gives that is ready."""
        while self.facts is None:
            self._head.nodes()
            ready, _ = self._ray.wait(self.starting(), num_returns=1, timeout=WAIT)
            for ref in ready:
                self.started(ref)
        return self.facts

    def starting(self) -> list[Any]:
        """The actors that are loading."""
        return list(self._starting)

    def started(self, ref: Any) -> None:
        """Take an actor that has loaded; one that was lost is replaced."""
        actor = self._starting.pop(ref)
        facts = result_of(self._ray, ref)
        if not isinstance(facts, Lost):
            self._check_same(facts)
            self.facts = facts
            self._idle.append(actor)
            return
        self._lost_while_loading += 1
        if self.facts is None and self._lost_while_loading >= LOADING_TRIES:
            raise WorkerLost(f"no worker could start: {facts.reason}")
        self._start()

    def _check_same(self, facts: Any) -> None:
        """Refuse workers that would not make the same vectors."""
        if self.facts is not None and facts != self.facts:
            raise Mismatch(
                f"the workers have different encoders: {self.facts} and {facts}; "
                "install the same versions on every node"
            )

    def has_room(self) -> bool:
        """Whether an actor waits for work."""
        return bool(self._idle)

    def submit(self, attempt: Attempt) -> Any:
        """Give a unit to an actor that waits."""
        actor = self._idle.popleft()
        work = _named(actor.work, attempt.unit)
        ref = work.remote(self.job_of(attempt.unit), attempt)
        self._at_work[ref] = actor
        return ref

    def release(self, ref: Any, is_lost: bool) -> None:
        """The actor waits for the next unit; a new one takes the place of one that is lost."""
        actor = self._at_work.pop(ref)
        if is_lost:
            self._ray.kill(actor)  # it may live on the other side of a network that was cut
            self._start()
        else:
            self._idle.append(actor)

    def stop(self, refs: list[Any]) -> None:
        """End all actors; those of a lost cluster end by themselves."""
        if self._head.is_silent:
            return
        for actor in [*self._starting.values(), *self._idle, *self._at_work.values()]:
            self._ray.kill(actor)


def _named(work: Any, unit: Unit) -> Any:
    """A task or method as Ray's dashboard is to show it: by the file of its unit."""
    if unit.number < NAMED:
        return work.options(name=unit.title)
    return work


def default_workers(ray: Any, gpus_per_worker: float) -> int:
    """As many workers as there are GPUs and cores for, or cores where no GPU is asked for.

    A worker has all its GPUs on one node. Where no node has that many, there is no number to give.
    """
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not gpus_per_worker:
        cores = sum(node.get("CPU", 0) for node in nodes)
        return max(1, int(cores))
    with_gpus = [node for node in nodes if node.get("GPU", 0) >= gpus_per_worker]
    if not with_gpus:
        raise BadInput(
            f"no node of the cluster has the {gpus_per_worker:g} GPUs of a worker: leave out --gpus-per-worker to "
            "encode on cores, add a node with GPUs, or, where such nodes start when they are needed, give --workers"
        )
    return max(1, sum(_workers_on(node, gpus_per_worker) for node in with_gpus))


def _workers_on(node: Mapping[str, float], gpus_per_worker: float) -> int:
    """How many workers a node has room for: each takes a core too."""
    of_gpus = node["GPU"] / gpus_per_worker
    nearly_whole = 1e-6  # 0.3 / 0.1 is a little less than 3
    return int(min(of_gpus + nearly_whole, node.get("CPU", 0)))


class Meter:
    """Measures what a unit costs in this process."""

    def __init__(self) -> None:
        """Begin now."""
        self._cpu = _cpu_seconds()
        self._time = time.monotonic()

    def done(self, pages: int, skipped: tuple[str, ...] = (), written: Any = None) -> Done:
        """What the worker says of the unit."""
        cpu = _cpu_seconds() - self._cpu
        return Done(pages, skipped, cpu, time.monotonic() - self._time, written)


def _cpu_seconds() -> float:
    """Seconds of the processor of this process and of those that it has started."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
