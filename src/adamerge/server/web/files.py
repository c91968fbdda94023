"""The pages about files: what is in the store, how far the folder is, and the question before a file is removed."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adamerge.server import operations
from adamerge.server.context import Context, context_of
from adamerge.server.forms import limit_body, read_form
from adamerge.server.params import number, text
from adamerge.server.serialize import serialize_file
from adamerge.server.web.rendering import render_template
from adamerge.store.contents import StoredFile

AT_ONCE = 200  # files on a page


async def show_files(request: Request) -> Response:
    """The files of the store in the order of their names."""
    context = context_of(request)
    reader = context.reader
    all_files = await reader.run(reader.files)
    first = number(request.query_params, "from", 1, 1, max(len(all_files), 1))
    shown = all_files[first - 1 : first - 1 + AT_ONCE]
    after = first + AT_ONCE
    return render_template(
        request,
        "files.html",
        files=[_row(context, file) for file in shown],
        count=len(all_files),
        before=max(first - AT_ONCE, 1) if first > 1 else None,
        after=after if after <= len(all_files) else None,
    )


def _row(context: Context, file: StoredFile) -> dict[str, Any]:
    """A file of the list; one of the folder that is served is removed from the folder, not here."""
    is_served = context.folder is not None and context.folder.holds(file.folder)
    is_removable = context.uploads is not None and not is_served
    return serialize_file(file) | {"removable": is_removable}


async def progress(request: Request) -> Response:
    """Only how far the folder is, which a script loads again until it is done."""
    if context_of(request).folder is None:
        raise HTTPException(404, "this server serves a store, not a folder")
    return render_template(request, "progress.html")


async def ask_to_remove(request: Request) -> Response:
    """The question before a file is removed from the store."""
    source = text(request.query_params, "source")
    await operations.check_removable(request, source)
    return render_template(request, "remove.html", source=source)


async def remove_source(request: Request) -> Response:
    """Remove a file from the store: the answer to the question was yes."""
    async with read_form(limit_body(request, 0), files=0, fields=1) as form:
        source = str(form.get("source", ""))
    await operations.remove_file(request, source)
    return RedirectResponse("/files", 303)
