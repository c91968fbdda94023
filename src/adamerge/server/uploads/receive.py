"""Receive an uploaded file: from the form of a request to a file on the disk."""

import asyncio
from pathlib import Path

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from adamerge.errors import StoreUnavailable
from adamerge.server.disk_errors import disk_error
from adamerge.server.forms import limit_body, read_form, too_large
from adamerge.server.uploads.checks import HEAD_BYTES, clean_name, suffixes_of
from adamerge.server.uploads.folder import UploadFolder

PART_BYTES = 1 << 20  # that are copied at a time
SEND_SECONDS = 600  # that sending a file may take


async def receive_file(request: Request, folder: UploadFolder, limit: int) -> tuple[Path, str]:
    """The file of a form, under a temporary name, and the name it is to have."""
    counted = limit_body(request, limit)
    try:
        async with asyncio.timeout(SEND_SECONDS):
            return await _receive(counted, folder, limit)
    except TimeoutError:
        raise HTTPException(408, f"a file has to arrive within {SEND_SECONDS} s") from None
    except OSError as error:
        raise StoreUnavailable(f"the file could not be kept: {disk_error(error)}") from None


async def _receive(request: Request, folder: UploadFolder, limit: int) -> tuple[Path, str]:
    async with read_form(request, files=1, fields=4) as form:
        given = form.get("file")
        if not isinstance(given, UploadFile):
            raise HTTPException(400, "send one file, in a form field called 'file'")
        suffixes = suffixes_of(await given.read(HEAD_BYTES))
        name = clean_name(given.filename or "", suffixes)
        await given.seek(0)
        path = folder.arriving()
        await _copy(given, path, limit)
        return path, name


async def _copy(given: UploadFile, path: Path, limit: int) -> None:
    """Copy a file; nothing stays of one that is too large, or that the disk cannot hold."""
    size = 0
    try:
        with path.open("wb") as file:
            while part := await given.read(PART_BYTES):
                size += len(part)
                if size > limit:
                    raise too_large(limit)
                await asyncio.to_thread(file.write, part)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
