"""The folder of uploads: what was accepted stays there until it is in the store or is fetched back.

FOLDER/NAME              a file whose pages are in the store, or are being indexed
FOLDER/.jobs/ID.json     a job that is not done: its name, its state, its error
FOLDER/.jobs/ID.file     its bytes: while it waits, and after it failed
FOLDER/.jobs/ID.part     bytes that are still arriving

Every step is one rename, so a server that is killed at any moment leaves a job that the next one goes on with. One
server at a time uses the folder: it holds a lock that the system takes back when the process ends, however it ends.
"""

import json
import os
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from adamerge import files
from adamerge.errors import BadInput, NotFound

DAMAGED = "the record of this file is damaged"  # the bytes are kept all the same
OLD_NAME = re.compile(r"\.([0-9a-f]{16})\.(.+)")  # how a waiting file was called before


@dataclass(frozen=True)
class Record:
    """What the disk knows of a job: it waits, is being indexed, or has failed."""

    id: str
    name: str
    state: str
    error: str
    received: float


class UploadFolder:
    """Keeps the files of uploads; each method is one step of a job."""

    def __init__(self, root: Path) -> None:
        """Touch nothing yet."""
        self.root = root
        self.jobs = root / ".jobs"
        self._lock: int | None = None
        self._opening = threading.Lock()

    def open(self) -> None:
        """Make the folder and lock it; again if it was moved or removed since. Locked if another server has it."""
        with self._opening:
            if self._lock is not None and not self._is_locked_here():
                self._unlock()
            if self._lock is None:
                self._lock = files.lock_folder(self.root)
            self.jobs.mkdir(exist_ok=True)

    def close(self) -> None:
        """Let the next server in."""
        with self._opening:
            self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _is_locked_here(self) -> bool:
        """Whether the folder that is locked still has its name."""
        assert self._lock is not None
        try:
            return os.path.samestat(os.fstat(self._lock), self.root.stat())
        except OSError:
            return False

    def arriving(self) -> Path:
        """A new name for bytes that arrive."""
        return self.jobs / f"{token_hex(8)}.part"

    def accept(self, part: Path, id: str, name: str) -> None:
        """Keep a file that has arrived whole: once this returns, it is not lost."""
        self._write(Record(id, name, "waiting", "", time.time()))
        files.rename(part, self._bytes(id))

    def place(self, id: str) -> Path:
        """Put a waiting file where its pages will say it is; another file of that name is never replaced."""
        record = self._read(id)
        waiting = self._bytes(id)
        placed = self.root / record.name
        if not waiting.exists():
            if self.is_placed(id):  # by a try before this one
                return placed
            raise NotFound(f"'{record.name}' is no longer in the folder of uploads")
        if not placed.exists():
            self._write(Record(id, record.name, "indexing", "", record.received))
            files.rename(waiting, placed)
        elif files.hash_of(placed) != files.hash_of(waiting):
            raise BadInput(f"the store holds another '{record.name}': give this one another name")
        return placed

    def is_placed(self, id: str) -> bool:
        """Whether a file of this job, and of no other, lies under its name."""
        record = self._read(id)
        was_placed = record.state == "indexing" and not self._bytes(id).exists()
        return was_placed and (self.root / record.name).exists()

    def finish(self, id: str) -> None:
        """Forget a job whose pages are in the store."""
        self._bytes(id).unlink(missing_ok=True)
        self._path(id).unlink(missing_ok=True)

    def fail(self, id: str, error: str) -> None:
        """Keep the bytes of a file that could not be indexed, and why."""
        record = self._read(id)
        if self.is_placed(id):
            files.rename(self.root / record.name, self._bytes(id))
        self._write(Record(id, record.name, "failed", error, record.received))

    def delete(self, name: str) -> None:
        """Delete a file whose pages were removed from the store."""
        (self.root / Path(name).name).unlink(missing_ok=True)

    def failed_file(self, id: str) -> Path | None:
        """The bytes of a file that failed, if they are still kept."""
        path = self._bytes(id)
        return path if path.is_file() else None

    def records(self) -> list[Record]:
        """The jobs that are not done, in the order they came; what never arrived whole is removed."""
        for unfinished in (*self.jobs.glob("*.part"), *self.jobs.glob(f".*{files.TEMPORARY}")):
            unfinished.unlink(missing_ok=True)
        self._adopt_old_names()
        found = []
        for path in self.jobs.glob("*.json"):
            record = self._read(path.stem)
            has_file = self._bytes(record.id).exists() or self.is_placed(record.id)
            if has_file:
                found.append(record)
            else:  # killed before the file was accepted, or after it was done
                path.unlink()
        return sorted(found, key=lambda record: record.received)

    def _adopt_old_names(self) -> None:
        """Take over what a server of an earlier version had accepted: `.ID.NAME`, perhaps linked to NAME."""
        for path in self.root.glob(".*"):
            old = OLD_NAME.fullmatch(path.name)
            if old is None:
                continue
            if old[2] == "part":
                path.unlink()
                continue
            placed = self.root / old[2]
            if placed.exists() and placed.samefile(path):
                placed.unlink()
            self.accept(path, old[1], old[2])

    def _read(self, id: str) -> Record:
        try:
            text = self._path(id).read_bytes()
        except FileNotFoundError:
            raise NotFound("the file is no longer in the folder of uploads") from None
        return _parse_record(id, text) or Record(id, id, "failed", DAMAGED, 0.0)

    def _write(self, record: Record) -> None:
        fields = vars(record) | {}
        del fields["id"]
        files.write(self._path(record.id), json.dumps(fields))

    def _path(self, id: str) -> Path:
        return self.jobs / f"{id}.json"

    def _bytes(self, id: str) -> Path:
        return self.jobs / f"{id}.file"


def _parse_record(id: str, text: bytes) -> Record | None:
    """The record that _write() wrote; None if it is anything else."""
    try:
        record = Record(id, **json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return None
    has_texts = all(isinstance(value, str) for value in (record.name, record.state, record.error))
    has_time = isinstance(record.received, float)
    if has_texts and has_time:
        return record
    return None
