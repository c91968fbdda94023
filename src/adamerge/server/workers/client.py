"""Starts a worker process when there is a task, watches it, and starts a new one when it has ended."""

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from tempfile import mkdtemp
from typing import Any

from adamerge import errors
from adamerge.errors import AdamergeError, BadInput, WorkerLost
from adamerge.server.settings import Settings

Message = dict[str, Any]
OnProgress = Callable[[Message], None]
MAX_LINE = 256_000_000  # characters of one message


class WorkerClient:
    """Runs one task at a time in a worker process, which may crash at any time."""

    def __init__(self, settings: Settings, on_start: Callable[[], None] = lambda: None) -> None:
        """Start nothing yet: the process starts when there is something to do, and then calls `on_start`."""
        self.command = settings.worker
        self.memory = settings.limits.worker_memory
        self.silent_seconds = settings.limits.silent_seconds
        self._on_start = on_start
        self.closed = False
        self._process: subprocess.Popen[str] | None = None
        self._folder = ""  # temporary files of the process
        self._turn = threading.Lock()  # held for a whole task
        self._starting = threading.Lock()  # held while a process is started

    def run(
        self, task: Message, seconds: float, on_progress: OnProgress = lambda message: None
    ) -> Message:
        """The answer to a task, or its error; `on_progress` gets the messages before it.

        A worker that is silent for too long, or not done after `seconds`, is killed. If the worker ends before its
        answer is complete, this task raises WorkerLost, and the next task gets a new worker.
        """
        with self._turn:
            process = self._running()
            with (
                _timeout(process, self.silent_seconds) as silence,
                _timeout(process, seconds) as whole,
            ):
                try:
                    answer = self._exchange(process, task, on_progress, silence)
                except BaseException:
                    _discard(process)  # the next task must not read the rest of this answer
                    raise

            is_late = silence.expired or whole.expired
            if is_late or answer is None:
                exit_code = _discard(process)
            if answer is None:
                raise WorkerLost(self._reason_lost(exit_code, is_late))
        if "error" in answer:
            raise _error_of(answer)
        return answer

    def warm(self) -> None:
        """Start the process, so that the first task need not wait for it."""
        with self._turn:
            self._running()

    def close(self) -> None:
        """End the process; the task that it works on fails."""
        self.closed = True
        with self._starting:
            process = self._process
        if process is not None:
            _kill(process)
            with self._turn:  # until the task has noticed
                _discard(process)
        self._remove_folder()

    def _running(self) -> "subprocess.Popen[str]":
        """The process; a new one if there is none, or if it has ended."""
        with self._starting:
            if self.closed:
                raise WorkerLost("the server is stopping")
            if self._process is not None and self._process.poll() is not None:
                _discard(self._process)
                self._process = None
            if self._process is None:
                self._process = self._start()
            return self._process

    def _start(self) -> "subprocess.Popen[str]":
        env = dict(os.environ)
        for secret in ("ADAMERGE_TOKEN", "ADAMERGE_PASSWORD"):
            env.pop(secret, None)
        self._remove_folder()
        self._folder = mkdtemp(prefix="adamerge-worker-")
        env["TMPDIR"] = self._folder
        self._on_start()
        return subprocess.Popen(
            [*self.command, str(self.memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=env,
            start_new_session=True,  # Ctrl-C is for the server, which then ends the worker
        )

    def _remove_folder(self) -> None:
        """Remove what a process that has ended, however it ended, left among its temporary files."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _exchange(
        self,
        process: "subprocess.Popen[str]",
        task: Message,
        on_progress: OnProgress,
        silence: "Timeout",
    ) -> Message | None:
        """The last message of a task; None if the worker ended first, or wrote something else."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(task) + "\n")
            process.stdin.flush()
        except OSError:
            return None
        while message := _parse(process.stdout.readline(MAX_LINE)):
            if message.pop("end", False):
                return message
            silence.restart()
            on_progress(message)
        return None

    def _reason_lost(self, exit_code: int, is_late: bool) -> str:
        """Why a worker was lost, in words."""
        if is_late:
            return "it took too long, and its worker was stopped"
        how = f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
        limit = f"{self.memory / 1e9:.1f} GB"
        return (
            f"its worker ended ({how}), most likely because the file needs more memory than the "
            f"{limit} it may take"
        )


class Timeout:
    """Kills a process after some seconds without a restart."""

    def __init__(self, process: "subprocess.Popen[str]", seconds: float) -> None:
        """Start to count."""
        self.process = process
        self.seconds = seconds
        self.expired = False
        self._timer: threading.Timer | None = None
        self.restart()

    def restart(self) -> None:
        """Count from zero again."""
        self.stop()
        self._timer = threading.Timer(self.seconds, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Stop counting: the process is not killed."""
        if self._timer is not None:
            self._timer.cancel()

    def _expire(self) -> None:
        self.expired = True
        _kill(self.process)


@contextmanager
def _timeout(process: "subprocess.Popen[str]", seconds: float) -> Iterator[Timeout]:
    timeout = Timeout(process, seconds)
    try:
        yield timeout
    finally:
        timeout.stop()


def _kill(process: "subprocess.Popen[str]") -> None:
    """Kill a process and those that it started, as LibreOffice: they are of its group."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _discard(process: "subprocess.Popen[str]") -> int:
    """End a process, close its pipes and return its exit code."""
    _kill(process)
    exit_code = process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with suppress(OSError):  # closing writes what is left, and nobody reads it
            pipe.close()
    return exit_code


def _parse(line: str) -> Message | None:
    """The message of a line; None if the line is incomplete (its worker was killed) or is no message."""
    if not line.endswith("\n"):
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(message, dict):
        return message
    return None


def _error_of(answer: Message) -> AdamergeError:
    """The error that a worker reports, of the same class as in the worker."""
    kind = getattr(errors, str(answer.get("kind")), None)
    words = str(answer["error"])
    if isinstance(kind, type) and issubclass(kind, AdamergeError):
        return kind(words)
    return BadInput(words)
