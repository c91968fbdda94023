"""The routes of the server, and how it starts and ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from adamerge.errors import AdamergeError, BadFile, BadInput, WorkerLost
from adamerge.server import api, views
from adamerge.server.api import Parts
from adamerge.server.guard import Guard, told
from adamerge.server.jobs import Job, Jobs
from adamerge.server.library import Library
from adamerge.server.metrics import Metrics
from adamerge.server.office import Worker
from adamerge.server.settings import Settings
from adamerge.server.upload import drain
from adamerge.server.words import said

THEME = (
    "adamerge.inspector",
    "theme",
)  # the folder of style and script that it shares with these pages
STATUS = {BadInput: 400, BadFile: 404, WorkerLost: 503}  # of our errors; any other is the store's


def make_app(settings: Settings, library: Library) -> Starlette:
    """The server of an open store; nothing runs before it is started."""
    metrics = Metrics()
    viewer, indexer = (Worker(settings.worker, settings.memory, settings.seconds) for _ in range(2))
    folder = settings.uploads

    def ended(job: Job) -> None:
        metrics.count("adamerge_uploads_total", state=job.state)
        library.stale()

    can_index = folder is not None and library.encoder is not None
    jobs = Jobs(indexer, settings, folder, ended) if folder and can_index else None

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        viewer.warm()
        if jobs:
            jobs.start()
        yield
        viewer.close()
        if jobs:
            jobs.close()
        library.close()

    guard = Middleware(Guard, settings=settings, metrics=metrics)
    errors = {HTTPException: refused, AdamergeError: wrong, ClientDisconnect: left}
    app = Starlette(routes=routes(), middleware=[guard], exception_handlers=errors, lifespan=life)  # type: ignore[arg-type]
    app.state.parts = Parts(settings, library, metrics, viewer, jobs)
    return app


def routes() -> list[Route | Mount]:
    """What there is."""
    return [
        Route("/", views.home),
        Route("/page/{id:path}", views.page),
        Route("/picture/{id:path}", views.picture),
        Route("/inspect/{id:path}", views.inspect),
        Route("/add", views.add, methods=["GET"]),
        Route("/add", views.send, methods=["POST"]),
        Route("/add/jobs", views.jobs),
        Route("/docs", views.docs),
        Route("/login", views.login, methods=["GET"]),
        Route("/login", views.enter, methods=["POST"]),
        Route("/api/search", api.search),
        Route("/api/pages/{id:path}", api.page),
        Route("/api/store", api.store),
        Route("/api/index", api.jobs, methods=["GET"]),
        Route("/api/index", api.index, methods=["POST"]),
        Route("/api/index/{job}", api.job),
        Route("/openapi.json", api.description),
        Route("/healthz", api.healthz),
        Route("/metrics", api.metrics),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static", packages=[THEME])),
    ]


async def refused(request: Request, error: HTTPException) -> Response:
    """An error of a request: a page for people, JSON for programs."""
    if error.status_code == 413:
        await drain(request.receive)
    return problem(request, error.status_code, error.detail, dict(error.headers or {}))


def wrong(request: Request, error: AdamergeError) -> Response:
    """One of our errors: what was asked makes no sense, or the store cannot answer now."""
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 503)
    return problem(request, status, said(error))


def left(request: Request, error: ClientDisconnect) -> Response:
    """Who hung up while sending reads nothing more; it is counted as their mistake, not as ours."""
    return told(400, "the request did not arrive whole")


def problem(
    request: Request, status: int, words: str, headers: dict[str, str] | None = None
) -> Response:
    """What went wrong, in words."""
    if request.url.path.startswith("/api/") or "text/html" not in request.headers.get("accept", ""):
        return told(status, words, headers)
    answer = views.draw(request, "problem.html", status, problem=words, code=status)
    answer.headers.update(headers or {})
    return answer
