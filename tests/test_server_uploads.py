"""A file that was answered with 202 is indexed, or fails in words and can be fetched back; whatever happens."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from processes import ended, start, start_python
from server_store import make_store, pdf_of
from serving import HERE, Control, ShortLight, serving
from waiting import until

import adamerge as am
from adamerge.store.index import Indexing, index_files

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("uploads"))


@pytest.fixture(scope="module")
def steering(tmp_path_factory):
    return Control(tmp_path_factory.mktemp("control"))


@pytest.fixture(scope="module")
def server(place, steering):
    with serving(place, steered_by=steering, failed_files=3) as server:
        yield server


@contextmanager
def lock_held(store):
    """Another process, which writes to a store."""
    opened = "import sys, adamerge as am; store = am.open_store(sys.argv[1])"
    code = f"{opened}; store.begin_writing(); print('writes', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = start_python("-c", code, store, text=True, **pipes)
    with ended(process):
        assert process.stdout.readline() == "writes\n"
        yield


def fetch(server, job):
    """Status and bytes of the file of a job."""
    status, _, body = server.ask(f"/api/index/{job['id']}/file")
    return status, body


def private(place):
    """What no answer may name."""
    return str(place.parent)


def test_a_file_waits_while_another_process_writes_and_is_indexed_then(server, place, tmp_path):
    with lock_held(place):
        status, job = server.upload("patient.pdf", pdf_of(tmp_path, "patience", "endures"))
        assert status == 202

        def waiting_for():
            return server.json(f"/api/index/{job['id']}")["waiting_for"]

        until(waiting_for, "a job that waits", server.process)
        assert waiting_for() == "another process is writing to the store"
        page = server.ask("/add", {"Accept": "text/html"})[2].decode()
        assert "waiting: another process is writing to the store" in page
        assert server.ask(f"/api/index/{job['id']}", method="DELETE")[0] == 409
        assert fetch(server, job)[0] == 404
    done = server.wait(job)
    assert (done["state"], done["added"], done["waiting_for"]) == ("done", 2, "")
    assert server.json("/api/search", q="patience", k=1)["hits"][0]["id"] == "patient.pdf#1"


def test_a_worker_that_dies_in_mid_line_costs_one_job_whose_file_can_be_fetched_back(
    place, steering, tmp_path
):
    content = pdf_of(tmp_path, "half a line")
    with serving(place, "--uploads", tmp_path / "uploads", steered_by=steering) as server:
        steering.half_line.touch()
        failed = server.wait(server.upload("half.pdf", content)[1])
        assert (failed["state"], "its worker ended (signal 9)" in failed["error"]) == (
            "failed",
            True,
        )
        assert fetch(server, failed) == (200, content)
        assert failed["links"]["file"] == f"/api/index/{failed['id']}/file"
        assert (
            server.wait(server.upload("whole.pdf", pdf_of(tmp_path, "a whole line"))[1])["state"]
            == "done"
        )
    with serving(place, "--uploads", tmp_path / "uploads") as server:  # it outlives the server
        assert server.json(f"/api/index/{failed['id']}") == failed
        assert fetch(server, failed) == (200, content)


def test_a_file_that_failed_is_kept_until_it_is_deleted(server, place):
    contents = [b"%PDF-1.7 damaged " + bytes([65 + i]) for i in range(2)]
    first, second = (server.wait(server.upload("damaged.pdf", one)[1]) for one in contents)
    assert fetch(server, first) == (200, contents[0])
    headers = server.ask(f"/api/index/{first['id']}/file")[1]
    assert headers["content-disposition"] == 'attachment; filename="damaged.pdf"'
    page = server.ask("/add", {"Accept": "text/html"})[2].decode()
    assert first["links"]["file"] in page
    assert server.ask(f"/api/index/{first['id']}", method="DELETE")[0] == 204
    assert (fetch(server, first)[0], fetch(server, second)) == (404, (200, contents[1]))
    removed = server.ask(f"/add/{second['id']}/remove", FORM | {"Origin": server.url}, b"")
    assert (removed[0], removed[1]["location"]) == (303, "/add")
    assert fetch(server, second)[0] == 404
    left = [path.name for path in (place.parent / "pages.store.uploads" / ".jobs").iterdir()]
    assert not any(name.startswith((first["id"], second["id"])) for name in left)


def test_only_the_latest_files_that_failed_are_kept(server):
    contents = [b"%PDF-1.7 damaged " + bytes([65 + i]) for i in range(4)]
    jobs = [server.wait(server.upload("damaged.pdf", content)[1]) for content in contents]
    until(lambda: fetch(server, jobs[0])[0] == 404, "the first to be removed", server.process)
    assert [fetch(server, job)[0] for job in jobs[1:]] == [200, 200, 200]


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=lambda end: end.name)
def test_a_second_server_on_the_folder_takes_over_when_the_first_ends(tmp_path, end):
    """As in a rolling restart: the new one answers searches, and takes files once the old one has ended."""
    store = make_store(tmp_path)
    with serving(store) as first, serving(store) as second:
        with lock_held(store):
            _, job = first.upload("handed-over.pdf", pdf_of(tmp_path, "handed over"))
            status, answer = second.upload("refused.pdf", pdf_of(tmp_path, "refused"))
            assert (status, "another server uses this folder" in answer["error"]) == (503, True)
            assert private(store) not in answer["error"]
            assert second.ask("/healthz")[0] == 200
            assert second.json("/api/search", q="alpha", k=1)["hits"][0]["id"] == "report.pdf#1"
            first.process.send_signal(end)
            first.process.wait()
        until(
            lambda: second.ask(f"/api/index/{job['id']}")[0] == 200, "the handover", second.process
        )
        assert second.wait(job)["state"] == "done"
        assert second.upload("next.pdf", pdf_of(tmp_path, "next"))[0] == 202


def test_files_that_an_earlier_version_had_accepted_are_indexed(tmp_path):
    """It called a waiting file .ID.NAME, and linked it to NAME while it was indexed."""
    store = make_store(tmp_path)
    uploads = tmp_path / "pages.store.uploads"
    uploads.mkdir()
    waiting = uploads / ".0123456789abcdef.old.pdf"
    waiting.write_bytes(pdf_of(tmp_path, "an old file"))
    (uploads / "old.pdf").hardlink_to(waiting)
    (uploads / ".fedcba9876543210.part").write_bytes(b"%PDF-")
    with serving(store) as server:
        assert server.wait({"id": "0123456789abcdef", "name": "old.pdf"})["state"] == "done"
        assert server.json("/api/search", q="old", k=1)["hits"][0]["id"] == "old.pdf#1"
    assert sorted(path.name for path in uploads.iterdir()) == [".jobs", "old.pdf"]
    assert list((uploads / ".jobs").iterdir()) == []


# ------------------------------------------------------------------------------- disks and folders that fail


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """A disk of 24 MB of its own, which can be filled and made read-only for real."""
    folder = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a disk")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture(scope="module")
def on_disk(disk):
    with serving(make_store(disk)) as server:
        yield server


@contextmanager
def filled(disk):
    """A disk without a free byte."""
    with (disk / "fill").open("wb", buffering=0) as fill:
        for size in (1 << 16, 1 << 12):
            try:
                while fill.write(bytes(size)):
                    pass
            except OSError:
                continue
    try:
        yield
    finally:
        (disk / "fill").unlink()


@contextmanager
def read_only(disk):
    """A disk that nothing can be written to; whoever has a file open for writing closes it first."""

    def remounted(how):
        return subprocess.run(["mount", "-o", f"remount,{how}", disk]).returncode == 0

    until(lambda: remounted("ro"), "a read-only disk")
    try:
        yield
    finally:
        assert remounted("rw")


@contextmanager
def moved(folder):
    """A folder that is somewhere else for a while."""
    elsewhere = folder.with_name("elsewhere")
    folder.rename(elsewhere)
    try:
        yield
    finally:
        elsewhere.rename(folder)


@pytest.mark.parametrize(
    ("fault", "words"),
    [(filled, "No space left on device"), (read_only, "Read-only file system")],
    ids=["full", "read-only"],
)
def test_a_disk_that_cannot_be_written_is_told_and_works_again_without_a_restart(
    on_disk, disk, tmp_path, fault, words
):
    content = pdf_of(tmp_path, f"after the {fault.__name__} disk")
    name = f"{fault.__name__}.pdf"
    with fault(disk):
        status, answer = on_disk.upload(name, content)
        assert (status, words in answer["error"]) == (503, True), answer
        status, headers, body = on_disk.ask("/healthz")
        assert (status, words in json.loads(body)["error"]) == (503, True), body
        assert headers["retry-after"]
        assert str(disk) not in answer["error"] + body.decode()
        assert on_disk.json("/api/search", q="alpha", k=1)["hits"][0]["id"] == "report.pdf#1"
    assert on_disk.ask("/healthz")[0] == 200
    assert on_disk.wait(on_disk.upload(name, content)[1])["state"] == "done"


def test_a_file_that_was_accepted_waits_for_a_full_disk(on_disk, disk, tmp_path):
    with lock_held(disk / "pages.store"):
        _, job = on_disk.upload("waits.pdf", pdf_of(tmp_path, *["waits for space"] * 3))
        until(lambda: on_disk.json(f"/api/index/{job['id']}")["waiting_for"], "a job that waits")
        fill = filled(disk)
        fill.__enter__()
    try:
        until(
            lambda: "No space left" in on_disk.json(f"/api/index/{job['id']}")["waiting_for"],
            "a job that waits for space",
            on_disk.process,
        )
    finally:
        fill.__exit__(None, None, None)
    done = on_disk.wait(job)
    assert (done["state"], done["added"]) == ("done", 3)


def test_a_store_that_was_moved_is_told_and_works_again_when_it_is_back(server, place, tmp_path):
    search = "/api/search?q=alpha&k=1"
    page = server.page("api/pages", "report.pdf#1")
    with moved(place):
        for path in (search, page, "/healthz"):
            status, headers, body = server.ask(path)
            assert (status, "moved or removed" in json.loads(body)["error"]) == (503, True), body
            assert private(place) not in body.decode()
            assert headers["retry-after"]
        status, job = server.upload("moved.pdf", pdf_of(tmp_path, "while it was away"))
        assert status == 202
        until(
            lambda: "moved or removed" in server.json(f"/api/index/{job['id']}")["waiting_for"],
            "a job that waits for the store",
            server.process,
        )
    assert server.ask("/healthz")[0] == 200
    assert server.wait(job)["state"] == "done"
    assert server.ask(search)[0] == server.ask(page)[0] == 200


def test_a_damaged_store_is_answered_with_503(server, place, tmp_path):
    _, job = server.upload("unread.pdf", pdf_of(tmp_path, "nobody has asked for this page"))
    assert server.wait(job)["state"] == "done"
    page = server.page("api/pages", "unread.pdf#1")  # the server remembers pages that it has read
    with moved(place / "pages.lance" / "data"):
        status, _, body = server.ask(page)
        assert (status, "the store cannot be read" in json.loads(body)["error"]) == (503, True)
        assert private(place).strip("/") not in body.decode()
    assert server.ask(page)[0] == 200


def test_a_folder_of_uploads_that_was_removed_is_made_again(tmp_path):
    store = make_store(tmp_path)
    with serving(store) as server:
        (tmp_path / "pages.store.uploads").rename(tmp_path / "removed")
        assert server.wait(server.upload("new.pdf", pdf_of(tmp_path, "new"))[1])["state"] == "done"
        assert (tmp_path / "pages.store.uploads" / "new.pdf").is_file()


# --------------------------------------------------------------------------------------- workers and options


def test_a_worker_takes_the_lower_limit_of_memory_where_the_system_has_one():
    code = """
