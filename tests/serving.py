"""A real server process for tests: `adamerge serve` with the encoder of light.py, which its workers know too.

As a program: `serving.py serve STORE ...` is the verb, `serving.py worker BYTES` a worker.
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlencode

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
            with opener.open(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

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
        status, _, body = self.ask("/api/index", kind | (headers or {}), head + content + b"\r\n--line--\r\n")
        return status, json.loads(body)

    def wait(self, job, states=("done", "failed"), seconds=60):
        """A job once it is in one of some states."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = self.json(f"/api/index/{job['id']}")
            if found["state"] in states:
                return found
            time.sleep(0.05)
        raise AssertionError(found)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given):
        return None


opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))


@contextmanager
def serving(store, *options, env=None, **settings):
    """A server on a free port of loopback, ended when the block ends."""
    command = [sys.executable, str(HERE / "serving.py"), "serve", str(store), "--port", "0", *map(str, options)]
    given = os.environ | {"SERVING": json.dumps(settings)} | (env or {})
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=given)
    try:
        line = process.stdout.readline()
        url = re.match(r"http://\S+", line)[0]
        server = Server(process, re.sub("//[^:]+:", "//127.0.0.1:", url))
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                server.ask("/healthz")
                break
            except urllib.error.URLError:
                time.sleep(0.05)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()


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
