"""Runs targets, each in a child process that may crash, hang or eat memory, and keeps the inputs that made it."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from fuzz.child import BEFORE_FIRST, NUMBER, PROGRESS, too_much_memory
from fuzz.judge import Finding
from fuzz.target import Target, load_target

ROOT = Path(__file__).parent.parent
HANG = 20.0  # seconds that one input may take
MEMORY = 2 << 30  # bytes that it may take
POLL = 0.05  # seconds between two looks at a child
START_OR_END = 300.0  # seconds that a child may take to begin or to end, on a busy machine
WITHOUT_END = 1 << 60


@dataclass(frozen=True)
class Limits:
    """When a run ends, and what one input may take."""

    inputs: int = WITHOUT_END
    seconds: float = float("inf")
    hang: float = HANG
    memory: int = MEMORY


@dataclass
class Tally:
    """What came of a target: how many inputs, in how long, and each fault once, by its signature."""

    target: Target
    seed: int
    inputs: int = 0
    seconds: float = 0.0
    findings: dict[str, tuple[int, Finding]] = field(default_factory=dict)

    def add(self, number: int, finding: Finding) -> None:
        """Count a finding, once a fault."""
        self.findings.setdefault(finding.signature, (number, finding))

    def __str__(self) -> str:
        """The line of a report."""
        speed = self.inputs / self.seconds if self.seconds else 0
        found = f"{len(self.findings)} findings" if self.findings else "no finding"
        return f"{self.target.name:12} seed {self.seed}  {self.inputs:9,} inputs  {speed:7,.0f}/s  {found}"


def run_target(place: str, seed: int, limits: Limits) -> Tally:
    """Meet a target with inputs until a limit is reached; a child that ends too early is replaced."""
    tally = Tally(load_target(place), seed)
    begin = time.monotonic()
    while tally.inputs < limits.inputs and time.monotonic() - begin < limits.seconds:
        with TemporaryDirectory(prefix="adamerge-fuzz-") as folder:
            for number, finding in _run_child(
                place, tally, limits, begin + limits.seconds, Path(folder)
            ):
                tally.add(number, finding)
    tally.seconds = time.monotonic() - begin
    return tally


def save_findings(tally: Tally, out: Path) -> None:
    """Keep the input of every finding, and what it did, in a folder."""
    examples = tally.target.examples()
    for signature, (number, finding) in tally.findings.items():
        out.mkdir(parents=True, exist_ok=True)
        data = tally.target.make_input(examples, tally.seed, number)
        (out / f"{signature}.input").write_bytes(data)
        about = f"{finding.kind}: {finding.where}\nseed {tally.seed}, input {number}\n\n{finding.text}\n"
        (out / f"{signature}.txt").write_text(about, errors="backslashreplace")


def _run_child(
    place: str, tally: Tally, limits: Limits, deadline: float, folder: Path
) -> Iterator[tuple[int, Finding]]:
    """The findings of one child from the next input on; tally.inputs grows by those that it met."""
    arguments = [place, tally.seed, tally.inputs, limits.inputs, limits.memory, folder]
    with (folder / "findings").open("wb") as found, (folder / "errors").open("wb") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "fuzz.child", *map(str, arguments)],
            cwd=ROOT,
            stdout=found,
            stderr=errors,
            start_new_session=True,
        )
        try:
            stopped = _watch(child, folder / PROGRESS, limits, deadline)
        finally:
            _end(child)
    number = _number(folder / PROGRESS)
    child_errors = (folder / "errors").read_text(errors="replace")[-4000:]
    if number == BEFORE_FIRST:
        raise RuntimeError(f"{tally.target.name} cannot begin: {stopped}\n{child_errors}")
    for line in (folder / "findings").read_text().splitlines():
        reported = json.loads(line)
        yield reported["number"], Finding(reported["kind"], reported["where"], reported["text"])
    if stopped:
        yield number, Finding(stopped.kind, stopped.where, f"{stopped.text}\n{child_errors}")
    tally.inputs = number + 1 if stopped else number


def _watch(
    child: subprocess.Popen[bytes], progress: Path, limits: Limits, deadline: float
) -> Finding | None:
    """Wait for a child; what ended it, or made us end it, if that was its input."""
    number, since = BEFORE_FIRST, time.monotonic()
    base = 0
    while child.poll() is None:
        time.sleep(POLL)
        now, at = time.monotonic(), _number(progress)
        if at != number:
            number, since = at, now
        if at == BEFORE_FIRST:
            if now - since > START_OR_END:
                return Finding("hang", "start", "did not begin")
            continue
        is_done = at == limits.inputs  # and the session ends, which takes its time
        used = _memory(child.pid)
        base = base or used
        if not is_done and used > base + limits.memory:
            return too_much_memory(used - base)
        if now - since > (START_OR_END if is_done else limits.hang):
            return Finding("hang", "input", f"took more than {limits.hang} seconds")
        if now > deadline:
            return None
    if child.returncode == 0:
        return None
    return Finding("crash", f"exit {child.returncode}", f"ended with {child.returncode}")


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a child and the processes that it started, which are all of its session."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _memory(pid: int) -> int:
    try:
        used: int = psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0
    return used


def _number(progress: Path) -> int:
    try:
        number: int = NUMBER.unpack(progress.read_bytes())[0]
    except (OSError, struct.error):  # there is no such file yet, or no number in it
        return BEFORE_FIRST
    return number
