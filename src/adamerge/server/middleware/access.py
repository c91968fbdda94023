"""Who may use the server, from which page; and the headers that every answer carries."""

import asyncio
import hmac
import time
from hashlib import sha256

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adamerge.server.metrics import Metrics
from adamerge.server.middleware.throttle import WrongTokens
from adamerge.server.settings import Settings

COOKIE = "adamerge"
NO_TOKEN_NEEDED = ("/healthz", "/login", "/static/")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
KNOWN_METHODS = (*SAFE_METHODS, "POST", "PUT", "DELETE", "PATCH")
HUNG_UP = 499  # the status that nginx counts where a client did not wait for its answer
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


class AccessControl:
    """Checks every request before anything else sees it, and counts and times its answer."""

    def __init__(
        self, app: ASGIApp, settings: Settings, metrics: Metrics, wrong_tokens: WrongTokens
    ) -> None:
        """Stand in front of an app."""
        self.app = app
        self.settings = settings
        self.metrics = metrics
        self.wrong_tokens = wrong_tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = HUNG_UP

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            answer = await self._refusal(Request(scope)) or self.app
            await answer(scope, receive, send_with_headers)
        except asyncio.CancelledError:  # the time for requests in flight is over
            if status != HUNG_UP:
                raise
            stopping = error_response(503, "the server is stopping", {"retry-after": "5"})
            await stopping(scope, receive, send_with_headers)
        except Exception:
            status = 500
            raise
        finally:
            self._count(scope, status, time.perf_counter() - start)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("endpoint"), "__name__", "none")
        method = scope["method"] if scope["method"] in KNOWN_METHODS else "other"
        self.metrics.requests.labels(route, method, status).inc()
        self.metrics.request_seconds.labels(route).observe(seconds)

    async def _refusal(self, request: Request) -> Response | None:
        """The answer to a request that is refused, or None. A wrong token has to wait for its answer."""
        refusal = self._check(request)
        has_token = "authorization" in request.headers or COOKIE in request.cookies
        if refusal is None or not has_token:
            return refusal
        if await self.wrong_tokens.delay(address_of(request)):
            return refusal
        return too_many_tokens()

    def _check(self, request: Request) -> Response | None:
        if not self.settings.answers_to(request.headers.get("host", "")):
            return error_response(421, "this server does not answer to that name: see --name")
        has_token = self._has_token(request.headers)
        if request.method not in SAFE_METHODS and not has_token and not is_same_origin(request):
            return error_response(
                403,
                "this request comes from another page: only pages of this server may change things",
            )
        needs_token = self.settings.token and not request.url.path.startswith(NO_TOKEN_NEEDED)
        if not needs_token or has_token or self._has_cookie(request):
            return None
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            return RedirectResponse("/login", 303)
        return error_response(
            401, "send the token: Authorization: Bearer ...", {"www-authenticate": "Bearer"}
        )

    def _has_token(self, headers: Headers) -> bool:
        """Whether a program has sent the token."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.settings.is_token(given.strip())

    def _has_cookie(self, request: Request) -> bool:
        """Whether a browser has given the token before."""
        given = request.cookies.get(COOKIE, "")
        wanted = cookie_value(self.settings.token)
        return hmac.compare_digest(given.encode(), wanted.encode())


def cookie_value(token: str) -> str:
    """What a cookie holds: it proves that the token was known, and does not tell it."""
    return hmac.new(token.encode(), b"adamerge cookie", sha256).hexdigest()


def is_same_origin(request: Request) -> bool:
    """Whether a request comes from a page of this server. Programs send neither header, and are allowed."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    host = request.headers.get("host", "").lower()
    return origin is None or origin.lower() in (f"http://{host}", f"https://{host}")


def address_of(request: Request) -> str:
    """The address of a client."""
    return request.client.host if request.client else ""


def too_many_tokens() -> Response:
    """The answer to one wrong token among too many."""
    words = "too many wrong tokens come from this address: try again in a moment"
    return error_response(429, words, {"retry-after": "5"})


def error_response(status: int, words: str, headers: dict[str, str] | None = None) -> Response:
    """An error as JSON."""
    return JSONResponse({"error": words}, status, headers)
