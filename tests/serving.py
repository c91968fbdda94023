"""A real server process for tests: `adamerge serve` with the encoder of light.py, which its workers know too.

As a program: `serving.py serve STORE ...` is the verb, `serving.py worker BYTES` a worker.

A test may steer both by files in the folder of a `Control`: `hold` makes searches for words that begin with "held"
wait, `half-line` makes the next worker write half a message and die, `encoded` lists the queries that were encoded.
"""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from urllib.parse import quote, urlencode

from light import Light
from processes import children, ended, start
from waiting import LONG, until

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Control:
    """Files by which a test steers a server and its workers."""

    folder: Path

    @property
    def hold(self):
        return self.folder / "hold"

    @property
    def half_line(self):
        return self.folder / "half-line"

    @property
    def log(self):
        return self.folder / "encoded"

    def encoded(self):
        """The queries that were encoded so far."""
        return self.log.read_text().splitlines() if self.log.exists() else []


def control():
    """The steering of this process, if a test asked for one."""
    return Control(Path(os.environ["SERVING_CONTROL"])) if "SERVING_CONTROL" in os.environ else None


class SteeredLight(Light):
    """Writes down what it encodes, and waits where a test wants it to."""

    def encode_queries(self, texts):
        steered = control()
        if steered is not None:
            with steered.log.open("a") as log:
                log.write("".join(f"{text}\n" for text in texts))
            if any(text.startswith("held") for text in texts):
                until(lambda: not steered.hold.exists(), "the end of the hold")
        return super().encode_queries(texts)


class ShortLight(Light):
    """Knows only the first letters of words; how many is an option, which a store has to bring back."""

    def __init__(self, name="short", *, letters):
        super().__init__(name)
        self.letters = letters

    @property
    def about(self):
        return super().about | {"options": {"letters": self.letters}}

    def encode_queries(self, texts):
        return super().encode_queries([self._short(text) for text in texts])

    def _page(self, page):
        words = tuple(word._replace(text=self._short(word.text)) for word in page.words)
        return super()._page(replace(page, words=words))

    def _short(self, text):
        return " ".join(word[: self.letters] for word in text.split())


def register():
    """Make `load_encoder("light")` and `load_encoder("short", letters=3)` work in this process.

    For processes of their own; a test takes the fixture `light_by_name`, which ends with it.
    """
    from adamerge.encoders import spec

    spec.KINDS["light"] = spec.Kind("serving:SteeredLight", "words, for tests", options=())
    spec.KINDS["short"] = spec.Kind("serving:ShortLight", "words, for tests", options=("letters",))


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
        except (urllib.error.URLError, ConnectionError):
            return False

    @property
    def address(self):
        """The host and port, for raw connections."""
        return "127.0.0.1", int(self.url.rsplit(":", 1)[1])

    def metric(self, name):
        """A value of /metrics; 0 where nothing was counted yet."""
        for line in self.ask("/metrics")[2].decode().splitlines():
            if line.startswith(f"{name} "):
                return float(line.rsplit(" ", 1)[1])
        return 0

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
def serving(store, *options, env=None, steered_by=None, **limits):
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
    given = os.environ | {"SERVING_LIMITS": json.dumps(limits)} | (env or {})
    if steered_by is not None:
        given["SERVING_CONTROL"] = str(steered_by.folder)
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


def work():
    """Be a worker; one that is to index a file dies in the midst of a message if a test wants it to."""
    from adamerge.server.workers import worker_process

    answers = os.dup(1)
    index = worker_process.TASKS["index"]

    def index_or_die(*given):
        steered = control()
        if steered is not None and steered.half_line.exists():
            steered.half_line.unlink()
            os.write(answers, b'{"done": 1, "to')
            os.kill(os.getpid(), signal.SIGKILL)
        return index(*given)

    worker_process.TASKS["index"] = index_or_die
    worker_process.main()


def main():
    """The verb, or a worker."""
    register()
    if sys.argv[1] == "worker":
        del sys.argv[1]
        work()
        return
    from adamerge.cli import main as verbs

    verb = import_module("adamerge.cli.serve")
    run = verb.run
    command = (sys.executable, str(HERE / "serving.py"), "worker")
    limits = json.loads(os.environ.get("SERVING_LIMITS", "{}"))

    def run_with_limits(settings, memory):
        changed = replace(settings.limits, **limits)
        run(replace(settings, worker=command, limits=changed), memory)

    verb.run = run_with_limits
    verbs()


if __name__ == "__main__":
    main()
