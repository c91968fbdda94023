"""A Qdrant collection that a cluster fills: the pages of one machine, whatever is lost on the way, and one writer."""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from cli import QUIET, run
from light import write_pdf
from processes import ended, start
from qdrant_server import qdrant_server
from ray_cluster import Gate, in_small_units
from store_pages import pages_of
from waiting import LONG, until

import adamerge as am
from adamerge import scale
from adamerge.encoders import EncoderSpec
from adamerge.scale.index import index_files
from adamerge.vectors import units

pytestmark = pytest.mark.xdist_group("ray")

HOW = am.Indexing(EncoderSpec("light:Batched"), "sem-cluster:m=2", batch_size=2, pixels=64)
ONE, TWO = scale.Cluster("auto", workers=1), scale.Cluster("auto", workers=2)


@pytest.fixture
def docs(tmp_path, monkeypatch):
    """Two files of 7 and 1 pages, three pages to a unit."""
    monkeypatch.setattr(units, "PAGES_PER_UNIT", 3)
    folder = tmp_path / "docs"
    write_pdf(folder / "a.pdf", [f"{i} apples and a pear" for i in range(7)])
    write_pdf(folder / "b.pdf", ["the clock is late"])
    return folder


@pytest.fixture
def server():
    with qdrant_server() as database:
        yield database


def test_a_collection_has_the_pages_of_one_machine_before_and_after_files_change(
    ray_cluster, docs, server
):
    one, many = am.open_store(f"{server.url}/one"), am.open_store(f"{server.url}/many")
    years = {"a.pdf": {"year": 1990}}
    with one, many:
        alone = set(am.index_files([docs], one, HOW, years))
        assert set(index_files([docs], many, TWO, HOW, years)) == alone
        assert pages_of(many) == pages_of(one)

        write_pdf(docs / "a.pdf", ["only one page with apples"])
        (docs / "b.pdf").unlink()
        write_pdf(docs / "d.pdf", ["a new file", "of two pages"])
        years = {"d.pdf": {"year": 2001, "language": "en"}}
        alone = set(am.index_files([docs], one, HOW, years))
        assert set(index_files([docs], many, ONE, HOW, years)) == alone
        assert {change.did for change in alone} == {"added", "replaced", "removed"}
        assert pages_of(many) == pages_of(one)
        assert sorted(pages_of(many)) == ["a.pdf#1", "d.pdf#1", "d.pdf#2"]
        for text in ("apples", "new file"):
            query = EncoderSpec("light:Batched").load().encode_queries([text])[0]
            hits = [[(hit.id, hit.score) for hit in store.search(query)] for store in (one, many)]
            assert hits[0] == hits[1]

        again = list(index_files([docs], many, scale.Cluster("no-cluster:1"), HOW))
        assert {change.did for change in again} == {"unchanged"}  # and no cluster was needed


def test_a_worker_that_is_killed_costs_no_page(ray_cluster, docs, server, tmp_path):
    gate = Gate(tmp_path / "gate")
    how = replace(HOW, encoder=EncoderSpec("light:Light"), method=gate.method)
    summary = scale.Summary()
    with am.open_store(f"{server.url}/pages") as store, ThreadPoolExecutor(1) as thread:
        job = index_files([docs], store, replace(gate.cluster, workers=2), how, None, summary)
        running = thread.submit(list, job)
        os.kill(gate.wait_for_workers(2)[0], 9)
        gate.open()
        told = running.result(LONG)
        assert sorted(change.id for change in told) == sorted(pages_of(store))
        assert len(told) == len(store) == 8
    assert summary.retries == 1


def test_a_driver_that_is_killed_is_followed_by_one_that_writes_only_what_is_missing(
    ray_cluster, docs, server, tmp_path
):
    gate = Gate(tmp_path / "gate")
    url = f"{server.url}/pages"
    words = ["index", docs, "--store", url, "--encoder", "light:Light", "--thumbnail", 0]
    words += ["--method", gate.method, "--module", gate.module, "--workers", 1]
    command = in_small_units(*words, "--ray", ray_cluster.address)
    environment = os.environ | QUIET | {"PYTHONPATH": os.path.dirname(__file__)}
    driver = start(command, env=environment)
    with ended(driver):
        gate.wait_for_workers(process=driver)
        gate.open()
        until(lambda: server.written, "pages of the first unit", driver)
        gate.close()
        driver.kill()
        driver.wait(LONG)
    gate.open()

    how = replace(HOW, encoder=EncoderSpec("light:Light"), method=gate.method, pixels=0)
    how = replace(how, batch_size=4)
    with am.open_store(url) as store, am.open_store(f"{server.url}/one") as one:
        told = list(index_files([docs], store, gate.cluster, how))
        did = Counter(change.did for change in told)
        assert did["unchanged"] >= 3  # a unit, at the least
        assert did["unchanged"] + did["added"] == len(store) == 8
        list(am.index_files([docs], one, how))
        assert pages_of(store) == pages_of(one)


def test_the_command_says_what_it_did(ray_cluster, docs, server):
    url = f"{server.url}/pages"
    words = ["index", docs, "--store", url, "--encoder", "light:Light", "--method", "height"]
    result = run(*words, "--ray", ray_cluster.address, "--workers", 1)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == "pages: 8 added"
    assert result.stderr.startswith("adamerge: 8 pages, ")
    with am.open_store(url) as store:
        assert store.about.dtype == "float16"
        assert store.about.method == "height:h=1"
        assert len(store) == 8
    assert "adamerge_writer" not in server.client.get_collection("pages").config.metadata


def test_a_collection_that_is_removed_meanwhile_is_not_filled_on(
    ray_cluster, docs, server, tmp_path
):
    gate = Gate(tmp_path / "gate")
    how = replace(HOW, encoder=EncoderSpec("light:Light"), method=gate.method)
    with am.open_store(f"{server.url}/pages") as store, ThreadPoolExecutor(1) as thread:
        running = thread.submit(list, index_files([docs], store, gate.cluster, how))
        gate.wait_for_workers()
        server.client.delete_collection("pages")
        gate.open()
        with pytest.raises(am.AdamergeError, match="was removed or made anew while it was filled"):
            running.result(LONG)
        assert server.written == []
        with am.open_store(f"{server.url}/pages") as new:
            assert new.about is None
