"""A failure at any step of a command: a call that changes the file system fails, or the process is killed before it.

A small C library (faults.c) is loaded into the processes before the C library of the system. It counts their calls on
one folder and makes the call of a given number fail. Linux only: see `missing`.
"""

import ctypes
import json
import mmap
import os
import re
import select
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from processes import ended, start_python
from waiting import LONG

HERE = Path(__file__).parent
KINDS = {  # name -> number in faults.c
    "no space": 1,  # one call fails with ENOSPC
    "I/O error": 2,  # one call fails with EIO
    "disk full": 3,  # from that call on, all that need space fail with ENOSPC
    "disk lost": 4,  # from that call on, all fail with EIO
    "short write": 5,  # one write takes half of its bytes
    "kill": 6,  # the process is killed before the call
}
LISTED, PATH_BYTES = 4096, 1024  # as in faults.c


class Fault(NamedTuple):
    """What happens, and at which call, counted from 1."""

    kind: str
    number: int

    def __str__(self):
        return f"{self.kind} at call {self.number}"


class Call(NamedTuple):
    """A call that changes the file system: open, write, sync, rename, link, mkdir, remove or truncate."""

    name: str
    path: str  # below the watched folder
    old: str = ""  # of a rename or link: the name before

    def place(self):
        """The call and the kind of its file."""
        return self.name, kind_of_path(self.path)


def kind_of_path(path):
    """What kind of file a path names: numbers and random letters do not count."""
    return re.sub(r"(?<=\.tmp)\w+|[0-9a-f-]{4,}|[0-9]+", "*", path)


def lost_with_the_power(calls):
    """What may be lost or empty after a power cut at the end of some calls: all that was not synced.

    A file needs a sync after its last write, and its name a sync of the folder that holds it.
    """
    written = set()  # files
    named = {}  # folder -> files and folders that got their names in it
    for name, path, old in calls:
        in_folder = named.setdefault(os.path.dirname(path) or ".", set())
        if name in ("write", "truncate"):
            written.add(path)
        elif name == "sync":
            written.discard(path)
            named.pop(path, None)
        else:
            in_folder.add(path)
        if name in ("rename", "link") and old in written:
            written.add(path)
        gone = {"remove": path, "rename": old}.get(name)
        written.discard(gone)
        named.get(os.path.dirname(gone or "") or ".", set()).discard(gone)
    return sorted(written | set().union(*named.values()))


def named_too_early(calls):
    """The files that got their names before their bytes were on the disk: a power cut may leave the name of nothing."""
    written, early = set(), []
    for name, path, old in calls:
        if name in ("write", "truncate"):
            written.add(path)
        elif name == "sync":
            written.discard(path)
        elif name == "rename" and old in written:
            early.append(path)
    return early


class _Call(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 24),
        ("path", ctypes.c_char * PATH_BYTES),
        ("old", ctypes.c_char * PATH_BYTES),
    ]


class _State(ctypes.Structure):
    """struct state of faults.c."""

    _fields_ = [
        ("folder", ctypes.c_char * PATH_BYTES),
        ("fault", ctypes.c_int64),
        ("number", ctypes.c_int64),
        ("calls", ctypes.c_int64),
        ("failed", ctypes.c_int64),
        ("killed", ctypes.c_int64),
        ("listed", _Call * LISTED),
    ]


def missing():
    """Why faults cannot be injected on this machine; nothing if they can."""
    if not sys.platform.startswith("linux"):
        return "faults are injected by LD_PRELOAD of Linux's C library"
    return "" if shutil.which("cc") else "faults are injected by a library that `cc` compiles"


class Faults:
    """The library, built into a folder; what it does is set here, for all processes that were started with `env`."""

    def __init__(self, folder):
        library = folder / "faults.so"
        self.path = folder / "faults.state"
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "faults.c", "-ldl"]
        subprocess.run(command, check=True)
        self.path.write_bytes(bytes(ctypes.sizeof(_State)))
        self.env = {"LD_PRELOAD": str(library), "FAULTS_STATE": str(self.path)}
        with self.path.open("r+b") as file:
            self._state = _State.from_buffer(mmap.mmap(file.fileno(), 0))

    @contextmanager
    def watching(self, folder, fault=None):
        """Count the calls on a folder from now on, and make a fault happen."""
        state = self._state
        state.fault, state.number = (KINDS[fault.kind], fault.number) if fault else (0, 0)
        state.calls = state.failed = state.killed = 0
        state.folder = str(folder).encode()
        try:
            yield
        finally:
            state.folder = b""

    @property
    def failed(self):
        """How many calls were made to fail since the last watching() began."""
        return self._state.failed

    @property
    def killed(self):
        """The number of the process that was killed since; 0 for none."""
        return self._state.killed

    @property
    def number_of_calls(self):
        """How many calls there were since."""
        return self._state.calls

    def calls(self, folder):
        """The calls since then, in order."""
        listed = self._state.listed[: self.number_of_calls]
        return [_call_of(call, folder) for call in listed]


def _call_of(call, folder):
    path, old = (
        os.path.relpath(name.decode(), folder) if name else "" for name in (call.path, call.old)
    )
    return Call(call.name.decode(), path, old)


@dataclass(frozen=True)
class Run:
    """A command that has ended: its exit code (-9: killed), what it printed, and its calls."""

    code: int
    out: str
    err: str
    calls: list[Call]
    failed: int  # calls that were made to fail


class Runner:
    """Runs `adamerge` commands in processes of their own, each a fork of one that has imported everything."""

    def __init__(self, faults, process, folder):
        self._faults, self._process, self._folder = faults, process, folder

    def run(self, words, watched, fault=None):
        """A finished run of a command, with the calls that it made on a folder."""
        out, err = self._folder / "out", self._folder / "err"
        request = {"words": [str(word) for word in words], "out": str(out), "err": str(err)}
        with self._faults.watching(watched, fault):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            code = self._answer(f"adamerge {' '.join(request['words'])} with {fault}")
        calls = self._faults.calls(watched)
        return Run(code, out.read_text(), err.read_text(), calls, self._faults.failed)

    def _answer(self, what):
        ready, _, _ = select.select([self._process.stdout], [], [], LONG)
        assert ready, f"{what}: not ended in {LONG} s"
        line = self._process.stdout.readline()
        assert line, f"{what}: the process that runs commands has ended"
        return json.loads(line)["code"]


@contextmanager
def running(faults, folder):
    """A Runner; its process ends with the block."""
    env = os.environ | faults.env | {"OPENBLAS_NUM_THREADS": "1"}
    env.pop("LANCE_LOG", None)  # of this process: a command must find out by itself
    pipe = subprocess.PIPE
    process = start_python(HERE / "fault_runner.py", stdin=pipe, stdout=pipe, text=True, env=env)
    with ended(process):
        yield Runner(faults, process, folder)
