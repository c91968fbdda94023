"""What pages and API do alike: search, find a page, receive a file, find and delete a job."""

import asyncio
import time

from starlette.exceptions import HTTPException
from starlette.requests import Request

from adamerge.errors import Busy
from adamerge.server.context import context_of
from adamerge.server.params import SearchQuery
from adamerge.server.reader.store_reader import SearchResult, SearchTimeout
from adamerge.server.uploads.job_queue import Job, UploadQueue
from adamerge.server.uploads.receive import receive_file
from adamerge.store import Entry


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


async def receive_upload(request: Request) -> Job:
    """Receive a file and put it in line; once this returns, the file is not lost."""
    uploads = upload_queue(request)
    await asyncio.to_thread(uploads.check_open)  # before it is sent
    max_upload = context_of(request).settings.max_upload
    file, name = await receive_file(request, uploads.folder, max_upload)
    return await asyncio.to_thread(uploads.add, file, name)


def delete_upload(request: Request) -> None:
    """Remove a job that has ended, and the file of one that failed."""
    job = find_job(request)
    if not job.ended:
        raise HTTPException(409, "the file is still on its way: wait until it is done or failed")
    upload_queue(request).delete(job.id)
