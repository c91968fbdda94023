"""The page where people add files, and see what became of them."""

import asyncio

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adamerge.server import operations
from adamerge.server.context import context_of
from adamerge.server.uploads.checks import accepted_kinds, accepted_suffixes
from adamerge.server.web.rendering import render_template

FILES_AT_ONCE = 16  # of one form; a script sends each file by itself


async def add(request: Request) -> Response:
    """The form to add files, and what became of those that came before."""
    largest = context_of(request).settings.max_upload
    return render_template(
        request,
        "add.html",
        jobs=operations.upload_queue(request).all(),
        largest=largest,
        accepted=",".join(accepted_suffixes()),
        kinds=accepted_kinds(),
    )


async def list_jobs(request: Request) -> Response:
    """Only the list of uploads, which the script of /add loads again until all have ended."""
    return render_template(request, "jobs.html", jobs=operations.upload_queue(request).all())


async def upload(request: Request) -> Response:
    """Files from the form, of a browser without scripts."""
    await operations.receive_uploads(request, FILES_AT_ONCE)
    return RedirectResponse("/add", 303)


async def remove_job(request: Request) -> Response:
    """Forget an upload that has failed, and its file."""
    await asyncio.to_thread(operations.delete_upload, request)
    return RedirectResponse("/add", 303)
