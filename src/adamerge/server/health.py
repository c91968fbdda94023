"""What keeps a server from working: a store that cannot be read, a disk that cannot be written."""

import traceback
from pathlib import Path

from adamerge.errors import AdamergeError
from adamerge.server.disk_errors import disk_error, folder_problem
from adamerge.server.reader.store_reader import StoreReader
from adamerge.server.redact import redact
from adamerge.server.settings import Settings


def store_problem(reader: StoreReader, settings: Settings, writes: bool) -> str:
    """Why the store cannot be read or, if `writes`, written now; "" if it can."""
    try:
        reader.check()
    except AdamergeError as error:
        return redact(error, *settings.private_folders)
    except OSError as error:
        return f"the store cannot be read: {disk_error(error)}"
    except Exception as error:  # what a database raises that nobody has met yet
        traceback.print_exc()
        return f"the store cannot be read: {redact(error, *settings.private_folders)}"
    if not writes or "://" in reader.where:
        return ""
    folder = Path(reader.where)
    if reader.is_empty() and not folder.exists():
        folder = folder.parent  # where the store will be made
    problem = folder_problem(folder)
    return f"the store cannot be written: {problem}" if problem else ""
