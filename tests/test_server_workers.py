"""A worker process, a record or a thread that fails costs one task; what comes next is done as if nothing had been."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from processes import has_ended
from waiting import until

from adamerge.errors import BadFile, Busy, StoreUnavailable, WorkerLost
from adamerge.files import rename
from adamerge.server import Settings
from adamerge.server.reader.thread_slots import ThreadSlots
from adamerge.server.uploads.job_queue import UploadQueue
from adamerge.server.workers import client as worker_client
from adamerge.server.workers import worker_process
from adamerge.server.workers.client import WorkerClient

TALKS = """
import json, sys
for number, line in enumerate(sys.stdin):
    task = json.loads(line)
    for message in task.get("say", [{"end": True, "number": number, "pid": __import__("os").getpid()}]):
        print(message if isinstance(message, str) else json.dumps(message), flush=True)
"""


@pytest.fixture
def settings(tmp_path):
    """Settings whose worker says what its task tells it to say."""
    (tmp_path / "talks.py").write_text(TALKS)
    command = (sys.executable, str(tmp_path / "talks.py"))
    return Settings(str(tmp_path / "pages.store"), worker=command, uploads=tmp_path / "uploads")


@pytest.fixture
def worker(settings):
    worker = WorkerClient(settings)
    yield worker
    worker.close()


def is_running(process):
    return process.poll() is None


# ------------------------------------------------------------------------------------------ worker processes


def test_the_rest_of_an_answer_is_not_read_by_the_next_task(worker):
    said = [{"done": "many"}, {"end": True, "number": "of the task before"}]
    with pytest.raises(ValueError, match="many"):
        worker.run({"say": said}, 60, lambda message: int(message["done"]))
    assert worker.run({}, 60)["number"] == 0  # of a new process


def test_a_worker_that_is_lost_leaves_no_pipe_open(worker):
    worker.warm()
    lost = worker._process
    with pytest.raises(ZeroDivisionError):
        worker.run({"say": [{"done": 1}]}, 60, lambda message: 1 // 0)
    assert (is_running(lost), lost.stdin.closed, lost.stdout.closed) == (False, True, True)


def test_a_server_that_stops_leaves_no_pipe_open(worker):
    worker.run({}, 60)
    process = worker._process
    worker.close()
    assert (is_running(process), process.stdin.closed, process.stdout.closed) == (False, True, True)


@pytest.mark.parametrize("line", ["[" * 100_000, "no message", "[]"], ids=["deep", "text", "list"])
def test_a_line_that_is_no_message_costs_one_task(worker, line):
    with pytest.raises(WorkerLost):
        worker.run({"say": [line]}, 60)
    assert worker.run({}, 60)["number"] == 0


def test_a_worker_that_starts_while_the_server_stops_is_ended_too(worker, monkeypatch):
    real, started = subprocess.Popen, []
    closing = threading.Thread(target=worker.close)

    def start_late(*given, **more):
        closing.start()
        until(lambda: worker.closed, "a server that stops")
        started.append(real(*given, **more))
        return started[0]

    monkeypatch.setattr(worker_client.subprocess, "Popen", start_late)
    worker.warm()
    closing.join()
    try:
        assert not is_running(started[0])
    finally:
        started[0].kill()


def test_the_limit_on_memory_holds_again_after_an_encoder_that_cannot_be_loaded():
    code = """
import resource
from adamerge.server.workers.worker_process import LoadedEncoders

class Broken:
    about = "pages of an encoder"
    def encoder_spec(self): return "broken"
    def load_encoder(self): raise LookupError

try:
    LoadedEncoders(1 << 30).load(Broken(), "")
