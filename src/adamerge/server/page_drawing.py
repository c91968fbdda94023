"""Short tasks for the worker process that opens files and the store: pictures and inspections of pages."""

from base64 import b64decode
from collections.abc import Callable
from typing import Any

from adamerge.errors import Busy
from adamerge.inspector.stored_page import file_of
from adamerge.server.context import MAX_DRAWING, Context
from adamerge.store import Entry

PIXELS = 1_600  # of a picture, on its longer side
DRAW_SECONDS = 60.0  # that a picture or an inspection may take


async def draw_page(
    context: Context, entry: Entry, format: str = "webp", pixels: int = PIXELS
) -> bytes:
    """The picture of a page from its file, as webp or jpeg, with `pixels` on its longer side at most.

    An error if the file is gone or has changed.
    """

    def task() -> dict[str, Any]:
        return {
            "do": "render",
            "path": str(file_of(entry)),
            "number": entry.number,
            "format": format,
            "pixels": pixels,
            "password": context.settings.password,
        }

    drawn = await run_viewer(context, task)
    return b64decode(drawn["image"])


async def run_viewer(context: Context, task: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The answer of the worker that draws pages and does other short tasks; Busy if too many wait for it."""
    if context.drawing.running >= MAX_DRAWING:
        raise Busy("too many pages are being drawn: try again in a moment")
    return await context.drawing.run(lambda: context.viewer.run(task(), DRAW_SECONDS))
