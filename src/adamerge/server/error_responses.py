"""Every error as an answer: its status, its words, and a page for people or JSON for programs."""

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from adamerge.errors import AdamergeError, outcome
from adamerge.server.context import context_of
from adamerge.server.disk_errors import disk_error
from adamerge.server.forms import drain
from adamerge.server.middleware.access import HEADERS, error_response
from adamerge.server.redact import redact
from adamerge.server.web.rendering import render_template

RETRY_SECONDS = "5"  # what is not possible now may be then


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
    """The client hung up while it was sending: counted as a mistake of the client, not of the server."""
    return error_response(400, "the request did not arrive whole")


def on_mistake(request: Request, error: Exception) -> Response:
    """A mistake of ours; the log has the traceback. No middleware sees this answer, so it brings its own headers."""
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
    answer = render_template(request, "problem.html", status, problem=words, code=status)
    answer.headers.update(headers)
    return answer


HANDLERS = {
    HTTPException: on_refusal,
    AdamergeError: on_error,
    OSError: on_disk_error,
    ClientDisconnect: on_disconnect,
    Exception: on_mistake,
}
