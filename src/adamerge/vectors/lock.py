"""One writer at a time."""

import fcntl
import os
from pathlib import Path

from adamerge.errors import BadFile, Mixture


def locked(path: Path) -> int:
    """A lock on a folder, which is made if it is not there; the system takes the lock back even after kill -9."""
    if path.exists() and not path.is_dir():
        raise BadFile(f"{path} is a file, and a folder is written here")
    path.mkdir(parents=True, exist_ok=True)
    folder = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        raise Mixture(f"another process is writing to {path}: wait for it, or choose another folder") from None
    return folder
