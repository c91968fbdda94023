"""The JSON API: the same answers as the pages give, for programs."""

import asyncio
from dataclasses import asdict

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from adamerge.errors import StoreUnavailable
from adamerge.server import health, operations
from adamerge.server.context import context_of
from adamerge.server.params import search_query, text
from adamerge.server.serialize import (
    Json,
    serialize_file,
    serialize_job,
    serialize_page,
    serialize_search,
)


async def search(request: Request) -> Response:
    """GET /api/search: the best pages for a query."""
    query = search_query(request.query_params)
    result = await operations.search(request, query)
    return Json(serialize_search(result, query))


async def page(request: Request) -> Response:
    """GET /api/pages/{id}: what is stored of a page, and where a query matched on it."""
    reader = context_of(request).reader
    q = text(request.query_params, "q")
    entry = await operations.find_entry(request)
    words, matches = await reader.run(lambda: reader.matches(entry, q))
    return Json(serialize_page(entry, q, words, matches))


async def store(request: Request) -> Response:
    """GET /api/store: the numbers of the store."""
    reader = context_of(request).reader
    return Json(await reader.run(reader.facts))


async def files(request: Request) -> Response:
    """GET /api/files: the files of the store."""
    reader = context_of(request).reader
    return Json([serialize_file(file) for file in await reader.run(reader.files)])


async def remove_file(request: Request) -> Response:
    """DELETE /api/files/{source}: remove the pages of a file from the store."""
    await operations.remove_file(request, request.path_params["source"])
    return Response(status_code=204)


async def folder(request: Request) -> Response:
    """GET /api/folder: how far the store of the folder is that is served."""
    if indexer := context_of(request).folder:
        return Json(asdict(indexer.state))
    raise HTTPException(404, "this server serves a store, not a folder")


async def jobs(request: Request) -> Response:
    """GET /api/index: the files that were uploaded since the server started, and those that failed before."""
    return Json([serialize_job(job) for job in operations.upload_queue(request).all()])


async def job(request: Request) -> Response:
    """GET /api/index/{job}: how far a file is."""
    return Json(serialize_job(operations.find_job(request)))


async def index(request: Request) -> Response:
    """POST /api/index: a file to index; answered when it has arrived, before it is indexed."""
    (job,) = await operations.receive_uploads(request)
    return Json(serialize_job(job), 202)


async def job_file(request: Request) -> Response:
    """GET /api/index/{job}/file: the bytes of a file that failed."""
    found = operations.find_job(request)
    path = operations.upload_queue(request).failed_file(found)
    if path is None:
        raise HTTPException(404, "only the file of an upload that failed can be fetched back")
    return FileResponse(path, media_type="application/octet-stream", filename=found.name)


async def delete_job(request: Request) -> Response:
    """DELETE /api/index/{job}: forget an upload that has ended, and the file of one that failed."""
    await asyncio.to_thread(operations.delete_upload, request)
    return Response(status_code=204)


async def healthz(request: Request) -> Response:
    """GET /healthz: whether the store can be read and, where files can be added, written."""
    problem = await asyncio.to_thread(_problem, request)
    if problem:
        raise StoreUnavailable(problem)
    return Json({"status": "ok"})


def _problem(request: Request) -> str:
    context = context_of(request)
    uploads = context.uploads
    problem = health.store_problem(context.reader, context.settings, writes=uploads is not None)
    if problem or uploads is None or uploads.waits_for_another_server:
        return problem
    return uploads.problem()


async def metrics(request: Request) -> Response:
    """GET /metrics: for Prometheus."""
    context = context_of(request)
    reader = context.reader
    facts = await reader.run(reader.facts)
    context.metrics.pages.set(facts["pages"])
    context.metrics.vectors.set(facts["stored"] + facts["extra"])
    context.metrics.store_bytes.set(facts["bytes_in_all"] or 0)
    context.metrics.searches_waiting.set(reader.searches.waiting)
    context.metrics.search_batches_running.set(reader.searches.running)
    return PlainTextResponse(context.metrics.text(), media_type="text/plain; version=0.0.4")


async def description(request: Request) -> Response:
    """GET /openapi.json: this API, for programs that write programs."""
    context = context_of(request)
    return Json(operations.describe_api(context))
