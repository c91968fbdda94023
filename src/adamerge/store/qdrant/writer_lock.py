"""One writer at a time: the metadata of a collection say which process writes to it, and that it still lives.

A server has no locks. So a writer leaves its name in the metadata, and changes it every few seconds. Another one that
finds a name waits for it to change. If it does, somebody writes; if it does not, that writer is dead, and its place
is taken. Two that begin in the same moment may both believe that they are alone. The one whose name was replaced
notices it at the next change, and stops. Nothing is lost by that, since both write the same pages under the same ids.
"""

import os
import socket
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from adamerge.errors import AdamergeError, Locked
from adamerge.store.qdrant.collection import Collection

KEY = "adamerge_writer"  # of the metadata
BEAT = 5.0  # seconds after which a writer changes its name
SILENCE = 20.0  # seconds without a change after which it is dead
PAUSE = 0.2  # seconds between two looks at the name of another writer


@dataclass(frozen=True)
class Writer:
    """A process that writes to a collection. `token` tells it from all others, `beat` grows while it lives."""

    token: str
    host: str
    process: int
    beat: int = 0


class WriterLock:
    """The right to write to a collection, held until release()."""

    def __init__(self, collection: Collection) -> None:
        """Hold nothing yet."""
        self._collection = collection
        self._writer = Writer(uuid4().hex, socket.gethostname(), os.getpid())
        self._stopped = Event()
        self._lost_to: Writer | None = None
        self._thread: Thread | None = None

    def take(self) -> None:
        """Become the writer; Locked where another one lives."""
        other = self._current()
        if other is not None and self._lives(other):
            raise self._locked_by(other)
        self._collection.merge_metadata(self.metadata())
        self.go_on()

    def metadata(self) -> dict[str, Any]:
        """What the metadata of the collection say while this lock is held."""
        return {KEY: asdict(self._writer)}

    def go_on(self) -> None:
        """Show signs of life from now on; the metadata have the name already."""
        self._thread = Thread(target=self._show_life, name="writer of a collection", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Refuse to go on where another writer has taken the place of this one."""
        if self._lost_to is not None:
            raise self._locked_by(self._lost_to)

    def release(self) -> None:
        """Let the next writer in."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        with suppress(AdamergeError):  # of a server that is away: this writer is soon dead
            if self._is_ours(self._current()):
                self._collection.merge_metadata({KEY: None})

    def _current(self) -> Writer | None:
        """The writer that the metadata name."""
        named = self._collection.metadata().get(KEY)
        if not named:
            return None
        return Writer(**named)

    def _is_ours(self, writer: Writer | None) -> bool:
        return writer is not None and writer.token == self._writer.token

    def _lives(self, other: Writer) -> bool:
        """Whether another writer shows a sign of life; a process of this machine that has ended shows none."""
        if other.host == self._writer.host and not _is_running(other.process):
            return False
        end = time.monotonic() + SILENCE
        while time.monotonic() < end:
            time.sleep(PAUSE)
            now = self._current()
            if now is None:
                return False
            if now != other:
                return True
        return False

    def _show_life(self) -> None:
        """Change the name again and again, until the lock is released or another writer has taken it."""
        while not self._stopped.wait(BEAT):
            try:
                current = self._current()
                if current is not None and not self._is_ours(current):
                    self._lost_to = current
                    return
                self._writer = replace(self._writer, beat=self._writer.beat + 1)
                self._collection.merge_metadata(self.metadata())
            except AdamergeError:
                continue  # a server that is away is told by the next write, and may be back at the next beat

    def _locked_by(self, other: Writer) -> Locked:
        return Locked(
            f"another process is writing to {self._collection}: process {other.process} of {other.host}; "
            "try again when it is done"
        )


def _is_running(process: int) -> bool:
    """Whether this machine has a process of that number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it belongs to another user
    return True
