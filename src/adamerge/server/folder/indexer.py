"""Brings a store up to date with its folder, by a worker process, and says how far it is."""

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adamerge.documents import office
from adamerge.errors import AdamergeError, Locked, StoreUnavailable
from adamerge.server.disk_errors import disk_error
from adamerge.server.folder.listing import Listing, list_folder
from adamerge.server.redact import redact
from adamerge.server.settings import Settings
from adamerge.server.workers.client import Message, WorkerClient

LOOK_SHARE = 0.05  # of the time may be spent with looking, in a folder of very many files
RETRY_SECONDS = 2.0
DAYS = 30 * 86_400.0  # that the first run over a large folder may take
LOCKED = "another process is writing to the store"
MISTAKE = "the folder could not be indexed, by a mistake of the server"
COUNTS = ("added", "replaced", "removed", "unchanged")


@dataclass(frozen=True)
class FolderState:
    """How far the store of a folder is: waiting, indexing, done or failed.

    done, total   pages; those that have not changed since the last time count as done
    current       the file that is being read
    skipped       what could not be read, a sentence each
    passed_over   how many files hold no pages that we know, by their ending
    """

    state: str = "waiting"
    waiting_for: str = ""
    done: int = 0
    total: int = 0
    current: str = ""
    added: int = 0
    replaced: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, int], ...] = ()
    error: str = ""

    @property
    def is_open(self) -> bool:
        """Whether something is going on."""
        return self.state in ("waiting", "indexing")

    @property
    def needs_office(self) -> bool:
        """Whether files were passed over that LibreOffice would read."""
        return any(suffix in office.SUFFIXES for suffix, _ in self.passed_over)


class FolderIndexer:
    """Indexes a folder once, or again whenever it changes; a failure is said and does not end the server."""

    def __init__(
        self, worker: WorkerClient, settings: Settings, folder: Path, on_end: Callable[[], None]
    ) -> None:
        """Do nothing yet; `on_end` is called whenever a run has ended."""
        self.worker = worker
        self.settings = settings
        self.folder = folder
        self.state = FolderState()
        self._on_end = on_end
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="adamerge folder", daemon=True)

    def start(self) -> None:
        """Begin to index."""
        self._thread.start()

    def close(self) -> None:
        """End the worker and the thread; the next server goes on where this one was."""
        self._stopping.set()
        self.worker.close()
        self._thread.join(timeout=2)

    def holds(self, root: str) -> bool:
        """Whether files that were found in the folder `root` are files of this folder."""
        return Path(root) == self.folder.resolve()

    def _work(self) -> None:
        indexed: Listing | None = None
        before: Listing | None = None
        while not self._stopping.is_set():
            start = time.monotonic()
            listing = list_folder(self.folder)
            looking = time.monotonic() - start

            is_settled = (
                indexed is None or listing == before
            )  # a file that is being copied still grows
            if listing != indexed and is_settled:
                self._update()
                indexed = listing
                if not self.settings.watch:
                    return
            before = listing
            self._stopping.wait(max(self.settings.limits.look_seconds, looking / LOOK_SHARE))

    def _update(self) -> None:
        """Index the folder; while another process writes to the store, wait and try again."""
        while not self._stopping.is_set():
            self.state = FolderState("indexing")
            try:
                answer = self.worker.run(self._task(), DAYS, self._note_progress)
            except (Locked, StoreUnavailable) as error:
                waiting_for = LOCKED if isinstance(error, Locked) else self._words(error)
                self.state = FolderState("waiting", waiting_for)
                self._stopping.wait(RETRY_SECONDS)
                continue
            except Exception as error:
                if not self.worker.closed:
                    self.state = replace(self.state, state="failed", error=self._words(error))
                    self._on_end()
                return
            self.state = _final_state(answer)
            self._on_end()
            return

    def _task(self) -> Message:
        return {
            "do": "index_folder",
            "store": self.settings.store,
            "encoder": self.settings.encoder,
            "root": str(self.folder),
            "password": self.settings.password,
        }

    def _note_progress(self, message: Message) -> None:
        """Take the progress of a worker: it opens files of strangers, so nothing else is taken from it."""
        self.state = replace(
            self.state,
            done=int(message.get("done", 0)),
            total=int(message.get("total", 0)),
            current=str(message.get("current", "")),
        )

    def _words(self, error: Exception) -> str:
        """An error as visitors may read it."""
        if isinstance(error, OSError):
            return f"disk error: {disk_error(error)}"
        if isinstance(error, AdamergeError):
            return redact(error, *self.settings.private_folders)
        traceback.print_exception(error)
        return MISTAKE


def _final_state(answer: Message) -> FolderState:
    """The state after a run, from what its worker said."""
    total = int(answer["total"])
    counts: dict[str, Any] = {name: int(answer[name]) for name in COUNTS}
    passed_over = [(str(suffix), int(count)) for suffix, count in answer["passed_over"]]
    return FolderState(
        "done",
        done=total,
        total=total,
        skipped=tuple(map(str, answer["skipped"])),
        passed_over=tuple(passed_over),
        **counts,
    )
