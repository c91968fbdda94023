"""A server put together: its parts, how it starts and how it ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from starlette.applications import Starlette
from starlette.middleware import Middleware

from adamerge.server import health
from adamerge.server.context import Context
from adamerge.server.error_responses import HANDLERS
from adamerge.server.folder.indexer import FolderIndexer
from adamerge.server.metrics import Metrics
from adamerge.server.middleware.access import AccessControl
from adamerge.server.middleware.disconnect import CancelOnDisconnect
from adamerge.server.reader.store_reader import StoreReader
from adamerge.server.routes import routes
from adamerge.server.settings import Settings
from adamerge.server.uploads.job_queue import Job, UploadQueue
from adamerge.server.workers.client import WorkerClient


def make_context(settings: Settings, reader: StoreReader) -> Context:
    """The parts of the server of an open store; nothing runs before it is started."""
    metrics = Metrics()

    def on_end(job: Job) -> None:
        metrics.uploads.labels(job.state).inc()
        reader.forget_facts()

    viewer = WorkerClient(settings, on_start=metrics.worker_starts.inc)
    uploads = None
    if settings.uploads is not None and reader.encoder is not None:
        uploads = UploadQueue(
            WorkerClient(settings, on_start=metrics.worker_starts.inc),
            settings,
            settings.uploads,
            lambda: health.store_problem(reader, settings, writes=True),
            on_end,
        )
    folder = None
    if settings.folder is not None:
        patient = replace(settings.limits, silent_seconds=settings.limits.file_seconds)
        worker = WorkerClient(replace(settings, limits=patient), on_start=metrics.worker_starts.inc)
        folder = FolderIndexer(worker, settings, settings.folder, reader.forget_facts)
    return Context(settings, reader, metrics, viewer, uploads, folder)


def make_app(context: Context) -> Starlette:
    """The web application of a server."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        context.viewer.warm()
        if context.uploads:
            context.uploads.start()
        if context.folder:
            context.folder.start()
        yield
        context.viewer.close()
        if context.folder:
            context.folder.close()
        if context.uploads:
            context.uploads.close()
        context.reader.close()

    access = Middleware(
        AccessControl,
        settings=context.settings,
        metrics=context.metrics,
        wrong_tokens=context.wrong_tokens,
    )
    app = Starlette(
        routes=routes(),
        middleware=[access, Middleware(CancelOnDisconnect)],
        exception_handlers=HANDLERS,  # type: ignore[arg-type]
        lifespan=lifespan,
    )
    app.state.context = context
    return app
