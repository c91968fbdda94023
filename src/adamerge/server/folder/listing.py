"""What lies in a folder, to notice that something has changed. No file is opened."""

import os
from pathlib import Path

from adamerge.documents import readable_suffixes

Listing = dict[str, tuple[int, int]]  # path -> time of its last change in ns, size


def list_folder(folder: Path) -> Listing:
    """Every file below a folder that may hold pages; folders that cannot be read are left out."""
    readable = readable_suffixes()
    found: Listing = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if os.path.splitext(name)[1].lower() not in readable:
                continue
            try:
                status = os.stat(path)
            except OSError:  # it went away meanwhile
                continue
            found[path] = (status.st_mtime_ns, status.st_size)
    return found
