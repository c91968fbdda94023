"""The picture and the inspector of a page: a worker process makes both from the page's file."""

import asyncio
from base64 import b64decode
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from adamerge.errors import AdamergeError, BadInput, Busy
from adamerge.inspector import page_html
from adamerge.inspector.stored_page import file_of
from adamerge.server import operations
from adamerge.server.context import MAX_DRAWING, context_of
from adamerge.server.params import number, text
from adamerge.server.serialize import links
from adamerge.store import Entry

FULL_PIXELS = (0, 1_600, 3_200)  # on the longer side of a picture, by the number in ?full=
DRAW_SECONDS = 60.0  # that a picture or an inspection may take


async def picture(request: Request) -> Response:
    """A page's picture: drawn from its file with ?full=1, or larger with 2, if that is there; else the small one."""
    entry = await operations.find_entry(request)
    full = number(request.query_params, "full", 0, 0, len(FULL_PIXELS) - 1)
    headers = _cache_headers(entry, full)
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    if full:
        try:
            drawn = await _run_viewer(request, lambda: _render_task(entry, full))
            return Response(b64decode(drawn["image"]), media_type="image/webp", headers=headers)
        except (AdamergeError, OSError):
            pass  # the small one is better than none
    if not entry.thumbnail:
        raise HTTPException(404, "the store has no picture of this page")
    headers = _cache_headers(entry, full=0)
    return Response(entry.thumbnail, media_type="image/webp", headers=headers)


def _render_task(entry: Entry, full: int) -> dict[str, Any]:
    return {
        "do": "render",
        "path": str(file_of(entry)),
        "number": entry.number,
        "pixels": FULL_PIXELS[full],
    }


def _cache_headers(entry: Entry, full: int) -> dict[str, str]:
    """A browser keeps a picture, and asks each time whether it is still that of the page."""
    content = f"{entry.hash} {full} ".encode() + (entry.thumbnail or b"")
    tag = sha256(content).hexdigest()[:32]
    return {"cache-control": "private, no-cache", "etag": f'"{tag}"'}


async def inspect(request: Request) -> Response:
    """The inspector of a page, with a security policy of its own, in a sandbox without our origin."""
    context = context_of(request)
    q = text(request.query_params, "q")
    where = text(request.query_params, "where")
    entry = await operations.find_entry(request)
    if context.reader.encoder is None:
        raise BadInput("the store does not know which encoder made its pages")
    await asyncio.to_thread(file_of, entry)
    task = {
        "do": "inspect",
        "store": context.reader.where,
        "encoder": context.settings.encoder,
        "id": entry.id,
        "root": entry.root,
        "query": q.strip(),
        "back": links(entry.id, q, where)["page"],
    }
    inspection = await _run_viewer(request, lambda: task)
    policy = f"{page_html.policy()}; frame-ancestors 'none'; sandbox allow-scripts"
    return HTMLResponse(inspection["html"], headers={"content-security-policy": policy})


async def _run_viewer(request: Request, task: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The answer of the worker that draws pages; Busy if too many wait for it."""
    context = context_of(request)
    if context.drawing.running >= MAX_DRAWING:
        raise Busy("too many pages are being drawn: try again in a moment")
    return await context.drawing.run(lambda: context.viewer.run(task(), DRAW_SECONDS))
