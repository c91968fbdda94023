"""Workers as the server sees them: one process each, started when it is needed and started again when it died."""

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adamerge.errors import BadInput, WorkerLost

Note = Callable[[dict[str, Any]], None]


class Worker:
    """A process that does one task at a time, and may be killed at any moment."""

    def __init__(self, command: tuple[str, ...], memory: int, seconds: float) -> None:
        """Start nothing yet: `command` is run when there is something to do."""
        self.command, self.memory, self.seconds = command, memory, seconds
        self.starts = 0
        self.closed = False
        self._process: subprocess.Popen[str] | None = None
        self._turn = threading.Lock()

    @property
    def pid(self) -> int | None:
        """Of the process, if it runs."""
        process = self._process
        return process.pid if process and process.poll() is None else None

    def do(
        self, task: dict[str, Any], longest: float, note: Note = lambda message: None
    ) -> dict[str, Any]:
        """The answer to a task; `note` hears of its progress. A worker that is silent or too long at it is killed."""
        with self._turn:
            process = self._running()
            with _alarm(process, self.seconds) as silent, _alarm(process, longest) as whole:
                answer = self._exchange(process, task, note, silent)
            if answer is None:
                raise WorkerLost(self._why(process, silent.rang or whole.rang))
        if "error" in answer:
            raise BadInput(answer["error"])
        return answer

    def warm(self) -> None:
        """Start the process, so that the first task need not wait for it."""
        with self._turn:
            self._running()

    def close(self) -> None:
        """End the process; a task it is at fails."""
        self.closed = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _running(self) -> "subprocess.Popen[str]":
        if self.closed:
            raise WorkerLost("the server is stopping")
        if self.pid is None:
            pipe = subprocess.PIPE
            command = [*self.command, str(self.memory)]
            env = {name: value for name, value in os.environ.items() if name != "ADAMERGE_TOKEN"}
            self._process = subprocess.Popen(
                command,
                stdin=pipe,
                stdout=pipe,
                text=True,
                encoding="utf-8",
                env=env,
                start_new_session=True,
            )  # in a session of its own Ctrl-C is ours to hear, not the worker's
            self.starts += 1
        assert self._process is not None
        return self._process

    def _exchange(
        self, process: "subprocess.Popen[str]", task: dict[str, Any], note: Note, silent: "Alarm"
    ) -> dict[str, Any] | None:
        """The last message of a task; None if the worker ended first."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(task) + "\n")
            process.stdin.flush()
        except OSError:
            return None
        for line in process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.pop("end", False):
                return message
            silent.restart()
            note(message)
        return None

    def _why(self, process: "subprocess.Popen[str]", late: bool) -> str:
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # what could not be written any more
                    continue
        if late:
            return "it took too long, and its worker was stopped"
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        most = f"{self.memory / 1e9:.1f} GB"
        return f"its worker ended ({how}), most likely because the file needs more memory than the {most} it may take"


class Alarm:
    """Kills a process after some seconds without a restart."""

    def __init__(self, process: "subprocess.Popen[str]", seconds: float) -> None:
        """Set it, running."""
        self.process, self.seconds, self.rang = process, seconds, False
        self.restart()

    def restart(self) -> None:
        """Count from now on."""
        self.stop()
        self._timer = threading.Timer(self.seconds, self._ring)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Count no more."""
        if timer := getattr(self, "_timer", None):
            timer.cancel()

    def _ring(self) -> None:
        self.rang = True
        self.process.kill()


@contextmanager
def _alarm(process: "subprocess.Popen[str]", seconds: float) -> Iterator[Alarm]:
    alarm = Alarm(process, seconds)
    try:
        yield alarm
    finally:
        alarm.stop()
