"""How far a long run is, on stderr: a bar in a terminal, a line now and then elsewhere, nothing with --quiet.

Every verb that takes long reports here. Work is counted when it is done, not when it is written, and the speed is that
of the last minute or so: what an earlier run did, and what had not changed, counts as done and not as fast.
"""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import click

from adamerge.types import shortened

T = TypeVar("T")

WINDOW = 60.0  # seconds that the speed is taken over
INTERVAL = 10.0  # seconds between two lines, where there is no terminal


class Task:
    """Some work that is counted: `done` of `total` units, and what is being worked on now."""

    def __init__(
        self,
        report: "Reporter",
        title: str,
        unit: str,
        total: int | None,
        done: int = 0,
        *,
        is_part: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin to count; `done` units were done before, and a part of a larger task goes when it is done."""
        self.title, self.unit, self.total, self.done = title, unit, total, done
        self.is_part = is_part
        self.current = ""
        self._report, self._clock = report, clock
        self._counts = deque([(clock(), done)])  # (when, how many were done), of the last WINDOW
        report.show(self)

    def begin(self, current: str) -> None:
        """Say what is being worked on: the name of a file. With the first one, the clock of the speed starts."""
        if len(self._counts) == 1:  # until now a model was loaded
            self._counts[0] = (self._clock(), self.done)
        self.current = current
        self._report.show(self)

    def advance(self, count: int = 1) -> None:
        """Count units that were worked on and are done."""
        self._add(count)
        self._counts.append((self._clock(), self.done))
        while self._counts[-1][0] - self._counts[1][0] > WINDOW:
            self._counts.popleft()
        self._report.show(self)

    def pass_over(self, count: int = 1) -> None:
        """Count units that needed no work: they say nothing of the speed."""
        self._add(count)
        self._counts = deque((when, known + count) for when, known in self._counts)
        self._report.show(self)

    def _add(self, count: int) -> None:
        """Count units; where there are more of them than was thought, the total grows."""
        self.done += count
        if self.total is not None:
            self.total = max(self.total, self.done)

    @property
    def speed(self) -> float | None:
        """Units a second; None before the first is done."""
        (first, before), (last, now) = self._counts[0], self._counts[-1]
        if now == before or last <= first:
            return None
        return (now - before) / (last - first)

    @property
    def seconds_left(self) -> float | None:
        """At the present speed; None where speed or total are not known."""
        if self.total is None or self.speed is None:
            return None
        return max(self.total - self.done, 0) / self.speed

    def facts(self) -> str:
        """Speed, time left and what is being worked on, as far as they are known."""
        facts = []
        if self.speed is not None:
            facts.append(f"{_short(self.speed)} {self.unit}/s")
        if self.seconds_left is not None:
            facts.append(f"{duration(self.seconds_left)} left")
        if self.current:
            facts.append(shortened(self.current))
        return ", ".join(facts)


class Reporter(Protocol):
    """What shows tasks to a person."""

    def show(self, task: Task) -> None:
        """Show a task that has changed."""


class Silence:
    """Shows nothing."""

    def show(self, task: Task) -> None:
        """Show nothing."""


class Lines:
    """A line now and then: for a log file."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """The first line comes after the first interval: a short run says nothing."""
        self._clock = clock
        self._last = clock()

    def show(self, task: Task) -> None:
        """Print a line, if the last one is long ago."""
        now = self._clock()
        if now - self._last < INTERVAL:
            return
        self._last = now
        count = f"{task.done:,}"
        if task.total is not None:
            count += f" of {task.total:,}"
        line = f"{task.title}: {count} {task.unit}"
        if facts := task.facts():
            line += f", {facts}"
        click.echo(line, err=True)


class Bars:
    """A bar per task: for a terminal."""

    def __init__(self, progress: Any) -> None:
        """Show tasks in a live display of rich."""
        self._progress = progress
        self._ids: dict[Task, Any] = {}

    def show(self, task: Task) -> None:
        """Draw the bar of a task as it is now."""
        if task not in self._ids:
            self._ids[task] = self._progress.add_task(task.title, facts="")
        finished = task.done == task.total
        self._progress.update(
            self._ids[task],
            completed=task.done,
            total=task.total,
            facts=task.facts(),
            visible=not (task.is_part and finished),
        )


@contextmanager
def reporting() -> Iterator[Reporter]:
    """What shows the progress of a verb, for as long as it runs."""
    context = click.get_current_context(silent=True)
    quiet = context is not None and context.find_root().params.get("quiet")
    if quiet:
        yield Silence()
    elif not sys.stderr.isatty():
        yield Lines()
    else:
        with _live_display() as progress:
            yield Bars(progress)


def tracked(
    items: Iterable[T], title: str, total: int | None, done: int = 0, unit: str = "pages"
) -> Iterator[T]:
    """Items as they pass, each counted when the next one is asked for."""
    with reporting() as report:
        task = Task(report, title, unit, total, done)
        for item in items:
            yield item
            task.advance()


def duration(seconds: float) -> str:
    """A time in words: 40 s, 12 min, 3 h 5 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def _short(number: float) -> str:
    """A number with as many digits as mean something: 0.034, 1.3, 42, 1,600."""
    if number >= 10:
        return f"{number:,.0f}"
    return f"{number:.2g}"


def _live_display() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}", markup=False),
        console=Console(stderr=True),
        # what a verb prints goes above the bar if both are on the terminal, and else where it was sent
        redirect_stdout=sys.stdout.isatty(),
    )
