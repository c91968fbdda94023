"""What the head of a cluster says of its nodes, asked for in a thread of its own.

Ray waits for a head that is gone, and after a minute it ends the process of whoever asked, without a word. So nobody
else here asks the head: the others look at its last answer, and a run ends in words when there was none for long.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, NamedTuple

from adamerge.errors import StoreUnavailable

PAUSE = 1.0  # seconds between two questions
SILENCE = 30.0  # seconds without an answer; after 60, Ray ends the process


class Nodes(NamedTuple):
    """How many nodes are alive, and how many cores they have."""

    alive: int
    cores: int


class Head:
    """The last answer of the head of a cluster."""

    def __init__(self, ray: Any) -> None:
        """Ask for the first time, in this thread: the cluster was there a moment ago."""
        self._ray = ray
        self._nodes = self._ask()
        self._answered = time.monotonic()
        self._stopped = Event()
        self._thread = Thread(target=self._go_on_asking, name="nodes of the cluster", daemon=True)
        self._thread.start()

    @property
    def is_silent(self) -> bool:
        """Whether there was no answer for long."""
        return time.monotonic() - self._answered > SILENCE

    def nodes(self) -> Nodes:
        """The nodes of the last answer; an error where that is long ago."""
        if self.is_silent:
            raise lost_cluster(f"its head did not answer for {SILENCE:.0f} s")
        return self._nodes

    def stop(self) -> None:
        """Ask no more. A question that a lost head does not answer is left alone."""
        self._stopped.set()
        if not self.is_silent:
            self._thread.join(SILENCE)

    def _go_on_asking(self) -> None:
        while not self._stopped.wait(PAUSE):
            try:
                self._nodes = self._ask()
            except Exception:  # a lost ray:// raises errors of grpc: there was no answer
                continue
            self._answered = time.monotonic()

    def _ask(self) -> Nodes:
        alive = [node for node in self._ray.nodes() if node["Alive"]]
        cores = sum(node["Resources"].get("CPU", 0) for node in alive)
        return Nodes(len(alive), int(cores))


@contextmanager
def asking_head(ray: Any) -> Iterator[Head]:
    """The head of the cluster that Ray is connected to, asked for as long as the block runs."""
    head = Head(ray)
    try:
        yield head
    finally:
        head.stop()


def lost_cluster(reason: str) -> StoreUnavailable:
    """The error of a cluster that is gone: nothing is lost, and the same command goes on."""
    return StoreUnavailable(
        f"the Ray cluster is lost: {reason}; "
        "once there is a cluster again, the same command goes on from here"
    )
