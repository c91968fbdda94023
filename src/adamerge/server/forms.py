"""Forms that clients send: never more bytes than allowed, decoded or refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

FORM_BYTES = 65_536  # that a form may have around its file
DRAIN_BYTES = 64_000_000  # that are read of a file that is refused
DRAIN_SECONDS = 5.0


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


def too_large(limit: int) -> HTTPException:
    """The answer to a file beyond the limit."""
    return HTTPException(413, f"a file is at most {limit / 1e6:,.1f} MB here")


async def drain(receive: Receive) -> None:
    """Read on for a moment after a refusal: a client that is cut off while it sends does not read why."""
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
