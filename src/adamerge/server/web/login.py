"""Where a browser gives the token, and gets a cookie for it."""

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adamerge.server.context import context_of
from adamerge.server.forms import limit_body, read_form
from adamerge.server.middleware.access import COOKIE, address_of, cookie_value, too_many_tokens
from adamerge.server.web.rendering import render_template

LOGIN_SECONDS = 30.0  # that a login form may take to arrive
COOKIE_SECONDS = 30 * 86400


async def login(request: Request) -> Response:
    """Where a browser gives the token, once."""
    return render_template(request, "login.html")


async def check_login(request: Request) -> Response:
    """Check the token and set a cookie, which only this server receives and no script can read."""
    context = context_of(request)
    given = await _token_of_form(request)
    if not context.settings.is_token(given):
        if not await context.wrong_tokens.delay(address_of(request)):
            return too_many_tokens()
        return render_template(request, "login.html", 403, error="That is not the token.")
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        COOKIE,
        cookie_value(context.settings.token),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        max_age=COOKIE_SECONDS,
    )
    return answer


async def _token_of_form(request: Request) -> str:
    limited = limit_body(request, 0)
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            async with read_form(limited, files=0, fields=2) as form:
                return str(form.get("token", ""))
    except TimeoutError:
        raise HTTPException(408, "the form took too long to arrive") from None
