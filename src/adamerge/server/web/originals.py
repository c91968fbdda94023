"""The files that pages were made from, as they were indexed."""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from adamerge.errors import NotFound
from adamerge.inspector.stored_page import find_original
from adamerge.server.context import context_of
from adamerge.server.reader.store_reader import StoreReader

SHOWN = {  # files that a browser shows itself and that run no script of our origin; all others are saved
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
}
POLICY = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'"


async def original(request: Request) -> Response:
    """A file of the store, if it is as it was indexed; a browser opens a PDF at #page=14."""
    reader = context_of(request).reader
    source = request.path_params["source"]
    path = await reader.run(lambda: _find(reader, source))
    kind = SHOWN.get(path.suffix.lower())
    return FileResponse(
        path,
        media_type=kind or "application/octet-stream",
        filename=path.name,
        content_disposition_type="inline" if kind else "attachment",
        headers={"content-security-policy": POLICY, "cache-control": "private, no-cache"},
    )


def _find(reader: StoreReader, source: str) -> Path:
    """Where a file of the store is. Only names that the store knows lead to a file."""
    known = reader.sources().get(source)
    if known is None:
        raise HTTPException(404, "the store has no such file")
    try:
        return find_original(source, known.root, known.hashes.values())
    except NotFound:
        raise HTTPException(
            404, "the file is no longer where it was indexed, or has changed since"
        ) from None
