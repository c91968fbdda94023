"""A file that a browser sends -> a file on disk: never more than allowed, never of a kind that nobody reads."""

import os
import re
from pathlib import Path
from secrets import token_hex

import anyio
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

from adamerge.server.jobs import ARRIVING

SIGNS = {  # how files begin -> the suffixes they may have
    b"%PDF-": (".pdf",),
    b"\x89PNG\r\n\x1a\n": (".png",),
    b"\xff\xd8\xff": (".jpg", ".jpeg"),
    b"II*\0": (".tif", ".tiff"),
    b"MM\0*": (".tif", ".tiff"),
}
HEAD = 1024  # bytes in which a PDF may begin
FORM = 65_536  # bytes that a form may have around its file
SECONDS = 600  # that sending one may take
DRAIN, DRAINING = 64_000_000, 5.0  # bytes and seconds that are taken of a file that is refused
LETTERS = 120  # of a name


async def receive_file(request: Request, folder: Path, limit: int) -> tuple[Path, str]:
    """The file of a form, under a name of ours, and the name it is to have."""
    counted = limited(request, limit)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with anyio.fail_after(SECONDS):
            async with counted.form(max_files=1, max_fields=4) as form:
                given = form.get("file")
                if not isinstance(given, UploadFile):
                    raise HTTPException(400, "send one file, in a form field called 'file'")
                suffix = sniff(await given.read(HEAD))
                name = clean(given.filename or "", suffix)
                await given.seek(0)
                return await _keep(given, folder / f".{token_hex(8)}.{ARRIVING}", limit), name
    except TimeoutError:
        raise HTTPException(408, f"a file has to arrive within {SECONDS} s") from None


def limited(request: Request, limit: int) -> Request:
    """A request whose body ends with an error when it is too large; at once if it says so itself."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > limit + FORM:
        raise too_large(limit)
    return Request(request.scope, _counted(request.receive, limit + FORM))


def sniff(head: bytes) -> tuple[str, ...]:
    """The suffixes of a file by its first bytes."""
    for sign, suffixes in SIGNS.items():
        if head.startswith(sign) or (sign == b"%PDF-" and sign in head):
            return suffixes
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return (".webp",)
    raise HTTPException(
        415, "this is none of PDF, PNG, JPEG, TIFF and WebP, whatever its name says"
    )


def clean(name: str, suffixes: tuple[str, ...]) -> str:
    """A name that is only a name: no folder, no control letters, no dot in front, and the suffix of what it is."""
    bare = re.split(r"[/\\]", name)[-1]
    bare = "".join(letter for letter in bare if letter.isprintable()).strip().lstrip(".")
    stem, suffix = os.path.splitext(bare)
    if suffix.lower() not in suffixes:
        stem, suffix = bare, suffixes[0]
    while len((stem + suffix).encode()) > LETTERS:
        stem = stem[:-1]
    return (stem or "file") + suffix


def too_large(limit: int) -> HTTPException:
    """The answer to a file beyond the limit."""
    return HTTPException(413, f"a file is at most {limit / 1e6:,.1f} MB here")


async def drain(receive: Receive) -> None:
    """Take a little more of what is too large: who is cut off while sending does not read why."""
    taken = 0
    with anyio.move_on_after(DRAINING):
        while taken < DRAIN:
            message = await receive()
            taken += len(message.get("body", b""))
            if not message.get("more_body"):
                return


async def _keep(given: UploadFile, path: Path, limit: int) -> Path:
    size = 0
    try:
        async with await anyio.open_file(path, "wb") as file:
            while part := await given.read(1 << 20):
                size += len(part)
                if size > limit:
                    raise too_large(limit)
                await file.write(part)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _counted(receive: Receive, limit: int) -> Receive:
    """What arrives, until it is too much."""
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise too_large(limit - FORM)
        return message

    return counted
