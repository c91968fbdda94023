"""The server under load, and against kills, hang-ups and hostile files: real processes, and no need to be fast."""

import json
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hostile import memory_bomb, time_bomb
from processes import stopped
from server_store import make_store, pdf_of
from serving import serving, workers


def test_files_beyond_those_that_may_wait_are_refused_at_once(tmp_path):
    with serving(make_store(tmp_path)) as server, ThreadPoolExecutor(80) as pool:
        server.wait(server.upload("first.pdf", pdf_of(tmp_path, "alpha"))[1])
        content = pdf_of(tmp_path, "theta")
        with stopped(workers(server)[-1]):
            answers = list(pool.map(lambda i: server.upload(f"{i}.pdf", content), range(80)))
            taken = [job for status, job in answers if status == 202]
            refused = {answer["error"] for status, answer in answers if status == 503}
            assert len(taken) in (32, 33)  # one may be in the worker's hands
            assert refused == {"too many files wait to be indexed: try again later"}
            assert server.ask("/static/app.css")[0] == 200
            assert server.ask(server.page("page", "report.pdf#1"))[0] == 200
        assert {server.wait(job)["state"] for job in taken} == {"done"}
        assert len(list((tmp_path / "pages.store.uploads").iterdir())) == len(taken) + 1


def test_inspections_beyond_those_that_may_wait_are_refused_and_pictures_become_small(tmp_path):
    with serving(make_store(tmp_path)) as server, ThreadPoolExecutor(60) as pool:
        inspect, picture = (
            server.page("inspect", "report.pdf#1"),
            server.page("picture", "report.pdf#1"),
        )
        assert server.ask(inspect)[0] == 200
        with stopped(workers(server)[0]):
            asked = [pool.submit(server.ask, inspect) for _ in range(60)]
            until = time.monotonic() + 60
            while sum(one.done() for one in asked) < 52 and time.monotonic() < until:
                time.sleep(0.05)
            assert [one.result()[0] for one in asked if one.done()] == [503] * 52
            assert server.ask("/static/app.css")[0] == 200
            assert server.ask(f"{picture}?full=1")[2] == server.ask(picture)[2]
        assert sum(one.result()[0] == 200 for one in asked) == 8


@pytest.mark.parametrize(
    "end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda end: end.name
)
def test_what_was_taken_is_indexed_by_the_next_server(tmp_path, end):
    store = make_store(tmp_path)
    with serving(store) as server:
        long = server.upload("long.pdf", pdf_of(tmp_path, *["word after word"] * 160))[1]
        queued = server.upload("queued.pdf", pdf_of(tmp_path, "theta"))[1]
        while server.json(f"/api/index/{long['id']}")["done"] < 40:  # the first 32 are in the store
            time.sleep(0.01)
        for pid in [
            server.process.pid,
            *(workers(server) if end == signal.SIGTERM else []),
        ]:  # as systemd does
            os.kill(pid, end)
        server.process.wait(timeout=60)
    (tmp_path / "pages.store.uploads" / ".0123456789abcdef.part").write_bytes(b"%PDF-")
    with serving(store) as server:
        done = server.wait(long)
        assert (done["state"], done["added"] + done["unchanged"]) == ("done", 160)
        assert done["unchanged"] >= 32
        assert server.wait(queued)["state"] == "done"
        assert server.json("/api/store")["pages"] == 3 + 160 + 1
    kept = sorted(path.name for path in (tmp_path / "pages.store.uploads").iterdir())
    assert kept == ["long.pdf", "queued.pdf"]


def test_who_hangs_up_while_sending_is_no_error_of_the_server(tmp_path):
    with serving(make_store(tmp_path)) as server:
        address = ("127.0.0.1", int(server.url.rsplit(":", 1)[1]))
        head = b"POST /api/index HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n"
        with socket.create_connection(address) as line:
            line.sendall(
                head + b"Content-Type: multipart/form-data; boundary=line\r\n\r\n--line\r\n"
            )
        until, counted = (
            time.monotonic() + 60,
            'adamerge_requests_total{route="index",method="POST",status="400"} 1',
        )
        while (
            counted not in (text := server.ask("/metrics")[2].decode()) and time.monotonic() < until
        ):
            time.sleep(0.05)
        assert counted in text
        assert 'status="500"' not in text


def test_a_worker_that_is_killed_fails_its_job_and_the_next_one_is_indexed(tmp_path):
    store = make_store(tmp_path)
    with serving(store) as server:
        searching, wrong = threading.Event(), []

        def search():
            while not searching.is_set():
                status, _, body = server.ask("/api/search?q=alpha&k=1")
                if status != 200 or json.loads(body)["hits"][0]["id"] != "report.pdf#1":
                    wrong.append(body)

        with ThreadPoolExecutor(4) as pool:
            clients = [pool.submit(search) for _ in range(4)]
            job = server.upload("long.pdf", pdf_of(tmp_path, *["word after word"] * 400))[1]
            server.wait(job, ["indexing"])
            until = time.monotonic() + 60
            while server.json(f"/api/index/{job['id']}")["done"] < 40 and time.monotonic() < until:
                time.sleep(0.01)
            for pid in workers(server):
                os.kill(pid, signal.SIGKILL)
            failed = server.wait(job)
            assert failed["state"] == "failed"
            assert (
                "its worker ended (signal 9), most likely because the file needs more memory"
                in failed["error"]
            )
            assert not list((tmp_path / "pages.store.uploads").iterdir())
            assert (
                server.wait(server.upload("next.pdf", pdf_of(tmp_path, "theta iota"))[1])["state"]
                == "done"
            )
            searching.set()
            assert all(client.result() is None for client in clients)
        assert wrong == []
        assert server.json("/api/search", q="theta", k=1)["hits"][0]["id"] == "next.pdf#1"
        assert server.json("/api/store")["pages"] == 4  # nothing is left of the one that failed


def test_a_file_that_eats_memory_or_time_is_given_up_and_the_next_one_is_indexed(tmp_path):
    with serving(make_store(tmp_path), seconds=20, memory=1 << 30) as server:
        eats_memory, eats_time = (
            server.upload("bomb.pdf", make())[1] for make in (memory_bomb, time_bomb)
        )
        good = server.upload("good.pdf", pdf_of(tmp_path, "theta iota"))[1]
        failed = server.wait(eats_memory)
        assert (failed["state"], "memory" in failed["error"]) == ("failed", True), failed
        assert server.json("/api/search", q="alpha", k=1)["hits"]
        failed = server.wait(eats_time)
        assert (failed["state"], "took too long" in failed["error"]) == ("failed", True), failed
        assert server.wait(good)["state"] == "done"
        assert [path.name for path in (tmp_path / "pages.store.uploads").iterdir()] == ["good.pdf"]
