"""Documents in a bucket: the same pages as from a disk. A local S3 (moto) stands for the bucket."""

import pytest
from cli import call
from light import write_pdf
from office_files import write_docx
from PIL import Image
from ray_cluster import bucket_environment, upload
from store_pages import pages_of

import adamerge as am
from adamerge import buckets
from adamerge.buckets import BucketPath
from adamerge.documents import count_file, find_files, office, other_files, page_id
from adamerge.documents.download import on_disk
from adamerge.documents.read import read_file
from adamerge.errors import BadFile, BadInput, NotFound, StoreUnavailable
from adamerge.store.index_plan import plan_index

pytestmark = pytest.mark.xdist_group("bucket")  # moto is imported once

OF_THE_FILE = ("root", "hash")  # columns that say where a file lies, and what it is known by


@pytest.fixture(scope="module")
def bucket():
    """An empty bucket."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in bucket_environment(server.get_host_and_port()[1]).items():
            patch.setenv(name, value)
        client = boto3.client("s3")
        client.create_bucket(Bucket="docs")
        client.close()
        yield BucketPath("s3://docs")
    buckets.file_system.cache_clear()
    server.stop()


@pytest.fixture
def docs(tmp_path):
    """A PDF of two pages, one of one page in a folder below, a picture, and a file without pages."""
    folder = tmp_path / "docs"
    write_pdf(folder / "b.pdf", ["one apple", "two pears"])
    write_pdf(folder / "a" / "c.pdf", ["a clock"])
    Image.new("RGB", (40, 30), "red").save(folder / "d.png")
    (folder / "notes.log").write_text("nothing")
    return folder


def both(docs, folder, one, many, how):
    """What indexing from a disk and from a bucket did, after the bucket was given what the disk has."""
    upload(docs, folder)
    on_disk = [(change.id, change.did) for change in am.index_files([docs], one, how)]
    in_bucket = [(change.id, change.did) for change in am.index_files([str(folder)], many, how)]
    return on_disk, in_bucket


def let_nothing_be_read(monkeypatch):
    """The bucket still lists its files."""
    system = buckets.file_system("s3://docs")

    class Unreadable:
        def __getattr__(self, name):
            return getattr(system, name)

        def open_input_stream(self, path):
            raise OSError("Connection reset by peer")

    monkeypatch.setattr(buckets, "file_system", lambda bucket: Unreadable())


def test_a_store_follows_a_bucket_as_it_follows_a_folder(bucket, docs, tmp_path, monkeypatch):
    """New, changed, removed and unchanged files; the unchanged ones are not read again."""
    folder = bucket / "followed"
    (docs / "d.png").unlink()  # it has no words
    how = am.Indexing("light:Light", "sem-cluster:m=2")
    with am.open_store(tmp_path / "one") as one, am.open_store(tmp_path / "many") as many:
        on_disk, in_bucket = both(docs, folder, one, many, how)
        assert in_bucket == on_disk
        assert len(on_disk) == 3

        write_pdf(docs / "b.pdf", ["one apple less"])
        (docs / "a" / "c.pdf").unlink()
        write_pdf(docs / "e.pdf", ["a new file"])
        upload(docs, folder)
        planned = [plan_index([path], store, how) for path, store in ((docs, one), (folder, many))]
        assert planned[0] == planned[1]
        on_disk, in_bucket = both(docs, folder, one, many, how)
        assert in_bucket == on_disk
        assert dict(on_disk) == {
            "b.pdf#1": "replaced",
            "b.pdf#2": "removed",
            "a/c.pdf#1": "removed",
            "e.pdf#1": "added",
        }
        assert pages_of(many, without=OF_THE_FILE) == pages_of(one, without=OF_THE_FILE)
        let_nothing_be_read(monkeypatch)
        again = list(am.index_files([str(folder)], many, how))
        assert {change.did for change in again} == {"unchanged"}

        hit = many.search(how.load_encoder().encode_queries(["apple"])[0])[0]
        assert hit.path == "s3://docs/followed/b.pdf"


def test_files_of_a_bucket_have_the_names_and_the_order_of_a_disk(bucket, docs):
    folder = bucket / "named"
    upload(docs, folder)
    on_disk = [name for _, name in find_files([docs])]
    assert [name for _, name in find_files([str(folder)])] == on_disk
    assert find_files([str(folder / "b.pdf")]) == [(folder / "b.pdf", "b.pdf")]
    assert other_files([str(folder)]) == {".log": 1}
    assert page_id(folder / "d.png", "d.png", 1) == "d.png"
    with pytest.raises(NotFound, match=r"s3://docs/named/x\.pdf does not exist"):
        find_files([str(folder / "x.pdf")])
    with pytest.raises(BadFile, match=r"notes\.log is none of"):
        find_files([str(folder / "notes.log")])
    with pytest.raises(BadInput, match="a bucket takes no globs"):
        find_files([f"{folder}/*.pdf"])


def test_a_copy_goes_when_its_pages_are_read(bucket, docs):
    upload(docs, bucket / "copied")
    path = bucket / "copied" / "b.pdf"
    with on_disk(path) as copy:
        assert copy.read_bytes() == (docs / "b.pdf").read_bytes()
    assert not copy.parent.exists()


def test_a_file_that_cannot_be_read_is_called_by_its_address(bucket):
    folder = bucket / "bad"
    (folder / "broken.pdf").write_bytes(b"%PDF- nothing")
    (folder / "broken.png").write_bytes(b"nothing")
    told = []
    for name in ("broken.pdf", "broken.png", "gone.pdf"):
        assert list(read_file(folder / name, name, skip_bad=told.append)) == []
    texts = [str(error).partition(" (")[0] for error in told]
    assert texts == [
        "s3://docs/bad/broken.pdf is damaged",
        "s3://docs/bad/broken.png cannot be read as an image",
        "s3://docs/bad/gone.pdf is no longer in its bucket",
    ]


def test_a_download_that_fails_ends_the_run_and_is_no_bad_page(bucket, docs, tmp_path, monkeypatch):
    """A bucket that is away for a while must not leave holes that no later run fills."""
    folder = bucket / "failing"
    upload(docs, folder)
    words = ["index", folder, "--store", tmp_path / "store", "--encoder", "light:Light"]
    let_nothing_be_read(monkeypatch)
    failed = call(*words)
    assert failed.returncode == 75
    unreachable = "s3://docs/failing/a/c.pdf cannot be reached: Connection reset by peer"
    assert unreachable in failed.stderr
    with pytest.raises(StoreUnavailable):
        list(read_file(folder / "b.pdf", "b.pdf", skip_bad=lambda error: None))


def test_pages_are_counted_only_where_the_file_was_copied(bucket, docs, tmp_path, monkeypatch):
    """A disk without room must not make a long file one of one page; a file that is gone is told of by reading it."""
    folder = bucket / "counted"
    upload(docs, folder)
    assert count_file(folder / "b.pdf") == 2
    assert count_file(folder / "gone.pdf") == 1
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(FileNotFoundError):
        count_file(folder / "b.pdf")


@pytest.mark.skipif(not office.is_installed(), reason="LibreOffice is not installed")
def test_an_office_file_is_converted_once_though_it_is_copied_twice(bucket, tmp_path, monkeypatch):
    converted = []

    def convert(*given, plain=office._convert):
        converted.append(given)
        plain(*given)

    monkeypatch.setattr(office, "_convert", convert)
    (tmp_path / "office").mkdir()
    write_docx(tmp_path / "office" / "a.docx", "alpha beta")
    upload(tmp_path / "office", bucket / "office")
    path = bucket / "office" / "a.docx"
    assert count_file(path) == len(list(read_file(path, "a.docx"))) == 1
    assert len(converted) == 1


def test_the_command_reads_a_bucket(bucket, docs, tmp_path):
    folder = bucket / "commanded"
    upload(docs, folder)
    out = tmp_path / "vectors"
    result = call("encode", folder, "-o", out, "--encoder", "light:Light", "--skip-bad")
    assert result.returncode == 0, result.stderr
    assert [page.id for page in am.read_vectors(out)] == ["a/c.pdf#1", "b.pdf#1", "b.pdf#2"]
    assert "passed over: 1 .log" in result.stderr
