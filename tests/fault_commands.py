"""The commands that faults.py disturbs, and what has to be true of each at every moment.

A command reads `inputs` and writes below `work`. After a failure all that is there is as an undisturbed run makes it;
the same command then ends as that run did.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from faults import KINDS
from light import write_pdf

METHOD = "sem-cluster:m=2"
MAY_LEAVE = ("kill", "disk lost")  # faults after which nobody can tidy up at once
WRITES = ("short write",)  # faults that only a write can have


@dataclass(frozen=True)
class Command:
    """A command line, and how to read what it has made."""

    name: str
    words: Callable[[Path, Path], list[Any]]  # of inputs and work
    parts: Callable[[Path], dict[str, Any]]  # of work: what is there, by name
    left_overs: Callable[[Path], list[str]]  # of work: files that no reader will ever look at
    acknowledged: Callable[[str], set[str]] = lambda out: set()  # of stdout: parts that are safe
    whole_only: bool = False  # all parts appear at once, and are then not written again


def make_inputs(folder):
    """What the commands read."""
    rng = np.random.default_rng(0)
    pages = {f"page {i}": rng.normal(size=(24, 16)) for i in range(2)}
    np.savez(folder / "pages.npz", **pages)
    write_pdf(folder / "docs" / "a.pdf", ["apple pie recipe"])
    write_pdf(folder / "docs" / "b.pdf", ["clock repair manual"])


def disturb(runner, command, inputs, work, fault, whole):
    """What is wrong after a command failed by a fault, and after it ran again; a line each."""
    work.mkdir()
    words = command.words(inputs, work)
    try:
        run = runner.run(words, work, fault)
        wrong = wrong_after_fault(command, work, run, fault, whole)
        again = runner.run(words, work)
        wrong += wrong_after_all(command, work, again, whole)
    finally:
        shutil.rmtree(work)
    at = run.calls[fault.number - 1] if fault.number <= len(run.calls) else "no call"
    return [f"{command.name}, {fault} ({at}): {line}" for line in wrong]


def wrong_after_fault(command, work, run, fault, whole):
    there = command.parts(work)
    wrong = wrong_end(run, fault)
    wrong += [f"{name} is not as it should be" for name in there if there[name] != whole.get(name)]
    wrong += [
        f"{name} was acknowledged and is lost"
        for name in command.acknowledged(run.out) - there.keys()
    ]
    if (run.code == 0 or (command.whole_only and there)) and there.keys() != whole.keys():
        wrong.append(f"exit code {run.code}, and of {len(whole)} parts there are {len(there)}")
    if fault.kind not in MAY_LEAVE:
        wrong += [f"{name} was left" for name in command.left_overs(work)]
    return wrong


def wrong_end(run, fault):
    """What is wrong with how a disturbed command ended: it was killed, succeeded all the same, or says why not."""
    if run.code == -9 and fault.kind == "kill":
        return []
    if run.code == 0:
        return []
    one_line = run.err.count("\n") == 1 and run.err.startswith("adamerge: ")
    if run.code in (1, 75) and one_line:
        return []
    return [f"it ended with {run.code} and said {run.err!r}"]


def wrong_after_all(command, work, run, whole):
    there = command.parts(work)
    wrong = []
    refused = command.whole_only and "is there already" in run.err
    if run.code != 0 and not refused:
        wrong.append(f"the same command ended with {run.code} and said {run.err!r}")
    if there != whole:
        wrong.append(f"the same command made {sorted(there)}")
    wrong += [f"the same command left {name}" for name in command.left_overs(work)]
    return wrong


def faults_of(calls, kind):
    """The numbers of the calls at which a fault of some kind can happen."""
    assert kind in KINDS
    only = {"write"} if kind in WRITES else {call.name for call in calls}
    return [number for number, call in enumerate(calls, 1) if call.name in only]


# ------------------------------------------------------------------------------------- a folder of vectors, resumed


def shards_of(work):
    """The shards of a folder of vectors, and its manifest once that says that it is finished."""
    out = work / "out"
    found = {path.name: path.read_bytes() for path in out.glob("[!.]*")}
    if "manifest.json" in found and json.loads(found["manifest.json"])["pages"] is None:
        del found["manifest.json"]
    return found


def left_of_shards(work):
    """Temporary files, and a folder in which there is no shard."""
    left = [path.name for path in work.rglob(".*")]
    empty = [path.name for path in work.iterdir() if not list(path.glob("shard-*"))]
    return left + empty


COMPRESS = Command(
    "compress",
    lambda inputs, work: [
        *("compress", inputs / "pages.npz", "-o", work / "out"),
        *("--method", METHOD, "--dtype", "float32"),
    ],
    shards_of,
    left_of_shards,
)

ENCODE = Command(
    "encode",
    lambda inputs, work: [
        *("encode", inputs / "docs", "-o", work / "out"),
        *("--encoder", "light", "--batch-size", "1"),
    ],
    shards_of,
    left_of_shards,
)

COMMANDS = {command.name: command for command in (COMPRESS, ENCODE)}
