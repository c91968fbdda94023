"""Files that are there whole or not at all, one writer of a folder at a time, and what a file holds.

A file is written under a temporary name of its own, `.NAME.RANDOM.tmp`, forced to the disk and renamed. A process that
is killed leaves such a file behind; the next one that writes the same name removes it. It tells a dead attempt from a
living one by a lock that the system takes back when a process ends, however it ends.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryFile
from uuid import uuid4
from zlib import crc32

from adamerge.buckets import AnyPath, BucketPath
from adamerge.errors import BadFile, Locked

TEMPORARY = ".tmp"


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary file to write; it takes the place of `path` if the block ends well, and is removed if it fails."""
    path = Path(path)
    remove_dead_attempts(path)
    temporary, holder = _new_attempt(path)
    try:
        yield temporary
        rename(temporary, path)
    except BaseException:
        with suppress(OSError):  # a disk that refuses even this: the next write removes it
            temporary.unlink()
        raise
    finally:
        os.close(holder)


def write(path: str | AnyPath, content: str | bytes) -> None:
    """Write a file; who reads it meanwhile sees the old content or the new one, never a part."""
    if isinstance(content, str):
        content = content.encode()
    if isinstance(path, BucketPath):
        path.write_bytes(content)
        return
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_lines(path: AnyPath, lines: Iterable[str]) -> None:
    """Write a file line by line, so that memory does not grow with it; it is there whole or not at all."""
    if isinstance(path, BucketPath):
        # An object appears when its stream is closed, also after half of its lines: all lines come first.
        with TemporaryFile("w+") as whole:
            whole.writelines(lines)
            whole.seek(0)
            path.write_parts(line.encode() for line in whole)
        return
    with replacing(path) as temporary, temporary.open("w") as file:
        file.writelines(lines)


def read_lines(path: AnyPath) -> Iterator[str]:
    """The lines of a file, one at a time."""
    if isinstance(path, BucketPath):
        yield from path.read_lines()
        return
    with path.open() as file:
        yield from file


def rename(temporary: Path, path: Path) -> None:
    """Give a file or folder its name once its bytes are on the disk, so that the name never stands for less."""
    sync(temporary)
    os.replace(temporary, path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Force a file, or the names in a folder, to the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def temporary_name(path: Path) -> Path:
    """A name beside `path` that no other attempt has."""
    return path.with_name(f".{path.name}.{uuid4().hex[:12]}{TEMPORARY}")


def _new_attempt(path: Path) -> tuple[Path, int]:
    """An empty temporary file, and what os.close() lets go of its lock by."""
    while True:
        temporary = temporary_name(path)
        holder = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        fcntl.flock(holder, fcntl.LOCK_EX)
        if os.fstat(holder).st_nlink:
            return temporary, holder
        os.close(holder)  # another process took it for dead before it was locked


def remove_dead_attempts(path: Path) -> None:
    """Remove the temporary files and folders of `path` that killed processes left behind."""
    prefix = f".{path.name}."
    for left in path.parent.glob(f".*{TEMPORARY}"):
        if left.name.startswith(prefix):
            with suppress(OSError, Locked):  # it is removed already, or still being written
                _remove_unlocked(left)


def _remove_unlocked(path: Path) -> None:
    """Remove a file or folder that no process writes; Locked if one does."""
    holder = lock(path)
    try:
        _remove(path)
    finally:
        os.close(holder)


def lock(path: Path) -> int:
    """Lock a file or folder for this process and return what os.close() lets go of; Locked if another one has it.

    The system takes the lock back even after kill -9.
    """
    opened = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        raise Locked(
            f"another process is writing to {path}: wait for it, or choose another folder"
        ) from None
    return opened


def lock_folder(path: AnyPath) -> int:
    """Make a folder if it is not there, and lock it as lock() does; a folder in a bucket has no lock."""
    if isinstance(path, BucketPath):
        return os.open(os.devnull, os.O_RDONLY)  # to be closed as a lock is
    if path.exists() and not path.is_dir():
        raise BadFile(f"{path} is a file, and a folder is written here")
    make_folder(path)
    return lock(path)


def make_folder(path: Path) -> None:
    """Make a folder and those above it that are not there; their names are on the disk when this returns."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    try:
        sync(path.parent)
    except OSError:
        with suppress(OSError):
            path.rmdir()
        raise


def lies_in(path: AnyPath, folder: AnyPath) -> bool:
    """Whether a path is a folder or lies inside it."""
    if isinstance(path, BucketPath) or isinstance(folder, BucketPath):
        return f"{path}/".startswith(f"{folder}/")
    return folder.resolve() in (path.resolve(), *path.resolve().parents)


def size_of(path: AnyPath) -> int:
    """Bytes of a file."""
    if isinstance(path, BucketPath):
        return path.size()
    return path.stat().st_size


def hash_of(path: AnyPath) -> str:
    """The sha256 of a file, which tells whether it has changed; of an object in a bucket, its version.

    A version needs no download. An object that is written again with the same bytes counts as changed.
    """
    if isinstance(path, BucketPath):
        return path.version()
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}") from None


def fingerprint(*files: tuple[str, AnyPath]) -> str:
    """What named files hold, in eight letters; another name, order or content is another fingerprint.

    The version of an object in a bucket stands for its content.
    """
    total = 0
    for name, path in files:
        total = crc32(name.encode() + b"\0", total)
        for part in _parts_or_version(path):
            total = crc32(part, total)
    return f"{total:08x}"


def _parts_or_version(path: AnyPath) -> Iterator[bytes]:
    if isinstance(path, BucketPath):
        yield path.version().encode()
        return
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            yield part


def _remove(path: Path) -> None:
    if path.is_dir():
        rmtree(path)
    else:
        path.unlink()
