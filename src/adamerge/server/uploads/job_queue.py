"""Uploaded files are indexed one after the other by a worker process. If one fails, the next is indexed."""

import queue
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from adamerge.errors import AdamergeError, Busy, Locked, StoreUnavailable, WorkerLost
from adamerge.files import hash_of
from adamerge.server.disk_errors import disk_error, folder_problem
from adamerge.server.redact import redact
from adamerge.server.settings import Settings
from adamerge.server.uploads.folder import UploadFolder
from adamerge.server.workers.client import Message, WorkerClient

REMEMBERED = 200  # jobs that are listed
TRIES = 8  # of a file that the store refuses though nothing is wrong with the store
LOCKED = "another process is writing to the store"
OTHER_SERVER = "another server uses this folder of uploads: files can be added once it has ended"
UNWRITABLE = "the folder of uploads cannot be written"
MISTAKE = "it could not be indexed, by a mistake of the server"
PROGRESS = ("done", "total")
RESULT = ("done", "added", "unchanged", "skipped")


@dataclass(frozen=True)
class Job:
    """An uploaded file: waiting, indexing, done or failed. `waiting_for` says what a waiting file waits for."""

    id: str
    name: str
    state: str = "waiting"
    waiting_for: str = ""
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


class UploadQueue:
    """Indexes files in the order they came.

    A file that was accepted is indexed, or fails and is kept to be fetched back. While another process writes to the
    store, or a disk is full, it waits.
    """

    def __init__(
        self,
        worker: WorkerClient,
        settings: Settings,
        folder: Path,
        store_problem: Callable[[], str],
        on_end: Callable[[Job], None],
    ) -> None:
        """Do nothing yet.

        store_problem  says why the store cannot be read or written now, "" if it can
        on_end         is called with every job that is done or has failed
        """
        self.worker = worker
        self.settings = settings
        self.limits = settings.limits
        self.folder = UploadFolder(folder)
        self._store_problem = store_problem
        self._on_end = on_end
        self._folder_problem = "the folder of uploads is not open yet"
        self._jobs: dict[str, Job] = {}
        self._queue: queue.Queue[str] = queue.Queue()
        self._lock = threading.Lock()  # guards the jobs
        self._accepting = threading.Lock()  # one file at a time takes a place in the line
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="adamerge uploads", daemon=True)

    def start(self) -> None:
        """Open the folder, go on with what the last server had accepted, and begin."""
        self._try_to_open()
        self._thread.start()

    def close(self) -> None:
        """End the worker and the thread; what is not in the store yet stays in the folder."""
        self._stopping.set()
        self.worker.close()
        self._queue.put("")
        self._thread.join(timeout=2)
        self.folder.close()

    # --------------------------------------------------------------------------------------------- what is asked

    def problem(self) -> str:
        """Why no file can be taken now; "" if one can."""
        if self._folder_problem:
            return self._folder_problem
        try:
            self.folder.open()
        except (AdamergeError, OSError) as error:
            return _folder_words(error)
        problem = folder_problem(self.folder.root)
        return f"{UNWRITABLE}: {problem}" if problem else ""

    @property
    def waits_for_another_server(self) -> bool:
        """Whether another server uses the folder, as in a rolling restart; this one goes on when it has ended."""
        return self._folder_problem == OTHER_SERVER

    def check_open(self) -> None:
        """Refuse now what could not be kept, or would wait too long."""
        if problem := self.problem():
            raise StoreUnavailable(problem)
        if self._queue.qsize() >= self.limits.waiting_files:
            raise Busy("too many files wait to be indexed: try again later")

    def add(self, part: Path, name: str) -> Job:
        """Take a file that has arrived whole, to be called `name` in the store; once this returns, it is not lost."""
        job = Job(token_hex(8), name)
        try:
            with self._accepting:
                self.check_open()
                self.folder.accept(part, job.id, name)
                with self._lock:
                    self._line_up(job)
        except OSError as error:
            with suppress(OSError):  # a disk that refuses this too: the next start removes it
                self.folder.finish(job.id)
            raise StoreUnavailable(_folder_words(error)) from None
        finally:
            part.unlink(missing_ok=True)
        return job

    def get(self, id: str) -> Job | None:
        """A job by its id."""
        return self._jobs.get(id)

    def all(self) -> list[Job]:
        """Every job that is remembered, the latest first."""
        with self._lock:
            return list(reversed(self._jobs.values()))

    def failed_file(self, job: Job) -> Path | None:
        """The bytes of a job that failed."""
        return self.folder.failed_file(job.id) if job.state == "failed" else None

    def delete(self, id: str) -> None:
        """Forget a job that has ended, and remove its file if it failed."""
        with self._lock:
            job = self._jobs.pop(id, None)
        if job is not None and job.state == "failed":
            self.folder.finish(id)

    # ---------------------------------------------------------------------------------------------- the thread

    def _work(self) -> None:
        """Index what comes, until the server stops; no error ends this thread."""
        for pause in _pauses():
            if not self._folder_problem or self._stopping.wait(pause):
                break
            self._try_to_open()
        while not self._stopping.is_set():
            id = self._queue.get()
            if not id or self._stopping.is_set():
                continue
            try:
                self._finish_job(id)
            except Exception:  # a mistake of ours: the next file is indexed all the same
                traceback.print_exc()
                self._end(id, state="failed", error=MISTAKE)

    def _try_to_open(self) -> None:
        """Open the folder and line up what is in it; where that fails, note why and leave it for later."""
        try:
            self.folder.open()
            records = self.folder.records()
        except (AdamergeError, OSError) as error:
            self._folder_problem = _folder_words(error)
            return
        with self._lock:
            for record in records:
                job = Job(record.id, record.name)
                if record.state == "failed":
                    self._jobs[job.id] = replace(job, state="failed", error=record.error)
                else:
                    self._line_up(job)
        self._folder_problem = ""

    def _line_up(self, job: Job) -> None:
        self._jobs[job.id] = job
        done = [id for id, known in self._jobs.items() if known.state == "done"]
        too_many = max(0, len(self._jobs) - REMEMBERED)
        for id in done[:too_many]:
            del self._jobs[id]
        self._queue.put(job.id)

    def _finish_job(self, id: str) -> None:
        """Index a file or mark it as failed. Try again as long as the cause is not the file itself."""
        failure: Exception | None = None
        for attempt, pause in enumerate(_pauses()):
            try:
                if failure is None:
                    self._index(id)
                else:
                    self._fail(id, failure)
                return
            except Exception as error:
                if self.worker.closed:  # the next server goes on with it
                    return
                if not isinstance(error, (AdamergeError, OSError)):
                    traceback.print_exc()
                reason = self._reason_to_wait(error, attempt, failing=failure is not None)
                if reason:
                    self._set(id, state="waiting", waiting_for=reason)
                    self._stopping.wait(pause)
                elif failure is None:
                    failure = error
                else:  # it can neither be indexed nor taken back: the record on disk tells the next server
                    self._end(id, state="failed", error=self._words(failure))
                    return
            if self._stopping.is_set():
                return

    def _reason_to_wait(self, error: Exception, attempt: int, failing: bool) -> str:
        """What the job has to wait for; "" if the file itself is the cause of the error."""
        if isinstance(error, Locked):
            return LOCKED
        if isinstance(error, WorkerLost):
            if failing and attempt < TRIES:
                return self._words(error)
            return ""
        if problem := self.problem() or self._store_problem():
            return problem
        if isinstance(error, (StoreUnavailable, OSError)) and attempt < TRIES:
            return self._words(error)
        return ""

    def _index(self, id: str) -> None:
        """Put the file where its pages say it is, and index it."""
        path = self.folder.place(id)
        self._set(id, state="indexing", waiting_for="")
        task = self._task("index", path)
        answer = self.worker.run(task, self.limits.file_seconds, lambda told: self._tell(id, told))
        result = {key: answer[key] for key in RESULT if key in answer}
        result["skipped"] = tuple(result.get("skipped", ()))
        self.folder.finish(id)
        self._end(id, state="done", **result)

    def _fail(self, id: str, failure: Exception) -> None:
        """Take the pages of a failed file out of the store again, and keep its bytes to be fetched back."""
        words = self._words(failure)
        if self.folder.is_placed(id):
            path = self.folder.place(id)
            self.worker.run(self._task("remove", path), self.limits.file_seconds)
        self.folder.fail(id, words)
        self._end(id, state="failed", error=words)
        self._forget_old_failures()

    def _forget_old_failures(self) -> None:
        failed = [job.id for job in self.all() if job.state == "failed"]  # the latest first
        for id in failed[self.limits.failed_files :]:
            with suppress(OSError):  # it is removed when the disk can be written again
                self.delete(id)

    def _task(self, do: str, path: Path) -> Message:
        return {
            "do": do,
            "store": self.settings.store,
            "encoder": self.settings.encoder,
            "may_make_store": self.settings.folder is not None,
            "source": path.name,
            "root": str(path.parent),
            "hash": hash_of(path),
        }

    def _tell(self, id: str, message: Message) -> None:
        """Note the progress of a worker. It opens files of strangers, so only these two numbers are taken from it."""
        counts = {key: int(message[key]) for key in PROGRESS if key in message}
        self._set(id, **counts)

    def _end(self, id: str, **values: Any) -> None:
        job = self._set(id, waiting_for="", **values)
        if job is not None:
            self._on_end(job)

    def _set(self, id: str, **values: Any) -> Job | None:
        """The job with new values; None if somebody has deleted it."""
        with self._lock:
            if id not in self._jobs:
                return None
            job = replace(self._jobs[id], **values)
            self._jobs[id] = job
            return job

    def _words(self, error: Exception) -> str:
        """An error as strangers may read it."""
        if isinstance(error, OSError):
            return f"disk error: {disk_error(error)}"
        if isinstance(error, AdamergeError):
            return redact(error, *self.settings.private_folders)
        return MISTAKE


def _folder_words(error: Exception) -> str:
    """Why the folder of uploads cannot be used."""
    if isinstance(error, Locked):
        return OTHER_SERVER
    reason = disk_error(error) if isinstance(error, OSError) else "it is no folder"
    return f"{UNWRITABLE}: {reason}"


def _pauses() -> Iterator[float]:
    """Seconds between two tries: 0.2, 0.4, 0.8 and so on to 5, 5 ..."""
    pause = 0.2
    while True:
        yield pause
        pause = min(5.0, 2 * pause)
