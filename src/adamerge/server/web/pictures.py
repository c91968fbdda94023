"""The picture and the inspector of a page: a worker process makes both from the page's file."""

import asyncio
from hashlib import sha256

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from adamerge.errors import AdamergeError, BadInput
from adamerge.inspector import page_html
from adamerge.inspector.stored_page import file_of
from adamerge.server import operations
from adamerge.server.context import context_of
from adamerge.server.page_drawing import PIXELS, draw_page, run_viewer
from adamerge.server.params import number, text
from adamerge.server.serialize import links
from adamerge.store import Entry

FULL_PIXELS = (0, PIXELS, 2 * PIXELS)  # on the longer side of a picture, by the number in ?full=


async def picture(request: Request) -> Response:
    """A page's picture: drawn from its file with ?full=1, or larger with 2, if that is there; else the small one."""
    entry = await operations.find_entry(request)
    full = number(request.query_params, "full", 0, 0, len(FULL_PIXELS) - 1)
    headers = _cache_headers(entry, full)
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    if full:
        try:
            drawn = await draw_page(context_of(request), entry, pixels=FULL_PIXELS[full])
            return Response(drawn, media_type="image/webp", headers=headers)
        except (AdamergeError, OSError):
            pass  # the small one is better than none
    if not entry.thumbnail:
        raise HTTPException(404, "the store has no picture of this page")
    headers = _cache_headers(entry, full=0)
    return Response(entry.thumbnail, media_type="image/webp", headers=headers)


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
        "password": context.settings.password,
        "query": q.strip(),
        "back": links(entry.id, q, where)["page"],
    }
    inspection = await run_viewer(context, lambda: task)
    policy = f"{page_html.TEMPLATE.policy}; frame-ancestors 'none'; sandbox allow-scripts"
    return HTMLResponse(inspection["html"], headers={"content-security-policy": policy})
