"""A real server process for tests: `adamerge serve` with the encoder of light.py, which its workers know too.

As a program: `serving.py serve STORE ...` is the verb, `serving.py worker BYTES` a worker.
"""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlencode

from processes import children, ended, start
from waiting import LONG, until

HERE = Path(__file__).parent


def register():
    """Make `load_encoder("light")` work in this process."""
    from adamerge.encoders import spec

    spec.KINDS["light"] = spec.Kind("light:Light", "words, for tests", options=())


class Server:
    """An address, and the few requests that tests make."""

    def __init__(self, process, url):
        self.process, self.url = process, url

    def ask(self, path, headers=None, body=None, method=None):
        """Status, headers and body of a request."""
        request = urllib.request.Request(self.url + path, body, headers or {}, method=method)
        try:
            with opener.open(request, timeout=LONG) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def answers(self):
        """Whether it can be reached."""
        try:
            return self.ask("/healthz")[0] > 0
        except urllib.error.URLError:
            return False

    def json(self, path, **given):
        """The JSON of a request that has to work."""
        status, _, body = self.ask(f"{path}?{urlencode(given)}" if given else path)
        assert status == 200, body
        return json.loads(body)

    def page(self, kind, id, **given):
        return f"/{kind}/{quote(id, safe='')}" + (f"?{urlencode(given)}" if given else "")

    def upload(self, name, content, headers=None):
        """Status and JSON of an upload."""
        head = f'--line\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
        kind = {"Content-Type": "multipart/form-data; boundary=line"}
        status, _, body = self.ask(
            "/api/index", kind | (headers or {}), head + content + b"\r\n--line--\r\n"
        )
        return status, json.loads(body)

    def wait(self, job, states=("done", "failed"), pages=0):
        """A job once it is in one of some states, and so many of its pages are done."""

        def found():
            now = self.json(f"/api/index/{job['id']}")
            return now if now["state"] in states and now["done"] >= pages else None

        return until(found, f"{job['name']} {' or '.join(states)}", self.process)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given):
        return None


opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))


def workers(server):
    """The processes that a server has started, oldest first."""
    return children(server.process)


@contextmanager
def serving(store, *options, env=None, **settings):
    """A server on a free port of loopback, ended when the block ends."""
    command = [
        sys.executable,
        str(HERE / "serving.py"),
        "serve",
        str(store),
        "--port",
        "0",
        *map(str, options),
    ]
    given = os.environ | {"SERVING": json.dumps(settings)} | (env or {})
    process = start(command, stdout=subprocess.PIPE, text=True, env=given)
    with ended(process):
        try:
            url = re.match(r"http://\S+", process.stdout.readline())[0]
            server = Server(process, re.sub("//[^:]+:", "//127.0.0.1:", url))
            until(server.answers, "an answer of the server", process)
            yield server
        finally:
            process.terminate()
            process.wait(LONG)


def main():
    """The verb, or a worker."""
    register()
    if sys.argv[1] == "worker":
        from adamerge.server import worker

        del sys.argv[1]
        worker.main()
        return
    from adamerge.cli import main as verbs

    verb = sys.modules["adamerge.cli.serve"]
    run, settings = verb.run, json.loads(os.environ.get("SERVING", "{}"))
    command = (sys.executable, str(HERE / "serving.py"), "worker")
    verb.run = lambda given, memory: run(replace(given, worker=command, **settings), memory)
    verbs()


if __name__ == "__main__":
    main()
