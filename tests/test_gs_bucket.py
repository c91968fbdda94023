"""Buckets of Google, gs://bucket: the same as a disk, by what pyarrow and Lance do with them.

pyarrow speaks the JSON API of Google, for which gcp-storage-emulator stands. Lance speaks its XML API, which is that of
S3, so that moto answers it. moto knows no `x-goog-if-generation-match`: two writers at once are not tested here.
"""

import json
from urllib.request import Request, urlopen

import pytest
from cli import call, run
from conftest import random_page
from gs_server import gs_environment, gs_server, write_key
from lance_pages import a_page
from light import write_pdf
from ray_cluster import bucket_environment, contents, free_port, upload
from store_pages import pages_of
from vector_pages import write_in_shards

import adamerge as am
from adamerge import buckets
from adamerge.buckets import BucketPath
from adamerge.compress import parse_method
from adamerge.documents import find_files
from adamerge.errors import NotFound, StoreUnavailable
from adamerge.scale.notes import notes_at
from adamerge.store.index_plan import plan_index
from adamerge.vectors import open_shards
from adamerge.vectors.compress_folder import compress_folder

pytestmark = pytest.mark.xdist_group("bucket")  # moto is imported once

OF_THE_FILE = ("root", "hash")  # columns that say where a file lies, and what it is known by


@pytest.fixture(scope="module")
def lance_port():
    """The port at which moto answers what Lance asks for gs://pages."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in bucket_environment(port).items():
            patch.setenv(name, value)
        client = boto3.client("s3")
        client.create_bucket(Bucket="pages")
        client.close()
    yield port
    server.stop()


@pytest.fixture(scope="module")
def server(lance_port, tmp_path_factory):
    """The address of the emulator, which has the bucket gs://pages for pyarrow; the environment names both servers."""
    key = tmp_path_factory.mktemp("key") / "key.json"
    write_key(key, lance_port)
    with gs_server() as address, pytest.MonkeyPatch.context() as patch:
        for name, value in gs_environment(address, key).items():
            patch.setenv(name, value)
        yield address
        buckets.file_system.cache_clear()


@pytest.fixture
def bucket(server, request):
    """A folder of the bucket for each test."""
    return BucketPath(f"gs://pages/{request.node.name}")


@pytest.fixture
def docs(tmp_path):
    """A PDF of two pages, and one of one page in a folder below."""
    folder = tmp_path / "docs"
    write_pdf(folder / "b.pdf", ["one apple", "two pears"])
    write_pdf(folder / "a" / "c.pdf", ["a clock"])
    return folder


@pytest.fixture
def vectors(tmp_path):
    """Nine pages in three shards."""
    pages = (random_page(24, id=f"p{i}") for i in range(9))
    return write_in_shards(tmp_path / "vectors", pages, 3)


def did(paths, store, how):
    """What indexing some paths did."""
    return [(change.id, change.did) for change in am.index_files(paths, store, how)]


def test_a_store_follows_gs_as_it_follows_a_folder(bucket, docs, tmp_path):
    """New, changed, removed and unchanged files."""
    how = am.Indexing("light:Light", "sem-cluster:m=2")
    with am.open_store(tmp_path / "one") as one, am.open_store(tmp_path / "many") as many:
        upload(docs, bucket)
        first = did([docs], one, how)
        assert did([str(bucket)], many, how) == first
        assert len(first) == 3

        write_pdf(docs / "b.pdf", ["one apple less"])
        (docs / "a" / "c.pdf").unlink()
        write_pdf(docs / "e.pdf", ["a new file"])
        upload(docs, bucket)
        assert plan_index([bucket], many, how) == plan_index([docs], one, how)
        second = did([docs], one, how)
        assert did([str(bucket)], many, how) == second
        assert dict(second) == {
            "b.pdf#1": "replaced",
            "b.pdf#2": "removed",
            "a/c.pdf#1": "removed",
            "e.pdf#1": "added",
        }
        assert pages_of(many, without=OF_THE_FILE) == pages_of(one, without=OF_THE_FILE)
        assert {change for _, change in did([str(bucket)], many, how)} == {"unchanged"}
        hit = many.search(how.load_encoder().encode_queries(["apple"])[0])[0]
        assert hit.path == f"{bucket}/b.pdf"


