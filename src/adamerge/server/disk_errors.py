"""Whether a folder can be written, and what the system says where it cannot."""

from pathlib import Path
from tempfile import TemporaryFile

PROBE = bytes(65_536)  # what must fit on a disk that is not full


def disk_error(error: OSError) -> str:
    """What the system says of a file or disk, without the path."""
    return error.strerror or "the disk cannot be read or written"


def folder_problem(folder: Path) -> str:
    """Why nothing can be written into a folder now; "" if it can. Leaves nothing behind."""
    try:
        with TemporaryFile(dir=folder, buffering=0) as probe:
            probe.write(PROBE)
    except OSError as error:
        return disk_error(error)
    return ""
