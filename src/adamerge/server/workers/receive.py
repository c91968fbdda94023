"""A file that a client sends -> a file on disk: never more than allowed, never of a kind that nobody reads."""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

from adamerge.errors import StoreUnavailable
from adamerge.server.disk import disk_error
from adamerge.server.workers.upload_folder import UploadFolder

SUFFIXES = {  # how files begin -> the suffixes they may have
    b"%PDF-": (".pdf",),
    b"\x89PNG\r\n\x1a\n": (".png",),
    b"\xff\xd8\xff": (".jpg", ".jpeg"),
    b"II*\0": (".tif", ".tiff"),
    b"MM\0*": (".tif", ".tiff"),
}
HEAD_BYTES = 1024  # in which a PDF may begin
FORM_BYTES = 65_536  # that a form may have around its file
PART_BYTES = 1 << 20  # that are copied at a time
SEND_SECONDS = 600  # that sending a file may take
DRAIN_BYTES = 64_000_000  # that are taken of a file that is refused
DRAIN_SECONDS = 5.0
NAME_BYTES = 120


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


@asynccontextmanager
async def read_form(request: Request, files: int, fields: int) -> AsyncIterator[FormData]:
    """The form of a request; 400 for one that cannot be decoded."""
    form = request.form(max_files=files, max_fields=fields, max_part_size=FORM_BYTES)
    try:
        async with form as read:
            yield read
    except UnicodeError:  # the client names a charset that decodes nothing
        raise HTTPException(400, "the form cannot be decoded: send it as UTF-8") from None


def limit_body(request: Request, limit: int) -> Request:
    """A request whose body ends with an error when it is too large; at once if it says so itself."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > limit + FORM_BYTES:
        raise too_large(limit)
    return Request(request.scope, _counting(request.receive, limit))


def suffixes_of(head: bytes) -> tuple[str, ...]:
    """The suffixes that a file may have, by its first bytes."""
    for start, suffixes in SUFFIXES.items():
        if head.startswith(start):
            return suffixes
    if b"%PDF-" in head:  # readers take one with something before it
        return SUFFIXES[b"%PDF-"]
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return (".webp",)
    raise HTTPException(
        415, "this is none of PDF, PNG, JPEG, TIFF and WebP, whatever its name says"
    )


def clean_name(name: str, suffixes: tuple[str, ...]) -> str:
    """A name that is only a name: no folder, no control letters, no dot in front, and a suffix that fits."""
    last = re.split(r"[/\\]", name)[-1]
    printable = "".join(letter for letter in last if letter.isprintable())
    bare = printable.strip().lstrip(".")
    stem, suffix = os.path.splitext(bare)
    if suffix.lower() not in suffixes:
        stem, suffix = bare, suffixes[0]
    while len((stem + suffix).encode()) > NAME_BYTES:
        stem = stem[:-1]
    return (stem or "file") + suffix


def too_large(limit: int) -> HTTPException:
    """The answer to a file beyond the limit."""
    return HTTPException(413, f"a file is at most {limit / 1e6:,.1f} MB here")


async def drain(receive: Receive) -> None:
    """Take a little more of what is too large: who is cut off while sending does not read why."""
    taken = 0
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while taken < DRAIN_BYTES:
                message = await receive()
                taken += len(message.get("body", b""))
                if not message.get("more_body"):
                    return
    except TimeoutError:
        return


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


def _counting(receive: Receive, limit: int) -> Receive:
    """The messages of a body, until they are too much."""
    size = 0

    async def receive_counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit + FORM_BYTES:
            raise too_large(limit)
        return message

    return receive_counted