import resource
from adamerge.server.workers.worker_process import limit_memory
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
limit_memory(8 << 30)
print(resource.getrlimit(resource.RLIMIT_AS))
limit_memory(-1)
print(resource.getrlimit(resource.RLIMIT_AS))
limit_memory(1 << 20)
print(resource.getrlimit(resource.RLIMIT_AS)[0] < 4 << 30)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    limit = str((4 << 30, 4 << 30))
    assert run.stdout.splitlines() == [limit, limit, "True"], run.stderr


def test_a_store_is_served_with_the_options_its_encoder_had(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "report.pdf").write_bytes(pdf_of(tmp_path, "telephone", "television"))
    with am.open_store(tmp_path / "pages.store") as store:
        list(index_files([folder], store, Indexing(ShortLight(letters=5), "adamerge:k=none")))
    with serving(tmp_path / "pages.store") as server:
        best = server.json("/api/search", q="telepathy", k=1)["hits"][0]
        assert (best["id"], round(best["score"], 2)) == ("report.pdf#1", 1.0)
        uploaded = server.wait(server.upload("new.pdf", pdf_of(tmp_path, "microscope"))[1])
        assert uploaded["state"] == "done", uploaded
        best = server.json("/api/search", q="microphone", k=1)["hits"][0]
        assert (best["id"], round(best["score"], 2)) == ("new.pdf#1", 1.0)
        assert server.ask(server.page("inspect", "new.pdf#1", q="microphone"))[0] == 200


def test_a_port_that_is_taken_is_refused_in_words(server, place):
    command = [sys.executable, HERE / "serving.py", "serve", place, "--port", server.address[1]]
    process = start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with ended(process):
        printed, words = process.communicate()
    assert (process.returncode, printed) == (1, "")
    assert words == (
        f"adamerge: cannot listen on 127.0.0.1, port {server.address[1]}: Address already in use; "
        "give another --port (0 takes a free one) or --host\n"
    )