def test_encode_from_gs_to_gs_makes_the_pages_of_a_disk(bucket, docs, tmp_path):
    upload(docs, bucket / "docs")
    light = ["--encoder", "light:Light"]
    on_disk = call("encode", docs, "-o", tmp_path / "out", *light)
    in_bucket = call("encode", bucket / "docs", "-o", bucket / "out", *light)
    assert in_bucket.returncode == on_disk.returncode == 0, in_bucket.stderr
    one, other = contents(tmp_path / "out"), contents(bucket / "out")
    assert one.pop("manifest.json") != other.pop("manifest.json")  # they know their files by it
    assert one == other


def test_compress_from_gs_to_gs_makes_the_same_bytes(bucket, vectors, tmp_path):
    upload(vectors, bucket / "in")
    words = ["compress", bucket / "in", "-o", bucket / "out", "--method", "height+int4"]
    on_disk = call("compress", vectors, "-o", tmp_path / "out", "--method", "height+int4")
    in_bucket = run(*words)
    assert in_bucket.stdout == on_disk.stdout, in_bucket.stderr
    assert contents(bucket / "out") == contents(tmp_path / "out")
    assert call(*words).stdout == on_disk.stdout
    assert call("info", bucket / "out").stdout == call("info", tmp_path / "out").stdout


def test_a_run_into_gs_goes_on_where_it_was_stopped(bucket, vectors, tmp_path):
    method = parse_method("sem-cluster:m=2")
    compress_folder(open_shards(vectors), tmp_path / "out", method)
    upload(vectors, bucket / "in")
    out = bucket / "out"

    class Stopped(Exception):
        """Ends a run after the first shard."""

    class Watcher:
        passed_over = 0
        stops = True

        def pass_over(self, pages=1):
            self.passed_over += pages

        def advance(self, pages=1):
            if self.stops and (out / "shard-00000.safetensors").exists():
                raise Stopped

    watcher = Watcher()
    with pytest.raises(Stopped):
        compress_folder(open_shards(bucket / "in"), out, method, watcher=watcher)
    names = [path.name for path in out.iterdir()]
    assert names == ["manifest.json", "plan.jsonl", "shard-00000.safetensors"]

    watcher.stops = False
    compress_folder(open_shards(bucket / "in"), out, method, watcher=watcher)
    assert watcher.passed_over == 3
    assert contents(out) == contents(tmp_path / "out")


def test_a_run_into_gs_that_fails_leaves_nothing_and_says_why(bucket, docs):
    (bucket / "docs" / "broken.pdf").write_bytes(b"%PDF- nothing")
    words = ["encode", bucket / "docs", "-o", bucket / "out", "--encoder", "light:Light"]
    result = call(*words)
    assert result.returncode == 1
    assert f"{bucket}/docs/broken.pdf is damaged" in result.stderr
    assert not (bucket / "out").exists()


def test_what_lies_in_gs_is_listed_read_and_removed(bucket, docs):
    upload(docs, bucket)
    large = bytes(range(256)) * (40 << 10)  # 10 MiB: more than one request writes
    (bucket / "large.bin").write_parts([large[: 5 << 20], large[5 << 20 :]])
    assert [path.name for path in bucket.iterdir()] == ["a", "b.pdf", "large.bin"]
    assert [path.name for path in bucket.glob("*.pdf")] == ["b.pdf"]
    assert [name for _, name in find_files([str(bucket)])] == ["a/c.pdf", "b.pdf"]
    assert (bucket / "a").is_dir()
    assert not (bucket / "b.pdf").is_dir()
    assert not (bucket / "b").exists()

    assert b"".join((bucket / "large.bin").read_parts()) == large
    assert (bucket / "large.bin").read_range(5 << 20, 300) == large[5 << 20 :][:300]
    assert (bucket / "large.bin").read_range(len(large) - 2, 300) == large[-2:]
    for file in bucket.files_below():
        assert file.listed_version == BucketPath(str(file)).version()

    (bucket / "b.pdf").unlink()
    (bucket / "b.pdf").unlink(missing_ok=True)
    with pytest.raises(FileNotFoundError):
        (bucket / "b.pdf").unlink()
    with pytest.raises(FileNotFoundError):
        (bucket / "b.pdf").read_bytes()


