"""A method that says where it works and waits there until it may go on, so that a test can disturb it."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import adamerge as am


@dataclass(frozen=True)
class Waiting(am.Method, names={"waiting": {}}):
    """Keeps every patch, once the file `go` is in a folder; a page of the id `deadly` ends its process."""

    folder: str = "."
    deadly: str = "none"

    def __call__(self, page):
        folder = Path(self.folder)
        (folder / f"{os.getpid()}.pid").touch()
        while not (folder / "go").exists():
            time.sleep(0.01)
        if page.id == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        small = am.parse_method("identity")(page)
        return am.Compressed(small.vectors, small.groups, method=str(self), id=page.id)
