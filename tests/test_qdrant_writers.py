"""One process indexes into a collection at a time, and one that has died does not keep the others out."""

import os
import subprocess
import sys

import pytest
from later import needs_qdrant
from light import Light, write_pdf
from qdrant_server import qdrant_server
from stores import a_page
from waiting import until

import adamerge as am
from adamerge.errors import BadInput, Locked

pytestmark = needs_qdrant

HOW = am.Indexing(Light(), "sem-cluster:m=2", pixels=0)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr("adamerge.store.qdrant.writer_lock.BEAT", 0.05)
    with qdrant_server() as database:
        yield database


@pytest.fixture
def docs(tmp_path):
    write_pdf(tmp_path / "docs" / "a.pdf", ["apples", "pears"])
    return tmp_path / "docs"


def writer_of(server, collection="pages"):
    """What the collection says of its writer."""
    return (server.client.get_collection(collection).config.metadata or {}).get("adamerge_writer")


def name_writer(server, **fields):
    """Let the collection name a writer."""
    writer = {"token": "t", "host": "elsewhere", "process": 1, "beat": 0} | fields
    server.client.update_collection("pages", metadata={"adamerge_writer": writer})


def test_a_second_one_that_indexes_is_refused_and_may_come_when_the_first_has_closed(server, docs):
    url = f"{server.url}/pages"
    with am.open_store(url) as first:
        list(am.index_files([docs], first, HOW))  # makes the collection
        for _ in range(2):
            with (
                am.open_store(url) as second,
                pytest.raises(
                    Locked, match=f"writing to collection 'pages': process {os.getpid()} of "
                ),
            ):
                list(am.index_files([docs], second, HOW))
        first.begin_writing()  # still the writer
    assert writer_of(server) is None
    with am.open_store(url) as second:
        assert {change.did for change in am.index_files([docs], second, HOW)} == {"unchanged"}
        assert writer_of(server)["process"] == os.getpid()


def test_a_writer_shows_that_it_lives(server):
    with am.open_store(f"{server.url}/pages") as store:
        store.add(a_page(1))
        assert writer_of(server) is None  # to add pages needs no lock
        store.begin_writing()
        until(lambda: writer_of(server)["beat"] > 2, "signs of life")


def test_a_writer_whose_process_was_killed_is_not_waited_for(server, docs):
    url = f"{server.url}/pages"
    code = f"""
import os, signal, adamerge as am
store = am.open_store({url!r})
store.begin_writing()
print("writes", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    with am.open_store(url) as store:
        list(am.index_files([docs], store, HOW))
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert killed.stdout == "writes\n", killed.stderr
    assert writer_of(server) is not None
    with am.open_store(url) as store:
        store.begin_writing()
        assert writer_of(server)["process"] == os.getpid()


def test_a_writer_of_another_machine_is_dead_after_it_was_silent_for_long(server, monkeypatch):
    monkeypatch.setattr("adamerge.store.qdrant.writer_lock.SILENCE", 0.5)
    with am.open_store(f"{server.url}/pages") as store:
        store.add(a_page(1))
        name_writer(server)
        store.begin_writing()
        assert writer_of(server)["process"] == os.getpid()


def test_a_writer_that_was_replaced_writes_no_more(server):
    with am.open_store(f"{server.url}/pages") as store:
        store.add(a_page(1))
        store.begin_writing()
        name_writer(server, process=77)

        def is_refused():
            try:
                store.add(a_page(2))
            except Locked as error:
                return "process 77 of elsewhere" in str(error)
            return False

        until(is_refused, "the writer to notice")
    assert writer_of(server)["process"] == 77  # closing leaves the name of the other one


def test_a_collection_that_another_process_makes_first_is_theirs(server):
    first, second = (am.open_store(f"{server.url}/pages") for _ in range(2))
    with first, second:
        first.begin_writing()
        second.begin_writing()  # there is nothing yet in which a writer could leave its name
        first.add(a_page(1))
        second.refresh = lambda: None  # it looked a moment ago
        with pytest.raises(Locked, match="another process has just made collection 'pages'"):
            second.add(a_page(2))
        assert len(first) == 1
    assert writer_of(server) is None


def test_other_processes_need_the_address_of_a_server(server):
    from adamerge.store.qdrant.store import QdrantStore

    store = QdrantStore(server.client, "pages")
    about = store.new_about(8, "identity")
    with pytest.raises(BadInput, match=r'open_store\("http://host:6333/reports"\)'):
        store.point_writer(about, [])
