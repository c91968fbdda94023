"""Raw requests to a real server, as its own process: no answer may be of status 500, and the server must live on."""

import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fuzz.mutators import text_mutator
from fuzz.target import Target, Try

TESTS = (
    Path(__file__).parent.parent.parent / "tests"
)  # their server, store and encoder without a model
PATIENCE = 0.2  # seconds for the answer to a request that may not be whole; a late 500 is found in the metrics
WORDS = (
    *(
        "GET",
        "POST",
        "HEAD",
        "PUT",
        " / ",
        "HTTP/1.1",
        "HTTP/1.0",
        "\r\n",
        "\r\n\r\n",
        ":",
        "?",
        "&",
        "=",
        "%",
        "%2e",
    ),
    *(
        "Host: localhost",
        "Content-Length: 5",
        "Transfer-Encoding: chunked",
        "Connection: close",
        "Accept: text/html",
    ),
    *(
        "q=",
        "k=",
        "where=",
        "full=1",
        "alpha",
        "/api/search",
        "/api/pages/",
        "/inspect/",
        "/picture/",
        "report.pdf%231",
    ),
    *(
        "Content-Type: multipart/form-data; boundary=x",
        "--x",
        'filename="',
        "Range: bytes=0-",
        "Expect: 100-continue",
    ),
    *(
        "Authorization: Bearer ",
        "Cookie: token=",
        "Origin: http://e",
        "If-None-Match: *",
        "0\r\n\r\n",
        "ffffffff\r\n",
    ),
)
HUNG_UP = b"h11._util.LocalProtocolError"  # uvicorn refused a body in mid-request and then had an answer left over
FAILED = re.compile(rb'status="(500|502|504)"')


@contextmanager
def session(folder: Path) -> Iterator[Try]:
    """A server of a small store; its errors go to a file that is read after each request."""
    sys.path.insert(0, str(TESTS))
    from server_store import make_store
    from serving import serving

    log = folder / "stderr"
    with log.open("ab") as errors:
        os.dup2(errors.fileno(), sys.stderr.fileno())
    with serving(make_store(folder)) as server:
        yield lambda data: _ask(server, log, data)


def _ask(server: Any, log: Path, data: bytes) -> None:
    """Send a request and look at the answer, the counts of the server and what it wrote."""
    answer = _answer(int(server.url.rsplit(":", 1)[1]), data)
    if re.match(rb"HTTP/1\.[01] 5(?!03|01)", answer):
        raise AssertionError(f"answered {answer[:200]!r}")
    status, _, metrics = server.ask("/metrics")
    if status != 200 or FAILED.search(metrics):
        raise AssertionError(f"the server counts a failure: {FAILED.findall(metrics)}")
    written = log.read_bytes()
    os.truncate(log, 0)
    if b"Traceback" in written and HUNG_UP not in written:
        raise AssertionError(f"the server wrote: {written[-3000:].decode(errors='replace')}")


def _answer(port: int, data: bytes) -> bytes:
    parts = []
    try:
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(data)
            line.settimeout(PATIENCE)
            while part := line.recv(1 << 16):
                parts.append(part)
    except OSError:  # a request that is not whole has no answer, or the server hung up first
        pass
    return b"".join(parts)


TARGET = Target("http", session, text_mutator(WORDS), share=4, short_run=40)
