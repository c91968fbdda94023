"""Receive uploaded files: from the form of a request to files on the disk."""

import asyncio
from pathlib import Path
from typing import NamedTuple

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


class ReceivedFile(NamedTuple):
    """A file that has arrived: where it is, and the name that it is to have."""

    path: Path
    name: str


async def receive_files(
    request: Request, folder: UploadFolder, limit: int, most: int = 1
) -> list[ReceivedFile]:
    """The files of a form, `most` of them at most, each of `limit` bytes; all of them arrive or none does."""
    counted = limit_body(request, most * limit)
    try:
        async with asyncio.timeout(SEND_SECONDS):
            return await _receive(counted, folder, limit, most)
    except TimeoutError:
        raise HTTPException(408, f"a file has to arrive within {SEND_SECONDS} s") from None
    except OSError as error:
        raise StoreUnavailable(f"the file could not be kept: {disk_error(error)}") from None


async def _receive(
    request: Request, folder: UploadFolder, limit: int, most: int
) -> list[ReceivedFile]:
    received: list[ReceivedFile] = []
    async with read_form(request, files=most, fields=4) as form:
        given = form.getlist("file")
        if not given:
            raise HTTPException(400, "send one file, in a form field called 'file'")
        try:
            for file in given:
                received.append(await _receive_one(file, folder, limit))
        except BaseException:
            for arrived in received:
                arrived.path.unlink(missing_ok=True)
            raise
    return received


async def _receive_one(given: UploadFile | str, folder: UploadFolder, limit: int) -> ReceivedFile:
    if not isinstance(given, UploadFile):
        raise HTTPException(400, "send one file, in a form field called 'file'")
    head = await given.read(HEAD_BYTES)
    suffixes = suffixes_of(head, given.filename or "")
    name = clean_name(given.filename or "", suffixes)
    await given.seek(0)
    path = folder.arriving()
    await _copy(given, path, limit)
    return ReceivedFile(path, name)


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
