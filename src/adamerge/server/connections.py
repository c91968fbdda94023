"""How uvicorn serves: headers have to arrive in time, and a stop answers what is in flight."""

import asyncio
import json
import os
import socket
from collections.abc import Callable
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from adamerge.errors import BadInput
from adamerge.server.settings import Settings

BACKLOG = 2048  # connections that may wait to be accepted


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; what is wrong with the address is refused in words."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        is_of_system = type(error) is not socket.gaierror and error.errno is not None
        reason = os.strerror(error.errno or 0) if is_of_system else error.strerror
        raise BadInput(
            f"cannot listen on {host}, port {port}: {reason}; "
            "give another --port (0 takes a free one) or --host"
        ) from None
    listener.setsockopt(IPPROTO_TCP, TCP_NODELAY, True)  # else an answer may wait 40 ms for its end
    return listener


def make_server(app: Any, settings: Settings, on_stop: Callable[[], None]) -> "StoppableServer":
    """The server of an app; `on_stop` is called when it begins to stop."""
    limits = settings.limits

    class Protocol(TimedProtocol):
        header_seconds = limits.header_seconds

    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=limits.stop_seconds,
    )
    return StoppableServer(config, on_stop)


class StoppableServer(uvicorn.Server):
    """Tells the app when it begins to stop, before it waits for the requests in flight."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        """Serve nothing yet."""
        super().__init__(config)
        self._on_stop = on_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop: answer what is in flight, then end."""
        self._on_stop()
        await super().shutdown(sockets)


class TimedProtocol(H11Protocol):
    """HTTP/1.1 in which the headers of a request have to arrive within some seconds of its first byte.

    uvicorn has no such limit: clients that send a byte now and then would hold their connections for ever.
    """

    header_seconds: float
    _header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._start_header_timer()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._start_header_timer()
        else:
            self._stop_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_header_timer()
        super().connection_lost(exc)

    def _start_header_timer(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(self.header_seconds, self._end_late_request)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _end_late_request(self) -> None:
        """Say that the headers are late, and hang up."""
        self._header_timer = None
        if self.transport.is_closing() or self.conn.our_state is not h11.IDLE:
            return
        words = f"the headers of a request have to arrive within {self.header_seconds:g} s"
        body = json.dumps({"error": words}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        response = h11.Response(status_code=408, headers=headers, reason=b"Request Timeout")
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