except LookupError:
    print(resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "False\n", run.stderr


def test_an_error_of_a_worker_names_no_folder_and_is_short(monkeypatch):
    def read(encoders, task, tell):
        raise BadFile(f"{task['root']}/report.pdf is damaged: " + "x" * 1_000_000)

    monkeypatch.setitem(worker_process.TASKS, "read", read)
    task = {"do": "read", "root": "/home/somebody/private papers (old)"}
    error = worker_process.attempt(None, task, None)["error"]
    assert error.startswith("report.pdf is damaged")
    assert len(error) <= 1_000


# --------------------------------------------------------------------------------------------- upload queue


def add(uploads, name="file.pdf"):
    part = uploads.folder.arriving()
    part.write_bytes(b"%PDF-1.7")
    return uploads.add(part, name)


def wait(uploads, job):
    return until(lambda: uploads.get(job.id).ended and uploads.get(job.id), f"the end of {job}")


@pytest.fixture
def queue_of(settings):
    """A queue of uploads that runs, made of a worker's `run` and of what may be wrong with the store."""
    made = []

    def make(run, store_problem=lambda: "", on_end=lambda job: None):
        worker = WorkerClient(settings)
        worker.run = run
        uploads = UploadQueue(worker, settings, settings.uploads, store_problem, on_end)
        uploads.start()
        made.append(uploads)
        return uploads

    yield make
    for uploads in made:
        uploads.close()


def fail_first(error):
    """A worker whose first task fails."""
    errors = [error]

    def run(task, seconds, on_progress=None):
        if errors:
            raise errors.pop()
        return {"done": 1, "added": 1}

    return run


def test_an_error_that_nobody_expected_costs_one_file(queue_of, capsys):
    def store_problem():
        raise RuntimeError("a database in a bad mood")

    uploads = queue_of(fail_first(StoreUnavailable("away")), store_problem)
    failed = wait(uploads, add(uploads, "first.pdf"))
    assert (failed.state, failed.error) == (
        "failed",
        "it could not be indexed, by a mistake of the server",
    )
    assert wait(uploads, add(uploads, "second.pdf")).state == "done"
    assert "a database in a bad mood" in capsys.readouterr().err


def test_a_job_that_is_deleted_the_moment_it_ends_stops_nothing(queue_of):
    uploads = queue_of(fail_first(BadFile("damaged")))
    set_values = uploads._set

    def set_and_delete(id, **values):
        job = set_values(id, **values)
        if values.get("state") == "failed":
            uploads.delete(id)
        return job

    uploads._set = set_and_delete
    first = add(uploads, "first.pdf")
    until(lambda: uploads.get(first.id) is None, "a deleted job")
    assert wait(uploads, add(uploads, "second.pdf")).state == "done"


def test_a_file_that_is_refused_for_its_disk_leaves_nothing(queue_of, monkeypatch):
    uploads = queue_of(fail_first(BadFile("never asked")))

    def refuse(temporary, path):
        if path.suffix == ".file":
            raise OSError(28, os.strerror(28))
        rename(temporary, path)

    monkeypatch.setattr("adamerge.files.rename", refuse)
    with pytest.raises(StoreUnavailable, match="No space left"):
        add(uploads)
    assert list(uploads.folder.jobs.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [{"received": "yesterday"}, {"name": 7}, {"state": None}, {"error": []}],
    ids=lambda damage: next(iter(damage)),
)
def test_a_record_of_other_types_is_damaged_and_its_bytes_are_kept(queue_of, settings, damage):
    jobs = Path(settings.uploads) / ".jobs"
    jobs.mkdir(parents=True)
    whole = {"name": "a.pdf", "state": "failed", "error": "", "received": 1.5}
    for id, record in (("1" * 16, whole), ("2" * 16, whole | damage)):
        (jobs / f"{id}.json").write_text(json.dumps(record))
        (jobs / f"{id}.file").write_bytes(b"%PDF-1.7")
    uploads = queue_of(fail_first(BadFile("never asked")))
    damaged = uploads.get("2" * 16)
    assert (damaged.state, "damaged" in damaged.error) == ("failed", True)
    assert uploads.failed_file(damaged).read_bytes() == b"%PDF-1.7"
    assert uploads.get("1" * 16).name == "a.pdf"


# -------------------------------------------------------------------------------------------------- threads


def test_a_thread_that_cannot_be_started_takes_no_slot(monkeypatch):
    def no_thread(thread):
        raise RuntimeError("can't start new thread")

    async def main():
        slots = ThreadSlots(1)
        with monkeypatch.context() as none_left:
            none_left.setattr(threading.Thread, "start", no_thread)
            with pytest.raises(Busy):
                await slots.run(lambda: 1)
        assert slots.running == 0
        return await asyncio.wait_for(slots.run(lambda: 2), 60)

    assert asyncio.run(main()) == 2


STARTS_ANOTHER = """
import json, subprocess, sys, tempfile
for line in sys.stdin:
    child = subprocess.Popen(["sleep", "600"])
    folder = tempfile.mkdtemp()
    print(json.dumps({"child": child.pid, "folder": folder}), flush=True)
"""


def test_a_worker_that_is_stopped_takes_its_processes_and_temporary_files_with_it(
    settings, tmp_path
):
    (tmp_path / "talks.py").write_text(STARTS_ANOTHER)
    worker = WorkerClient(settings)
    said = []
    with pytest.raises(WorkerLost, match="took too long"):
        worker.run({}, 1, said.append)
    worker.close()

    until(lambda: has_ended(said[0]["child"]), "the end of the process that the worker started")
    assert not Path(said[0]["folder"]).exists()
