"""The routes of the server, how it starts and ends, and what becomes of errors."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from adamerge.errors import AdamergeError, outcome
from adamerge.server import health
from adamerge.server.access import HEADERS, AccessControl, error_response
from adamerge.server.api import endpoints as api
from adamerge.server.context import Context, context_of
from adamerge.server.disconnect import CancelOnDisconnect
from adamerge.server.disk import disk_error
from adamerge.server.metrics import Metrics
from adamerge.server.redact import redact
from adamerge.server.settings import Settings
from adamerge.server.store_reader import StoreReader
from adamerge.server.web import views
from adamerge.server.workers.client import WorkerClient
from adamerge.server.workers.receive import drain
from adamerge.server.workers.upload_queue import Job, UploadQueue

STATIC = Path(__file__).parent / "web" / "static"
THEME = ("adamerge.inspector", "web/theme")  # style and script that the inspector shares with us
RETRY_SECONDS = "5"  # what is not possible now may be then


def make_context(settings: Settings, reader: StoreReader) -> Context:
    """The parts of the server of an open store; nothing runs before it is started."""
    metrics = Metrics()

    def on_end(job: Job) -> None:
        metrics.count("adamerge_uploads_total", state=job.state)
        reader.forget_facts()

    uploads = None
    if settings.uploads is not None and reader.encoder is not None:
        uploads = UploadQueue(
            WorkerClient(settings),
            settings,
            settings.uploads,
            lambda: health.store_problem(reader, settings, writes=True),
            on_end,
        )
    return Context(settings, reader, metrics, WorkerClient(settings), uploads)


def make_app(context: Context) -> Starlette:
    """The web application of a server."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        context.viewer.warm()
        if context.uploads:
            context.uploads.start()
        yield
        context.viewer.close()
        if context.uploads:
            context.uploads.close()
        context.reader.close()

    access = Middleware(
        AccessControl,
        settings=context.settings,
        metrics=context.metrics,
        wrong_tokens=context.wrong_tokens,
    )
    handlers: dict[type[Exception], Callable[..., object]] = {
        HTTPException: on_refusal,
        AdamergeError: on_error,
        OSError: on_disk_error,
        ClientDisconnect: on_disconnect,
        Exception: on_mistake,
    }
    app = Starlette(
        routes=routes(),
        middleware=[access, Middleware(CancelOnDisconnect)],
        exception_handlers=handlers,  # type: ignore[arg-type]
        lifespan=lifespan,
    )
    app.state.context = context
    return app


def routes() -> list[Route | Mount]:
    """Every address of the server."""
    return [
        Route("/", views.home),
        Route("/page/{id:path}", views.show_page),
        Route("/picture/{id:path}", views.picture),
        Route("/inspect/{id:path}", views.inspect),
        Route("/add", views.add, methods=["GET"]),
        Route("/add", views.upload, methods=["POST"]),
        Route("/add/jobs", views.list_jobs),
        Route("/add/{job}/remove", views.remove_job, methods=["POST"]),
        Route("/docs", views.docs),
        Route("/login", views.login, methods=["GET"]),
        Route("/login", views.check_login, methods=["POST"]),
        Route("/api/search", api.search),
        Route("/api/pages/{id:path}", api.page),
        Route("/api/store", api.store),
        Route("/api/index", api.jobs, methods=["GET"]),
        Route("/api/index", api.index, methods=["POST"]),
        Route("/api/index/{job}", api.job, methods=["GET"]),
        Route("/api/index/{job}", api.delete_job, methods=["DELETE"]),
        Route("/api/index/{job}/file", api.job_file),
        Route("/openapi.json", api.description),
        Route("/healthz", api.healthz),
        Route("/metrics", api.metrics),
        Mount("/static", StaticFiles(directory=STATIC, packages=[THEME])),
    ]


async def on_refusal(request: Request, error: HTTPException) -> Response:
    """A request that is refused."""
    if error.status_code == 413:
        await drain(request.receive)
    return _problem(request, error.status_code, error.detail, dict(error.headers or {}))


def on_error(request: Request, error: AdamergeError) -> Response:
    """One of our errors: the table in errors.py knows its status."""
    words = redact(error, *context_of(request).settings.private_folders)
    return _problem(request, outcome(error).status, words)


def on_disk_error(request: Request, error: OSError) -> Response:
    """A disk that cannot be read or written now."""
    return _problem(request, 503, f"disk error: {disk_error(error)}")


def on_disconnect(request: Request, error: ClientDisconnect) -> Response:
    """A client that hung up while it was sending reads nothing more; it counts as its mistake, not as ours."""
    return error_response(400, "the request did not arrive whole")


def on_mistake(request: Request, error: Exception) -> Response:
    """A mistake of ours: the log has the traceback. No other middleware sees this answer."""
    words = "this did not work, by a mistake of the server: its log says more"
    return _problem(request, 500, words, dict(HEADERS))


def _problem(
    request: Request, status: int, words: str, headers: dict[str, str] | None = None
) -> Response:
    """What went wrong, in words: a page for people, JSON for programs."""
    headers = headers or {}
    if status == 503:
        headers.setdefault("retry-after", RETRY_SECONDS)
    wants_page = "text/html" in request.headers.get("accept", "")
    if request.url.path.startswith("/api/") or not wants_page:
        return error_response(status, words, headers)
    answer = views.draw(request, "problem.html", status, problem=words, code=status)
    answer.headers.update(headers)
    return answer
