"""Files on their way into the store: one at a time, by a worker that may die of them."""

import queue
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from adamerge.errors import AdamergeError, BadInput
from adamerge.files import hash_of
from adamerge.server.office import Worker
from adamerge.server.settings import Settings

WAITING = 32  # files that may wait
REMEMBERED = 200  # jobs that are told of
ARRIVING = "part"  # what a file that is still on its way is called, after its id


@dataclass(frozen=True)
class Job:
    """A file on its way: waiting, indexing, done or failed."""

    id: str
    name: str
    state: str = "waiting"
    done: int = 0
    total: int = 0
    added: int = 0
    unchanged: int = 0
    skipped: tuple[str, ...] = ()
    error: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ("done", "failed")


class Jobs:
    """Indexes files in the order they came; whatever becomes of one, the next is tried.

    Until it is in the store or has failed, a file is in the folder as `.ID.NAME` too: it outlives the server.
    """

    def __init__(
        self, worker: Worker, settings: Settings, folder: Path, ended: Callable[[Job], None]
    ) -> None:
        """Do nothing yet; `ended` is told of every job once it is done or has failed."""
        self.worker, self.settings, self.folder, self.longest = (
            worker,
            settings,
            folder,
            settings.longest,
        )
        self._ended = ended
        self._jobs: dict[str, Job] = {}
        self._files: queue.Queue[tuple[str, Path] | None] = queue.Queue()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="adamerge jobs", daemon=True)

    def start(self) -> None:
        """Line up what the last server had taken and not ended, remove what never arrived whole, and begin."""
        for file in sorted(self.folder.glob(".*"), key=lambda file: file.stat().st_mtime_ns):
            found = re.fullmatch(r"\.([0-9a-f]{16})\.(.+)", file.name)
            if found and found[2] == ARRIVING:
                file.unlink()
            elif found:
                self._line_up(Job(found[1], found[2]), file)
        self._thread.start()

    def full(self) -> bool:
        """Whether too many files wait already."""
        return self._files.qsize() >= WAITING

    def add(self, file: Path, name: str) -> Job | None:
        """Take a whole file, to be called `name` in the store; None, and it is gone, if too many wait already."""
        job = Job(token_hex(8), name)
        with self._lock:
            if self.full():
                file.unlink()
                return None
            self._line_up(job, file.rename(self.folder / f".{job.id}.{name}"))
        return job

    def _line_up(self, job: Job, file: Path) -> None:
        self._jobs[job.id] = job
        ended = [id for id, known in self._jobs.items() if known.ended]
        for id in ended[: max(0, len(self._jobs) - REMEMBERED)]:
            del self._jobs[id]
        self._files.put((job.id, file))

    def get(self, id: str) -> Job | None:
        """A job by its id."""
        return self._jobs.get(id)

    def all(self) -> list[Job]:
        """Every job that is remembered, the latest first."""
        with self._lock:
            return list(reversed(self._jobs.values()))

    def close(self) -> None:
        """End the worker and the thread; what is not in the store yet stays in the folder."""
        self.worker.close()
        self._files.put(None)
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while (taken := self._files.get()) is not None:
            id, file = taken
            try:
                self._index(id, file)
            except (AdamergeError, OSError) as error:
                if self.worker.closed:  # the next server goes on with it
                    return
                words = (
                    f"disk error: {error.strerror}" if isinstance(error, OSError) else str(error)
                )
                self._set(id, state="failed", error=words)
            file.unlink(missing_ok=True)
            self._ended(self._jobs[id])

    def _index(self, id: str, file: Path) -> None:
        """Put the file where its pages say it is as well, and index it; take both away again if that fails."""
        name, hash = self._jobs[id].name, hash_of(file)
        kept = self.folder / name
        if not kept.exists():
            kept.hardlink_to(file)
        elif hash_of(kept) != hash:
            raise BadInput(f"the store holds another '{name}': give this one another name")
        task = {"store": self.settings.store, "encoder": self.settings.encoder}
        task |= {"source": name, "root": str(self.folder), "hash": hash}
        self._set(id, state="indexing")
        try:
            answer = self.worker.do(
                task | {"do": "index"}, self.longest, lambda message: self._set(id, **message)
            )
        except AdamergeError:
            if kept.samefile(file) and not self.worker.closed:
                self._forget(task)
                kept.unlink(missing_ok=True)
            raise
        self._set(id, state="done", **answer | {"skipped": tuple(answer["skipped"])})

    def _forget(self, task: dict[str, Any], tries: int = 3) -> None:
        """Take the pages of a failed file out of the store; by a new worker if the old one died."""
        for _ in range(tries):
            try:
                self.worker.do(task | {"do": "forget"}, self.longest)
            except AdamergeError:
                time.sleep(0.2)
            else:
                return

    def _set(self, id: str, **values: Any) -> None:
        with self._lock:
            self._jobs[id] = replace(self._jobs[id], **values)
