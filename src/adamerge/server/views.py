"""The pages that people see, written here and not in the browser; scripts only make them nicer."""

import asyncio
from base64 import b64decode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.templating import Jinja2Templates

from adamerge.errors import AdamergeError, BadInput, WorkerLost
from adamerge.inspector import render
from adamerge.inspector.stored import file_of
from adamerge.server import openapi, show
from adamerge.server.api import entry_of, find, parts, take, uploads
from adamerge.server.guard import COOKIE, GUESS, pass_of
from adamerge.server.params import question, text
from adamerge.server.upload import limited
from adamerge.store import Entry, Store

HERE = Path(__file__).parent
LOOK = 60.0  # seconds that a picture or an inspection may take


def bytes_of(count: int | None) -> str:
    """Bytes as a person reads them."""
    if count is None:
        return "unknown"
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


TEMPLATES = Jinja2Templates(HERE / "templates")
TEMPLATES.env.filters |= {"bytes": bytes_of, "links": show.links}
TEMPLATES.env.trim_blocks = TEMPLATES.env.lstrip_blocks = True


def draw(request: Request, name: str, status: int = 200, **values: Any) -> Response:
    """A page from its template; everything put into it is escaped."""
    settings = parts(request).settings
    about = {
        "store": settings.title,
        "token": bool(settings.token),
        "uploads": parts(request).jobs is not None,
    }
    return TEMPLATES.TemplateResponse(request, name, about | values, status)


async def home(request: Request) -> Response:
    """The search box, and what was found."""
    library, given = parts(request).library, request.query_params
    facts = await library.aside(library.facts)
    if not given.get("q", "").strip():
        return draw(request, "search.html", facts=facts, q="", where=given.get("where", "")[:1000])
    try:
        asked = question(given)
        found = show.answer(await find(request, asked), asked.q, asked.where)
    except BadInput as error:
        shown = {"q": given["q"][:1000], "where": given.get("where", "")[:1000]}
        return draw(request, "search.html", 400, facts=facts, error=str(error), **shown)
    return draw(request, "search.html", facts=facts, found=found, q=asked.q, where=asked.where)


async def page(request: Request) -> Response:
    """A page, with what each word of a query matched on it."""
    library, q, where = (
        parts(request).library,
        *(text(request.query_params, name) for name in ("q", "where")),
    )
    entry = await entry_of(request)
    words, matches = await library.aside(lambda: library.why(entry, q)) if q.strip() else ([], ())
    there = await run_in_threadpool(library.has_file, entry)
    before, after = await library.aside(lambda: _beside(library.store, entry))
    shown = show.page(entry, q, words, matches, where)
    return draw(
        request, "page.html", page=shown, q=q, where=where, there=there, before=before, after=after
    )


def _beside(store: Store, entry: Entry) -> list[str | None]:
    """The ids of the pages before and after one; those of its file that are not in the store are passed over."""
    ids = [f"{entry.source}#{number}" for number in range(1, entry.pages + 1)]
    sides = [ids[: entry.number - 1][::-1], ids[entry.number :]]
    there = {found.id for found in store.get([side[0] for side in sides if side])}
    if any(
        side and side[0] not in there for side in sides
    ):  # else there is no need to look at the whole file
        there = {
            id
            for name, source in store.sources().items()
            if name == entry.source
            for id in source.ids
        }
    return [next((id for id in side if id in there), None) for side in sides]


async def picture(request: Request) -> Response:
    """A page's picture: drawn from its file with ?full=1 if that is there, else the small one of the store."""
    entry = await entry_of(request)
    full = bool(request.query_params.get("full"))
    if request.headers.get("if-none-match") == _kept(entry, full)["etag"]:
        return Response(status_code=304, headers=_kept(entry, full))
    if full:
        try:
            found = await _ask(
                request,
                lambda: {"do": "render", "path": str(file_of(entry)), "number": entry.number},
            )
            return Response(
                b64decode(found["image"]), media_type="image/webp", headers=_kept(entry, full)
            )
        except (AdamergeError, OSError):
            pass  # the small one is better than none
    if not entry.thumbnail:
        raise HTTPException(404, "the store has no picture of this page")
    return Response(entry.thumbnail, media_type="image/webp", headers=_kept(entry, full=False))


def _kept(entry: Entry, full: bool) -> dict[str, str]:
    """A browser keeps a picture, and asks each time whether it is still that of the page."""
    tag = sha256(f"{entry.hash} {full} ".encode() + (entry.thumbnail or b"")).hexdigest()[:32]
    return {"cache-control": "private, no-cache", "etag": f'"{tag}"'}


async def inspect(request: Request) -> Response:
    """The inspector of a page, in a policy of its own and an origin of nobody's."""
    library, q, where = (
        parts(request).library,
        *(text(request.query_params, name) for name in ("q", "where")),
    )
    entry = await entry_of(request)
    if library.encoder is None:
        raise BadInput("the store does not know which encoder made its pages")
    await run_in_threadpool(file_of, entry)
    task = {"do": "inspect", "store": library.where, "id": entry.id, "query": q.strip()}
    task |= {"encoder": parts(request).settings.encoder}
    task |= {"back": show.links(entry.id, q, where)["page"]}
    found = await _ask(request, lambda: task)
    policy = f"{render.policy()}; frame-ancestors 'none'; sandbox allow-scripts"
    return HTMLResponse(found["html"], headers={"content-security-policy": policy})


async def _ask(request: Request, task: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    own = parts(request)
    if own.viewing.locked():
        raise WorkerLost("too many pages are being drawn: try again in a moment")
    async with own.viewing:
        return await run_in_threadpool(lambda: own.viewer.do(task(), LOOK))


async def add(request: Request) -> Response:
    """The form to add files, and what became of those that came before."""
    return draw(
        request, "add.html", jobs=uploads(request).all(), largest=parts(request).settings.max_upload
    )


async def jobs(request: Request) -> Response:
    """The list of that page alone, for its script to put in place of the one it has."""
    return draw(request, "jobs.html", jobs=uploads(request).all())


async def send(request: Request) -> Response:
    """A file from the form, of a browser without scripts."""
    await take(request)
    return RedirectResponse("/add", 303)


async def docs(request: Request) -> Response:
    """The API, to read."""
    return draw(
        request,
        "docs.html",
        api=openapi.describe(bool(parts(request).jobs), bool(parts(request).settings.token)),
    )


async def login(request: Request) -> Response:
    """Where a browser gives the token, once."""
    return draw(request, "login.html")


async def enter(request: Request) -> Response:
    """Take the token and give a cookie for it, that only this server gets and no script reads."""
    settings = parts(request).settings
    async with limited(request, 0).form(max_files=0, max_fields=2, max_part_size=4096) as form:
        given = str(form.get("token", ""))
    if not settings.is_token(given):
        await asyncio.sleep(GUESS)
        return draw(request, "login.html", 403, error="That is not the token.")
    answer = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"
    answer.set_cookie(
        COOKIE,
        pass_of(settings.token),
        httponly=True,
        samesite="lax",
        secure=secure,
        max_age=30 * 86400,
    )
    return answer
