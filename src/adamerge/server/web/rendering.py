"""Pages from their templates."""

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from adamerge.server.context import context_of
from adamerge.server.serialize import links
from adamerge.server.web.word_colours import word_colour

TEMPLATES_FOLDER = Path(__file__).parent / "templates"


def bytes_of(count: int | None) -> str:
    """Bytes as a person reads them."""
    if count is None:
        return "unknown"
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


TEMPLATES = Jinja2Templates(TEMPLATES_FOLDER)
TEMPLATES.env.filters |= {"bytes": bytes_of, "links": links, "colour": word_colour}
TEMPLATES.env.trim_blocks = True
TEMPLATES.env.lstrip_blocks = True


def render_template(request: Request, name: str, status: int = 200, **values: Any) -> Response:
    """A page from its template; everything put into it is escaped."""
    context = context_of(request)
    about = {
        "store": context.settings.title,
        "token": bool(context.settings.token),
        "uploads": context.uploads is not None,
        "folder": context.folder.state if context.folder else None,
    }
    return TEMPLATES.TemplateResponse(request, name, about | values, status)
