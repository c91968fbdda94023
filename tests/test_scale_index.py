"""A store that a cluster fills: the same pages as on one machine, all of a job at once, whatever is lost on the way."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import lance
import pytest
from cli import QUIET, call, run
from gs_server import gs_server
from light import write_pdf
from processes import ended, start
from ray_cluster import Gate, bucket_environment, contents, in_small_units, upload
from store_pages import left_overs, pages_of
from waiting import LONG, until

import adamerge as am
from adamerge import scale
from adamerge.buckets import BucketPath, file_system
from adamerge.encoders import EncoderSpec
from adamerge.errors import Locked
from adamerge.scale.index import index_files
from adamerge.vectors import units

pytestmark = pytest.mark.xdist_group("ray")

HOW = am.Indexing(EncoderSpec("light:Batched"), "sem-cluster:m=2", batch_size=2, pixels=64)
OF_THE_FILE = ("root", "hash")  # columns that say where a file lies, and what it is known by
ONE, TWO = scale.Cluster("auto", workers=1), scale.Cluster("auto", workers=2)


@pytest.fixture
def docs(tmp_path, monkeypatch):
    """Three files of 7, 1 and 4 pages, three pages to a unit."""
    monkeypatch.setattr(units, "PAGES_PER_UNIT", 3)
    folder = tmp_path / "docs"
    write_pdf(folder / "a.pdf", [f"{i} apples and a pear" for i in range(7)])
    write_pdf(folder / "b.pdf", ["the clock is late"])
    write_pdf(folder / "sub" / "c.pdf", [f"wheel {i} turns" for i in range(4)])
    return folder


def test_a_store_has_the_pages_of_one_machine_before_and_after_files_change(
    ray_cluster, docs, tmp_path
):
    one, many = am.open_store(tmp_path / "one"), am.open_store(tmp_path / "many")
    years = {"a.pdf": {"year": 1990}}
    with one, many:
        assert list(index_files([docs], many, TWO, HOW, years)) == list(
            am.index_files([docs], one, HOW, years)
        )
        assert pages_of(many) == pages_of(one)
        assert lance.dataset(tmp_path / "many" / "pages.lance").version == 1  # one commit

        write_pdf(docs / "a.pdf", ["only one page with apples"])
        (docs / "b.pdf").unlink()
        write_pdf(docs / "d.pdf", ["a new file", "of two pages"])
        changes = {}
        for store in (one, many):
            years = {"d.pdf": {"year": 2001, "language": "en"}, "sub/c.pdf": {"year": 1995}}
            if store is one:
                found = list(am.index_files([docs], store, HOW, years))
            else:
                found = list(index_files([docs], store, ONE, HOW, years))
            changes[store] = sorted((change.id, change.did) for change in found)
        assert changes[many] == changes[one]
        assert {did for _, did in changes[one]} == {"added", "replaced", "unchanged", "removed"}
        assert pages_of(many) == pages_of(one)

        for text in ("apples", "wheel 2 turns", "new file"):
            query = EncoderSpec("light:Batched").load().encode_queries([text])[0]
            hits = [[(hit.id, hit.score) for hit in store.search(query)] for store in (one, many)]
            assert hits[0] == hits[1]
    assert left_overs(tmp_path / "many") == []
    with am.open_store(tmp_path / "many") as store:
        again = list(index_files([docs], store, scale.Cluster("no-cluster:1"), HOW))
    assert {change.did for change in again} == {"unchanged"}  # and no cluster was needed


def test_a_driver_that_is_killed_is_followed_by_one_that_goes_on(ray_cluster, docs, tmp_path):
    gate = Gate(tmp_path / "gate")
    path = tmp_path / "store"
    write_pdf(docs / "0.pdf", ["first of all", "second", "third"])
    words = ["index", docs, "--store", path, "--encoder", "light:Light", "--thumbnail", 0]
    words += ["--method", gate.method, "--module", gate.module, "--workers", 1]
    command = in_small_units(*words, "--ray", ray_cluster.address)
    environment = os.environ | QUIET | {"PYTHONPATH": os.path.dirname(__file__)}
    driver = start(command, env=environment)
    with ended(driver):
        gate.wait_for_workers(process=driver)
        gate.open()
        until(lambda: list(path.glob(".job-*/unit-00000.json")), "the first unit", driver)
        gate.close()
        driver.kill()
        driver.wait(LONG)
    noted = next(path.glob(".job-*/unit-00000.json"))
    before = noted.stat().st_mtime_ns
    with pytest.raises(am.AdamergeError, match="holds no pages yet"), am.open_store(path) as store:
        list(store.entries())

    gate.open()
    how = replace(
        HOW, encoder=EncoderSpec("light:Light"), method=gate.method, pixels=0, batch_size=4
    )
    seen = []
    with am.open_store(path) as store:
        for change in index_files([docs], store, gate.cluster, how):
            if not seen:
                assert noted.stat().st_mtime_ns == before  # the unit was not done again
            seen.append(change.id)
    with am.open_store(tmp_path / "one") as one, am.open_store(path) as store:
        assert seen == [change.id for change in am.index_files([docs], one, how)]
        assert pages_of(store) == pages_of(one)
    assert left_overs(path) == []


def test_a_job_that_was_given_up_leaves_nothing_behind(ray_cluster, docs, tmp_path):
    """Another write, or another job, comes between: what the first one wrote is removed."""
    path = tmp_path / "store"
    write_pdf(docs / "z.pdf", [""])
    how = replace(HOW, encoder=EncoderSpec("light:Light"))
    with (
        pytest.raises(am.AdamergeError, match=r"z\.pdf#1' has no words"),
        am.open_store(path) as store,
    ):
        list(index_files([docs], store, ONE, how))
    assert list(path.glob(".job-*/unit-00000.json"))
    with am.open_store(path) as store:
        (docs / "z.pdf").unlink()
        list(am.index_files([docs], store, how))
        assert len(store) == 12
    assert left_overs(path) == []


def test_a_store_that_somebody_writes_to_is_refused_at_the_start(ray_cluster, docs, tmp_path):
    with am.open_store(tmp_path / "store") as writer, am.open_store(tmp_path / "store") as second:
        writer.begin_writing()
        with pytest.raises(Locked, match="another process is writing"):
            list(index_files([docs], second, scale.Cluster("no-cluster:1"), HOW))


def test_a_job_is_committed_once(ray_cluster, docs, tmp_path):
    with am.open_store(tmp_path / "store") as store:
        list(am.index_files([docs], store, HOW))
        rows = store.row_writer(store.about, [])
        fragments = rows.write([replace(entry, source="x.pdf") for entry in store.get(["b.pdf#1"])])
        for _ in range(2):
            store.commit_rows(rows, fragments, {"b.pdf#1", "a.pdf#7"}, "the key")
        assert len(store) == 11
        assert store.get(["b.pdf#1"])[0].source == "x.pdf"


def test_a_worker_that_is_killed_costs_no_page(ray_cluster, docs, tmp_path):
    gate = Gate(tmp_path / "gate")
    how = replace(HOW, encoder=EncoderSpec("light:Light"), method=gate.method)
    summary = scale.Summary()
    with am.open_store(tmp_path / "store") as store, ThreadPoolExecutor(1) as thread:
        job = index_files([docs], store, replace(gate.cluster, workers=2), how, None, summary)
        running = thread.submit(list, job)
        os.kill(gate.wait_for_workers(2)[0], 9)
        gate.open()
        assert len(running.result(LONG)) == len(store) == 12
    assert summary.retries == 1
    assert left_overs(tmp_path / "store") == []


def test_the_command_says_what_it_did(ray_cluster, docs, tmp_path):
    (docs / "broken.pdf").write_bytes(b"%PDF- nothing")
    words = ["index", docs, "--encoder", "light:Light", "--method", "height+int4"]
    alone = call(*words, "--store", tmp_path / "one")
    on_cluster = ["--ray", ray_cluster.address, "--workers", 1]
    result = run(*words, "--store", tmp_path / "many", *on_cluster)
    assert result.returncode == 0, result.stderr
    told = alone.stdout.replace(str(tmp_path / "one"), str(tmp_path / "many"))
    assert result.stdout.splitlines()[0] == told.splitlines()[0] == "pages: 12 added; 1 skipped"
    summary, skipped = result.stderr.splitlines()
    assert summary.startswith("adamerge: 12 pages, ")
    assert summary.endswith(" s of CPU, 2 nodes, 1 bad page")
    assert "broken.pdf is damaged" in skipped
    with am.open_store(tmp_path / "one") as one, am.open_store(tmp_path / "many") as many:
        assert pages_of(many) == pages_of(one)


@pytest.fixture
def s3(ray_cluster, monkeypatch):
    """A client of moto, which has a bucket `pages`."""
    import boto3
    from moto.server import ThreadedMotoServer

    for name, value in bucket_environment(ray_cluster.bucket_port).items():
        monkeypatch.setenv(name, value)
    server = ThreadedMotoServer("127.0.0.1", ray_cluster.bucket_port, verbose=False)
    server.start()
    client = boto3.client("s3")
    client.create_bucket(Bucket="pages")
    yield client
    client.close()
    server.stop()


def test_a_bucket_filled_from_a_bucket_has_the_pages_of_one_machine(
    ray_cluster, docs, tmp_path, s3
):
    in_bucket = BucketPath("s3://pages/docs")
    with am.open_store("s3://pages/store") as many, am.open_store(tmp_path / "one") as one:
        for _ in range(2):
            upload(docs, in_bucket)
            list(am.index_files([docs], one, HOW))
            list(index_files([str(in_bucket)], many, ONE, HOW))
            assert pages_of(many, without=OF_THE_FILE) == pages_of(one, without=OF_THE_FILE)
            write_pdf(docs / "b.pdf", ["the clock is early", "for once"])
    listed = s3.list_objects_v2(Bucket="pages", Prefix="store/.job-")
    assert listed["KeyCount"] == 0


@pytest.fixture
def gs(ray_cluster, s3, monkeypatch):
    """A bucket of Google, gs://pages; what Lance asks of it, moto answers."""
    for name, value in ray_cluster.gs_environment.items():
        monkeypatch.setenv(name, value)
    with gs_server(ray_cluster.gs_port):
        yield BucketPath("gs://pages")
    file_system.cache_clear()


def test_documents_and_vectors_in_gs_are_worked_on_as_those_on_a_disk(
    ray_cluster, docs, tmp_path, gs
):
    upload(docs, gs / "docs")
    encode = ["encode", "--encoder", "light:Batched"]
    compress = ["compress", "--method", "height"]
    run(*encode, docs, "-o", tmp_path / "vectors")
    run(*compress, tmp_path / "vectors", "-o", tmp_path / "small")

    by_cluster = ["--ray", ray_cluster.address]
    encoded = run(*encode, gs / "docs", "-o", gs / "vectors", *by_cluster)
    assert encoded.returncode == 0, encoded.stderr
    compressed = run(*compress, gs / "vectors", "-o", gs / "small", *by_cluster)
    assert compressed.returncode == 0, compressed.stderr
    assert shards_of(gs / "vectors") == shards_of(tmp_path / "vectors")
    assert shards_of(gs / "small") == shards_of(tmp_path / "small") != {}


def shards_of(folder):
    """The bytes of its shards: the manifest knows files of a bucket by other facts than those on a disk."""
    return {name: data for name, data in contents(folder).items() if name.startswith("shard-")}
