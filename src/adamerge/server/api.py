"""The JSON API: the same answers as the pages give, for programs."""

import asyncio
import time
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from adamerge.server import openapi, show
from adamerge.server.jobs import Job, Jobs
from adamerge.server.library import Answer, Library
from adamerge.server.metrics import Metrics
from adamerge.server.office import Worker
from adamerge.server.params import Question, question, text
from adamerge.server.settings import Settings
from adamerge.server.upload import receive_file
from adamerge.store import Entry

VIEWING = 8  # pictures and inspections that may wait for each other


@dataclass(frozen=True)
class Parts:
    """What the endpoints work with; `jobs` is None where nothing can be uploaded.

    viewing  free places before the viewer: who waits for it holds a thread that others need
    """

    settings: Settings
    library: Library
    metrics: Metrics
    viewer: Worker
    jobs: Jobs | None
    viewing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(VIEWING))


def parts(request: Request) -> Parts:
    """What this server is made of."""
    found: Parts = request.app.state.parts
    return found


async def search(request: Request) -> Response:
    """GET /api/search: the best pages for a query."""
    asked = question(request.query_params)
    return show.Json(show.answer(await find(request, asked), asked.q, asked.where))


async def find(request: Request, asked: Question) -> Answer:
    """A search, counted and timed."""
    own = parts(request)
    start = time.perf_counter()
    answer = await own.library.search(asked)
    own.metrics.count("adamerge_searches_total")
    own.metrics.time("adamerge_search_seconds", time.perf_counter() - start)
    return answer


async def page(request: Request) -> Response:
    """GET /api/pages/{id}: what is stored of a page, and where a query matched on it."""
    library, q = parts(request).library, text(request.query_params, "q")
    entry = await entry_of(request)
    words, matches = await library.aside(lambda: library.why(entry, q)) if q else ([], ())
    return show.Json(show.page(entry, q, words, matches))


async def entry_of(request: Request) -> Entry:
    """The page that a path names."""
    library, id = parts(request).library, request.path_params["id"]
    if "\0" in id or not (entry := await library.aside(lambda: library.entry(id))):
        raise HTTPException(404, "the store has no such page")
    return entry


async def store(request: Request) -> Response:
    """GET /api/store: the numbers of the store."""
    library = parts(request).library
    return show.Json(await library.aside(library.facts))


async def jobs(request: Request) -> Response:
    """GET /api/index: the files that were uploaded since the server started."""
    return show.Json([show.job(job) for job in uploads(request).all()])


async def job(request: Request) -> Response:
    """GET /api/index/{job}: how far a file is."""
    if found := uploads(request).get(request.path_params["job"]):
        return show.Json(show.job(found))
    raise HTTPException(404, "there is no such upload")


async def index(request: Request) -> Response:
    """POST /api/index: a file to index; answered when it has arrived, before it is indexed."""
    return show.Json(show.job(await take(request)), 202)


async def take(request: Request) -> Job:
    """A file, received and put in line."""
    waiting, settings = uploads(request), parts(request).settings
    busy = HTTPException(
        503, "too many files wait to be indexed: try again later", {"retry-after": "30"}
    )
    if waiting.full():  # before it is sent
        raise busy
    if job := waiting.add(*await receive_file(request, waiting.folder, settings.max_upload)):
        return job
    raise busy


def uploads(request: Request) -> Jobs:
    """The files on their way, if there can be any."""
    if found := parts(request).jobs:
        return found
    raise HTTPException(403, "this server takes no uploads")


async def healthz(request: Request) -> Response:
    """GET /healthz: whether the store can be read."""
    library = parts(request).library
    await library.aside(lambda: len(library.store))
    return show.Json({"status": "ok"})


async def metrics(request: Request) -> Response:
    """GET /metrics: for Prometheus."""
    own = parts(request)
    facts = await own.library.aside(own.library.facts)
    now = {"adamerge_pages": facts["pages"], "adamerge_vectors": facts["stored"] + facts["extra"]}
    now |= {"adamerge_store_bytes": facts["bytes_in_all"] or 0}
    now |= {
        "adamerge_worker_starts_total": own.viewer.starts
        + (own.jobs.worker.starts if own.jobs else 0)
    }
    return PlainTextResponse(own.metrics.text(now), media_type="text/plain; version=0.0.4")


async def description(request: Request) -> Response:
    """GET /openapi.json: this API, for programs that write programs."""
    return show.Json(
        openapi.describe(bool(parts(request).jobs), bool(parts(request).settings.token))
    )
