"""A failure at every step of an upload: what was answered with 202 is indexed or fails in words, and can be sent again.

A real server and its workers run under faults.py, which counts the calls of all of them on the store and the uploads.
"""

import json
import urllib.error
from contextlib import ExitStack

import pytest
from fault_checks import one_of_each_place
from fault_commands import left_of_store
from faults import Fault, Faults, missing
from light import write_pdf
from server_store import make_store
from serving import serving
from waiting import LONG, until

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
TAKEN = 202
REFUSED = (503, 507)
SOME = 8  # of so many places one is tried, where a server has to be started again


class Site:
    """A store with a server that can be disturbed, and started again where it was killed."""

    def __init__(self, folder, stack):
        self.folder, self.stack = folder, stack
        self.faults = Faults(folder)
        self.content = write_pdf(folder / "made.pdf", ["theta iota"]).read_bytes()
        self.work = folder / "work"
        self.store = make_store(self.work).rename(self.work / "store")
        self.uploads = self.work / "store.uploads"
        self.start()

    def start(self):
        self.server = self.stack.enter_context(serving(self.store, env=self.faults.env))

    @property
    def was_killed(self):
        return self.faults.killed == self.server.process.pid

    def start_again(self):
        """Start another server if this one was killed."""
        if self.was_killed:
            self.server.process.wait(LONG)
            self.start()

    def upload(self, name):
        """Status and JSON of an upload; None where the server was killed before it answered."""
        try:
            return self.server.upload(name, self.content)
        except (urllib.error.URLError, ConnectionError):
            return None, {}
        except ValueError:
            return 500, {"error": "what is no JSON"}

    def job(self, id):
        """A job as the server tells of it; None where it knows none, or was killed."""
        try:
            status, _, body = self.server.ask(f"/api/index/{id}")
        except (urllib.error.URLError, ConnectionError):
            return None
        return json.loads(body) if status == 200 else None

    def has_page(self, name):
        return self.server.ask(self.server.page("api/pages", f"{name}#1"))[0] == 200

    def calls(self):
        """The calls of an upload that nobody disturbs."""
        with self.faults.watching(self.work):
            status, job = self.upload("file0.pdf")
            assert status == TAKEN, job
            assert self.server.wait(job)["state"] == "done"
        return self.faults.calls(self.work)

    def disturb(self, name, fault):
        """What is wrong with an upload that meets a fault, and with the same one after that."""
        with self.faults.watching(self.work, fault):
            status, job = self.upload(name)
            if status == TAKEN:
                until(lambda: self.faults.failed or self.is_ended(job), f"{name} or its fault")
        self.start_again()
        wrong = self.wrong_answer(status, job)
        if status == TAKEN:
            wrong += self.wrong_end(name, job)
        status, job = self.upload(name)
        again = self.server.wait(job) if status == TAKEN else job
        if again.get("state") != "done" or not self.has_page(name):
            wrong.append(f"the same file was answered with {status}, {again}")
        return [f"{name}, {fault}: {line}" for line in wrong]

    def is_ended(self, job):
        now = self.job(job["id"])
        return self.was_killed or (now is not None and now["state"] in ("done", "failed"))

    def wrong_answer(self, status, answer):
        if status in (None, TAKEN):
            return []
        if status in REFUSED and str(self.folder) not in answer.get("error", str(self.folder)):
            return []
        return [f"it was answered with {status}, {answer}"]

    def wrong_end(self, name, job):
        """A job that was taken ends; one that a new server does not know had ended before."""
        until(lambda: self.is_ended(job) or self.job(job["id"]) is None, f"the end of {name}")
        ended = self.job(job["id"])
        if ended is not None and ended["state"] == "failed":
            in_words = ended["error"] and str(self.folder) not in ended["error"]
            return [] if in_words else [f"it failed and said {ended['error']!r}"]
        return [] if self.has_page(name) else [f"it was taken, and is lost: {ended}"]

    def left_overs(self):
        files = [path for path in self.uploads.iterdir() if path.is_file()]
        hidden = [path.name for path in files if path.name.startswith(".")]
        return hidden + left_of_store(self.work)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with ExitStack() as stack:
        yield Site(tmp_path_factory.mktemp("uploads"), stack)


@pytest.fixture(scope="module")
def numbers(site):
    """Of the calls to disturb: one of each kind, at each kind of file."""
    calls = site.calls()
    return one_of_each_place(calls, range(1, len(calls) + 1))


@pytest.mark.parametrize("kind", ["no space", "disk full"])
def test_an_upload_that_is_taken_is_indexed_or_fails_in_words(site, numbers, kind):
    wrong = []
    for number in numbers:
        name = f"{kind.replace(' ', '-')}{number}.pdf"
        wrong += site.disturb(name, Fault(kind, number))
    assert not wrong, "\n".join(wrong)
    assert site.left_overs() == []


def test_an_upload_outlives_the_server_and_its_worker(site, numbers):
    wrong = []
    for number in numbers[::SOME]:
        wrong += site.disturb(f"kill{number}.pdf", Fault("kill", number))
    assert not wrong, "\n".join(wrong)