def test_a_folder_of_gs_that_holds_folders_alone_is_not_empty(bucket, vectors):
    """Else a run that fails would take them with it when it removes the folder that it began."""
    (bucket / "out" / "kept" / "a.txt").write_bytes(b"kept")
    refused = call("compress", vectors, "-o", bucket / "out")
    assert "is not empty and holds no vectors: choose another folder" in refused.stderr
    with pytest.raises(OSError, match="is not empty"):
        (bucket / "out").rmdir()
    assert (bucket / "out" / "kept" / "a.txt").read_text() == "kept"


def test_to_remove_a_folder_of_gs_removes_no_bucket(server):
    body = json.dumps({"name": "fresh"}).encode()
    headers = {"Content-Type": "application/json"}
    urlopen(Request(f"{server}/storage/v1/b", body, headers)).close()
    fresh = BucketPath("gs://fresh")
    fresh.rmdir()
    assert fresh.exists()
    (fresh / "folder").rmdir()  # which is not there
    buckets.file_system("gs://fresh").create_dir("fresh/folder")
    assert (fresh / "folder").exists()
    (fresh / "folder").rmdir()
    assert not (fresh / "folder").exists()


def test_notes_of_a_job_lie_in_gs(bucket):
    notes = notes_at(str(bucket / ".job-1"))
    notes.remove()
    assert notes.read("plan") is None
    notes.write("plan", "two pâges\n")
    notes.write("unit", "first")
    notes.write("unit", "second")
    assert (notes.read("plan"), notes.read("unit")) == ("two pâges\n", "second")
    notes.forget("unit")
    assert notes.read("unit") is None
    (bucket / ".job-10" / "plan").write_bytes(b"of another job")
    notes.remove()
    assert [path.name for path in bucket.iterdir()] == [".job-10"]


def test_a_bucket_of_gs_that_is_missing_is_said_in_one_line(server, vectors):
    with pytest.raises(NotFound, match=r"gs://missing/docs does not exist"):
        find_files(["gs://missing/docs"])
    with pytest.raises(NotFound, match=r"gs://missing/v is not a folder of vectors"):
        open_shards("gs://missing/v")
    result = call("compress", vectors, "-o", "gs://missing/out")
    assert result.returncode == 1
    assert result.stderr.endswith("cannot be written: its bucket does not exist\n")


def test_a_server_of_gs_that_does_not_answer_is_said_in_one_line(server, monkeypatch):
    monkeypatch.setenv("CLOUD_STORAGE_EMULATOR_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setattr(buckets, "PATIENCE", 0.1)
    with pytest.raises(StoreUnavailable) as error:
        find_files(["gs://away/docs"])
    text = str(error.value)
    assert text.startswith("gs://away/docs cannot be reached: UNAVAILABLE")
    assert text.endswith("Could not connect to server")


def test_a_bucket_of_gs_is_a_store(bucket):
    with am.open_store(str(bucket)) as store:
        store.add(a_page(i) for i in range(40))
        store.add(a_page(3, 9))
        assert store.delete("p00004") == 1
    with am.open_store(str(bucket)) as store:
        assert len(store) == 39
        assert store.search(a_page(7).vectors, 1)[0].id == "p00007"
        assert store.facts()["bytes in all"] > store.facts()["bytes of vectors"] > 0


def test_documents_in_gs_fill_a_store_in_gs(bucket, docs, tmp_path):
    upload(docs, bucket)
    how = am.Indexing("light:Light", "sem-cluster:m=2")
    with am.open_store(tmp_path / "one") as one, am.open_store(str(bucket / "store")) as many:
        assert did([str(bucket)], many, how) == did([docs], one, how)
        assert pages_of(many, without=OF_THE_FILE) == pages_of(one, without=OF_THE_FILE)


def test_a_store_in_gs_that_does_not_answer_is_unavailable(tmp_path, monkeypatch):
    key = write_key(tmp_path / "key.json", free_port())
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(key))
    monkeypatch.setenv("GOOGLE_ALLOW_HTTP", "true")
    once = {"client_max_retries": "0", "client_retry_timeout": "1"}
    with pytest.raises(StoreUnavailable, match="the bucket does not answer") as error:
        am.open_store("gs://away/pages", storage_options=once)
    assert "restore" not in str(error.value)
