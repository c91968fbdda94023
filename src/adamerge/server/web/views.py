"""The pages that people see, written here and not in the browser; scripts only make them nicer."""

import asyncio
from base64 import b64decode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.templating import Jinja2Templates

from adamerge.errors import AdamergeError, BadInput, Busy
from adamerge.inspector import page_html
from adamerge.inspector.stored_page import file_of
from adamerge.server import context as shared
from adamerge.server import openapi
from adamerge.server.access import COOKIE, address_of, cookie_value, too_many_tokens
from adamerge.server.context import MAX_DRAWING, context_of
from adamerge.server.params import MAX_LETTERS, search_query, text
from adamerge.server.redact import redact
from adamerge.server.serialize import links, serialize_page, serialize_search
from adamerge.server.workers.receive import limit_body, read_form
from adamerge.store import Entry, Store

TEMPLATES_FOLDER = Path(__file__).parent / "templates"
DRAW_SECONDS = 60.0  # that a picture or an inspection may take
LOGIN_SECONDS = 30.0  # that a login form may take to arrive
COOKIE_SECONDS = 30 * 86400


def bytes_of(count: int | None) -> str:
    """Bytes as a person reads them."""
    if count is None:
        return "unknown"
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


TEMPLATES = Jinja2Templates(TEMPLATES_FOLDER)
TEMPLATES.env.filters |= {"bytes": bytes_of, "links": links}
TEMPLATES.env.trim_blocks = True
TEMPLATES.env.lstrip_blocks = True


def draw(request: Request, name: str, status: int = 200, **values: Any) -> Response:
    """A page from its template; everything put into it is escaped."""
    context = context_of(request)
    about = {
        "store": context.settings.title,
        "token": bool(context.settings.token),
        "uploads": context.uploads is not None,
    }
    return TEMPLATES.TemplateResponse(request, name, about | values, status)


async def home(request: Request) -> Response:
    """The search box, and what was found."""
    reader = context_of(request).reader
    given = request.query_params
    facts = await reader.run(reader.facts)
    where = given.get("where", "")[:MAX_LETTERS]
    if not given.get("q", "").strip():
        return draw(request, "search.html", facts=facts, q="", where=where)
    try:
        query = search_query(given)
        found = serialize_search(await shared.search(request, query), query)
    except BadInput as error:
        shown = {"q": given["q"][:MAX_LETTERS], "where": where}
        words = redact(error, *context_of(request).settings.private_folders)
        return draw(request, "search.html", 400, facts=facts, error=words, **shown)
    return draw(request, "search.html", facts=facts, found=found, q=query.text, where=query.where)


async def show_page(request: Request) -> Response:
    """A page, with what each word of a query matched on it."""
    reader = context_of(request).reader
    q = text(request.query_params, "q")
    where = text(request.query_params, "where")
    entry = await shared.find_entry(request)
    words, matches = await reader.run(lambda: reader.matches(entry, q))
    has_file = await asyncio.to_thread(reader.has_file, entry)
    before, after = await reader.run(lambda: _neighbours(reader.store, entry))
    return draw(
        request,
        "page.html",
        page=serialize_page(entry, q, words, matches, where),
        q=q,
        where=where,
        there=has_file,
        before=before,
        after=after,
    )


def _neighbours(store: Store, entry: Entry) -> tuple[str | None, str | None]:
    """The ids of the pages before and after one; those of its file that are not in the store are passed over."""
    ids = [f"{entry.source}#{number}" for number in range(1, entry.pages + 1)]
    before = ids[: entry.number - 1][::-1]
    after = ids[entry.number :]
    nearest = before[:1] + after[:1]
    there = {found.id for found in store.get(nearest)}
    if len(there) < len(nearest):  # else there is no need to look at the whole file
        source = store.sources().get(entry.source)
        there = set(source.hashes) if source else set()
    return _first_of(before, there), _first_of(after, there)


def _first_of(ids: list[str], there: set[str]) -> str | None:
    return next((id for id in ids if id in there), None)


async def picture(request: Request) -> Response:
    """A page's picture: drawn from its file with ?full=1 if that is there, else the small one of the store."""
    entry = await shared.find_entry(request)
    full = bool(request.query_params.get("full"))
    headers = _cache_headers(entry, full)
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    if full:
        try:
            drawn = await _run_viewer(request, lambda: _render_task(entry))
            return Response(b64decode(drawn["image"]), media_type="image/webp", headers=headers)
        except (AdamergeError, OSError):
            pass  # the small one is better than none
    if not entry.thumbnail:
        raise HTTPException(404, "the store has no picture of this page")
    headers = _cache_headers(entry, full=False)
    return Response(entry.thumbnail, media_type="image/webp", headers=headers)


def _render_task(entry: Entry) -> dict[str, Any]:
    return {"do": "render", "path": str(file_of(entry)), "number": entry.number}


def _cache_headers(entry: Entry, full: bool) -> dict[str, str]:
    """A browser keeps a picture, and asks each time whether it is still that of the page."""
    content = f"{entry.hash} {full} ".encode() + (entry.thumbnail or b"")
    tag = sha256(content).hexdigest()[:32]
    return {"cache-control": "private, no-cache", "etag": f'"{tag}"'}


async def inspect(request: Request) -> Response:
    """The inspector of a page, in a policy of its own and an origin of nobody's."""
    context = context_of(request)
    q = text(request.query_params, "q")
    where = text(request.query_params, "where")
    entry = await shared.find_entry(request)
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


async def add(request: Request) -> Response:
    """The form to add files, and what became of those that came before."""
    largest = context_of(request).settings.max_upload
    return draw(request, "add.html", jobs=shared.upload_queue(request).all(), largest=largest)


async def list_jobs(request: Request) -> Response:
    """The list of that page alone, for its script to put in place of the one it has."""
    return draw(request, "jobs.html", jobs=shared.upload_queue(request).all())


async def upload(request: Request) -> Response:
    """A file from the form, of a browser without scripts."""
    await shared.receive_upload(request)
    return RedirectResponse("/add", 303)


async def remove_job(request: Request) -> Response:
    """Forget an upload that has failed, and its file."""
    await asyncio.to_thread(shared.delete_upload, request)
    return RedirectResponse("/add", 303)


async def docs(request: Request) -> Response:
    """The API, to read."""
    context = context_of(request)
    uploads, token = context.uploads is not None, bool(context.settings.token)
    return draw(request, "docs.html", api=openapi.describe(uploads=uploads, token=token))


async def login(request: Request) -> Response:
    """Where a browser gives the token, once."""
    return draw(request, "login.html")


async def check_login(request: Request) -> Response:
    """Take the token and give a cookie for it, that only this server gets and no script reads."""
    context = context_of(request)
    given = await _token_of_form(request)
    if not context.settings.is_token(given):
        if not await context.wrong_tokens.delay(address_of(request)):
            return too_many_tokens()
        return draw(request, "login.html", 403, error="That is not the token.")
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        COOKIE,
        cookie_value(context.settings.token),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        max_age=COOKIE_SECONDS,
    )
    return answer


async def _token_of_form(request: Request) -> str:
    limited = limit_body(request, 0)
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            async with read_form(limited, files=0, fields=2) as form:
                return str(form.get("token", ""))
    except TimeoutError:
        raise HTTPException(408, "the form took too long to arrive") from None
