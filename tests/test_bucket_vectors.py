"""Folders of vectors in a bucket: what a disk would hold, byte for byte. A local S3 (moto) stands for the bucket."""

import json
import subprocess
import sys

import pytest
from cli import call
from conftest import random_page
from light import write_pdf
from ray_cluster import bucket_environment, contents, upload
from vector_pages import full_page, write_in_shards

import adamerge as am
from adamerge import buckets, scale
from adamerge.buckets import BucketPath, as_path
from adamerge.compress import parse_method
from adamerge.encoders import EncoderSpec
from adamerge.encoders.encode import encode_files
from adamerge.errors import BadInput, Damaged, Mismatch, NotFound
from adamerge.vectors import open_shards
from adamerge.vectors.compress_folder import compress_folder

pytestmark = pytest.mark.xdist_group("ray")


@pytest.fixture(scope="module")
def bucket(ray_cluster):
    """The address of an empty bucket, which the nodes of the cluster reach too."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", ray_cluster.bucket_port, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in bucket_environment(ray_cluster.bucket_port).items():
            patch.setenv(name, value)
        client = boto3.client("s3")
        client.create_bucket(Bucket="vectors")
        client.close()
        yield BucketPath("s3://vectors")
    buckets.file_system.cache_clear()
    server.stop()


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """Twelve pages in four shards."""
    folder = tmp_path_factory.mktemp("vectors") / "v"
    return write_in_shards(folder, (random_page(24, id=f"p{i}") for i in range(12)), 3)


@pytest.fixture(scope="module")
def uploaded(bucket, vectors):
    """The same folder in the bucket, as a program that copies files would put it there."""
    folder = bucket / "uploaded"
    for file in vectors.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_a_folder_in_a_bucket_is_read_as_one_on_a_disk(uploaded, vectors):
    on_disk, in_bucket = open_shards(vectors), open_shards(str(uploaded))
    assert (len(in_bucket), in_bucket.dimension) == (12, on_disk.dimension)
    for one, other in zip(on_disk.pages(), am.read_vectors(str(uploaded)), strict=True):
        assert one.id == other.id
        assert one.vectors.tobytes() == other.vectors.tobytes()
        assert one.attention.tobytes() == other.attention.tobytes()


def test_what_is_written_to_a_bucket_is_what_a_disk_would_hold(bucket, tmp_path):
    pages = [full_page(5, "a"), full_page(7, "b")]
    am.write_vectors(tmp_path / "v", pages)
    am.write_vectors(str(bucket / "written"), pages)
    assert contents(bucket / "written") == contents(tmp_path / "v")
    with pytest.raises(Mismatch, match="choose another folder"):
        am.write_vectors(str(bucket / "written"), pages, dtype="float32")


@pytest.mark.parametrize("method", ["adamerge", "height+int4"])
def test_compress_from_bucket_to_bucket_makes_the_same_bytes(
    uploaded, vectors, bucket, tmp_path, method
):
    out = bucket / f"alone-{method}"
    on_disk = call("compress", vectors, "-o", tmp_path / "out", "--method", method)
    in_bucket = call("compress", uploaded, "-o", out, "--method", method)
    assert in_bucket.returncode == 0, in_bucket.stderr
    assert in_bucket.stdout == on_disk.stdout
    assert contents(out) == contents(tmp_path / "out")
    again = call("compress", uploaded, "-o", out, "--method", method)
    assert again.stdout == on_disk.stdout
    told = call("info", out)
    assert told.stdout == call("info", tmp_path / "out").stdout


def test_a_cluster_compresses_from_bucket_to_bucket(uploaded, vectors, bucket, tmp_path):
    compress_folder(open_shards(vectors), tmp_path / "out", parse_method("height"))
    out = bucket / "cluster"
    summary = scale.compress_folder(str(uploaded), str(out), "height", scale.Cluster("auto"))
    assert summary.pages == 12
    assert contents(out) == contents(tmp_path / "out")


def test_encode_from_bucket_to_bucket_makes_what_it_makes_on_a_disk(bucket, tmp_path):
    """All but what the manifest knows the files by: their bytes on a disk, size and time in a bucket."""
    docs = tmp_path / "docs"
    write_pdf(docs / "b.pdf", ["one apple", "two pears", "three plums"])
    write_pdf(docs / "a" / "c.pdf", ["four figs"])
    upload(docs, bucket / "docs")
    spec = EncoderSpec("light:Light")
    list(encode_files([docs], tmp_path / "out", spec.load()))
    on_disk = contents(tmp_path / "out")

    out = bucket / "encoded"
    cluster = scale.Cluster("auto", workers=1)
    summary = scale.encode_files([str(bucket / "docs")], str(out), spec, cluster)
    assert summary.pages == 4
    in_bucket = contents(out)
    manifests = [json.loads(found.pop("manifest.json")) for found in (on_disk, in_bucket)]
    assert in_bucket == on_disk
    for manifest in manifests:
        del manifest["source"]
    assert manifests[0] == manifests[1]


def test_a_run_into_a_bucket_goes_on_where_it_was_stopped(uploaded, vectors, bucket, tmp_path):
    method = parse_method("sem-cluster:m=2")
    compress_folder(open_shards(vectors), tmp_path / "out", method)
    out = bucket / "stopped"

    class Stopped(Exception):
        """Ends a run after the first shard."""

    class Watcher:
        def pass_over(self, pages=1):
            self.passed_over = pages

        def advance(self, pages=1):
            if (out / "shard-00000.safetensors").exists():
                raise Stopped

    with pytest.raises(Stopped):
        compress_folder(open_shards(uploaded), out, method, watcher=Watcher())
    names = [path.name for path in out.iterdir()]
    assert names == ["manifest.json", "plan.jsonl", "shard-00000.safetensors"]
    assert "is not finished (1 shards)" in call("info", out).stderr

    second = Watcher()
    second.advance = lambda pages=1: None
    compress_folder(open_shards(uploaded), out, method, watcher=second)
    assert second.passed_over == 3
    assert contents(out) == contents(tmp_path / "out")


def test_what_is_damaged_or_missing_in_a_bucket_is_said_in_one_line(uploaded, bucket):
    with pytest.raises(NotFound, match="s3://vectors/nothing is not a folder of vectors"):
        list(am.read_vectors(str(bucket / "nothing")))
    cut = bucket / "cut"
    for file in uploaded.iterdir():
        (cut / file.name).write_bytes(file.read_bytes())
    shard = cut / "shard-00001.safetensors"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1])
    with pytest.raises(Damaged, match=r"shard-00001\.safetensors cannot be read"):
        list(am.read_vectors(cut))
    shard.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(Damaged, match="has changed since it was written"):
        list(am.read_vectors(cut))
    shard.unlink()
    with pytest.raises(Damaged, match="is missing, and the manifest counts on it"):
        open_shards(cut)
    inside = call("compress", uploaded, "-o", uploaded / "small")
    assert "OUT must not be IN or lie inside it" in inside.stderr


def test_an_address_is_a_path_in_a_bucket():
    assert as_path("s3://bucket/a/") / "b" == BucketPath("s3://bucket/a/b")
    assert as_path("gs://bucket").name == "bucket"
    with pytest.raises(BadInput, match="a bucket is s3://bucket/folder"):
        as_path("ftp://host/a")
    with pytest.raises(BadInput, match="a bucket is s3://bucket/folder"):
        as_path("s3:///a")


def test_without_the_extra_it_is_named_in_one_line():
    hide = "import sys; sys.modules['pyarrow'] = None\nfrom adamerge.cli import main; main()"
    words = ["compress", "s3://bucket/v", "-o", "s3://bucket/out"]
    result = subprocess.run([sys.executable, "-c", hide, *words], capture_output=True, text=True)
    needs = "a folder in a bucket needs the 'arrow' extra: pip install 'adamerge[arrow]'"
    assert result.stderr == f"adamerge: {needs}\n"
