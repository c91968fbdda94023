"""The work for a client that has hung up is cancelled."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

READS = ("GET", "HEAD")


class CancelOnDisconnect:
    """Cancels a request that only reads once its client has hung up. Uploads notice it by themselves."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand in front of an app."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, unless its client hangs up first."""
        if scope["type"] != "http" or scope["method"] not in READS:
            await self.app(scope, receive, send)
            return
        complete = asyncio.Event()

        async def send_and_note(message: Message) -> None:
            is_last = message["type"] == "http.response.body" and not message.get("more_body")
            if is_last:
                complete.set()
            await send(message)

        answer = asyncio.ensure_future(self.app(scope, receive, send_and_note))
        hang_up = asyncio.ensure_future(_disconnect(receive))
        try:
            await asyncio.wait({answer, hang_up}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done() and not complete.is_set():
                answer.cancel()
            await asyncio.wait({answer})
        finally:
            hang_up.cancel()
            answer.cancel()  # where this request itself is cancelled
        if not answer.cancelled():
            answer.result()


async def _disconnect(receive: Receive) -> None:
    """Return when the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass
