"""What pages and API do alike: search, find a page, remove a file, receive one, find and delete a job."""

import asyncio
import time
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from adamerge.errors import Busy, did_you_mean
from adamerge.server import openapi
from adamerge.server.context import Context, context_of
from adamerge.server.page_drawing import run_viewer
from adamerge.server.params import SearchQuery
from adamerge.server.reader.store_reader import SearchResult, SearchTimeout
from adamerge.server.uploads.job_queue import Job, UploadQueue
from adamerge.server.uploads.receive import receive_files
from adamerge.store import Entry
from adamerge.store.entry import Source


async def search(request: Request, query: SearchQuery) -> SearchResult:
    """The best pages for a query, counted and timed."""
    context = context_of(request)
    start = time.perf_counter()
    try:
        result = await context.reader.search(query)
    except Busy as error:
        reason = "too_long" if isinstance(error, SearchTimeout) else "busy"
        context.metrics.searches_unanswered.labels(reason).inc()
        raise
    except asyncio.CancelledError:
        context.metrics.searches_unanswered.labels("hung_up").inc()
        raise
    context.metrics.searches.inc()
    context.metrics.search_seconds.observe(time.perf_counter() - start)
    return result


def describe_api(context: Context) -> dict[str, Any]:
    """The API of this server, as OpenAPI describes it."""
    return openapi.describe(
        uploads=context.uploads is not None,
        token=bool(context.settings.token),
        folder=context.folder is not None,
    )


async def find_entry(request: Request) -> Entry:
    """The page that the path of a request names."""
    reader = context_of(request).reader
    id = request.path_params["id"]
    entry = None
    if "\0" not in id:
        entry = await reader.run(lambda: reader.entry(id))
    if entry is None:
        raise HTTPException(404, "the store has no such page")
    return entry


async def check_removable(request: Request, source: str) -> Source:
    """The file of a name, if visitors may remove it; an error says why they may not."""
    context = context_of(request)
    if context.uploads is None:
        raise HTTPException(403, "this server takes no uploads: its files cannot be removed either")
    sources = await context.reader.run(context.reader.sources)
    known = sources.get(source)
    if known is None:
        raise HTTPException(404, f"the store has no such file{did_you_mean(source, sources)}")
    if context.folder is not None and context.folder.holds(known.root):
        raise HTTPException(
            409, "the file lies in the folder that is served: remove it from the folder"
        )
    return known


async def remove_file(request: Request, source: str) -> None:
    """Remove all pages of a file from the store; the file itself only if it was uploaded."""
    known = await check_removable(request, source)
    context = context_of(request)
    task = {
        "do": "delete",
        "store": context.settings.store,
        "encoder": context.settings.encoder,
        "source": source,
        "root": known.root,
    }
    await run_viewer(context, lambda: task)
    context.reader.forget_facts()

    folder = upload_queue(request).folder
    if Path(known.root) == folder.root.resolve():
        await asyncio.to_thread(folder.delete, source)


def upload_queue(request: Request) -> UploadQueue:
    """The files on their way, if this server takes any."""
    if uploads := context_of(request).uploads:
        return uploads
    raise HTTPException(403, "this server takes no uploads")


def find_job(request: Request) -> Job:
    """The upload that the path of a request names."""
    if job := upload_queue(request).get(request.path_params["job"]):
        return job
    raise HTTPException(404, "there is no such upload")


async def receive_uploads(request: Request, most: int = 1) -> list[Job]:
    """Receive files, `most` of them at most, and put them in line; once this returns, no file is lost."""
    uploads = upload_queue(request)
    await asyncio.to_thread(uploads.check_open)  # before they are sent
    max_upload = context_of(request).settings.max_upload
    received = await receive_files(request, uploads.folder, max_upload, most)
    jobs = []
    try:
        for path, name in received:
            jobs.append(await asyncio.to_thread(uploads.add, path, name))
    finally:
        for path, _ in received:  # of those that found no place in the line any more
            path.unlink(missing_ok=True)
    return jobs


def delete_upload(request: Request) -> None:
    """Remove a job that has ended, and the file of one that failed."""
    job = find_job(request)
    if not job.ended:
        raise HTTPException(409, "the file is still on its way: wait until it is done or failed")
    upload_queue(request).delete(job.id)
