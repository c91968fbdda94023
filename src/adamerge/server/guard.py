"""The door of the server: who may come in, from which page, and what every answer carries."""

import asyncio
import hmac
import time
from hashlib import sha256

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adamerge.server.metrics import Metrics
from adamerge.server.settings import Settings

COOKIE = "adamerge"
OPEN = ("/healthz", "/login", "/static/")  # what needs no token
SAFE = ("GET", "HEAD", "OPTIONS")
GUESS = 1.0  # seconds that a wrong token costs
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
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


class Guard:
    """Checks every request before anything else sees it, and counts and times its answer."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        """Stand in front of an app."""
        self.app, self.settings, self.metrics = app, settings, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            request = Request(scope)
            refusal = self.refusal(request)
            if refusal and ("authorization" in request.headers or COOKIE in request.cookies):
                await asyncio.sleep(GUESS)
            await (refusal or self.app)(scope, receive, answer)
        finally:
            route = getattr(scope.get("endpoint"), "__name__", "none")
            method = (
                scope["method"]
                if scope["method"] in (*SAFE, "POST", "PUT", "DELETE", "PATCH")
                else "other"
            )
            self.metrics.count(
                "adamerge_requests_total", route=route, method=method, status=str(status)
            )
            self.metrics.time("adamerge_request_seconds", time.perf_counter() - start, route=route)

    def refusal(self, request: Request) -> Response | None:
        """Why a request is not let in; None if it is."""
        path = request.url.path
        if not self.settings.answers_to(request.headers.get("host", "")):
            return told(421, "this server does not answer to that name: see --name")
        known = self.knows_token(request.headers)
        if request.method not in SAFE and not known and not same_origin(request):
            return told(
                403,
                "this request comes from another page: only pages of this server may change things",
            )
        if not self.settings.token or known or path.startswith(OPEN) or self.has_cookie(request):
            return None
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            return RedirectResponse("/login", 303)
        return told(
            401, "send the token: Authorization: Bearer ...", {"www-authenticate": "Bearer"}
        )

    def knows_token(self, headers: Headers) -> bool:
        """Whether a program has sent the token."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.settings.is_token(given.strip())

    def has_cookie(self, request: Request) -> bool:
        """Whether a browser has given the token before."""
        return hmac.compare_digest(
            request.cookies.get(COOKIE, "").encode(), pass_of(self.settings.token).encode()
        )


def pass_of(token: str) -> str:
    """What a cookie holds: it proves that the token was known, and does not tell it."""
    return hmac.new(token.encode(), b"adamerge cookie", sha256).hexdigest()


def same_origin(request: Request) -> bool:
    """Whether a browser says that one of our own pages asks; a program, which says nothing, is no browser."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site == "same-origin"
    host = request.headers.get("host", "")
    return origin is None or origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def told(status: int, words: str, headers: dict[str, str] | None = None) -> Response:
    """An error as JSON."""
    return JSONResponse({"error": words}, status, headers)
