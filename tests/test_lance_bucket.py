"""The embedded store in a bucket: a local S3 (moto) stands for one."""

import socket

import pytest
from lance_pages import a_page

import adamerge as am
from adamerge.errors import StoreUnavailable
from adamerge.store.lance import table as lance_table

pytestmark = pytest.mark.xdist_group("bucket")  # moto is imported once


def commit_last(monkeypatch):
    """A writer takes its clock first and commits last: an open reader sees its pages all the same."""
    address = "s3://pages/reports"
    monkeypatch.setattr(lance_table, "BUCKET_SECONDS", 0)
    with (
        am.open_store(address) as late,
        am.open_store(address) as quick,
        am.open_store(address) as reader,
    ):
        insert = late._table.insert

        def let_another_commit_first(rows):
            quick.add(a_page(60))
            assert reader.search(a_page(60).vectors, 1)[0].id == "p00060"
            insert(rows)

        monkeypatch.setattr(late._table, "insert", let_another_commit_first)
        late.add(a_page(61))
        assert reader.search(a_page(61).vectors, 1)[0].id == "p00061"


def set_endpoint(monkeypatch, address):
    """Let buckets be at an address."""
    monkeypatch.setenv("AWS_ENDPOINT", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")


def test_a_bucket_that_does_not_answer_is_unavailable_and_not_damaged(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    set_endpoint(monkeypatch, f"http://127.0.0.1:{port}")
    once = {"client_max_retries": "0", "client_retry_timeout": "1"}
    with pytest.raises(StoreUnavailable, match="the bucket does not answer") as error:
        am.open_store("s3://pages/reports", storage_options=once)
    assert "restore" not in str(error.value)


def test_a_bucket_is_a_store(monkeypatch):
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    set_endpoint(monkeypatch, address)
    try:
        client = boto3.client("s3", endpoint_url=address, region_name="us-east-1")
        client.create_bucket(Bucket="pages")
        with am.open_store("s3://pages/reports") as store:
            store.add(a_page(i) for i in range(40))
            store.add(a_page(3, 9))
            assert store.delete("p00004") == 1
        with am.open_store("s3://pages/reports") as store:
            assert len(store) == 39
            assert store.search(a_page(7).vectors, 1)[0].id == "p00007"
            assert store.facts()["bytes in all"] > store.facts()["bytes of vectors"] > 0
        with (
            am.open_store("s3://pages/reports") as one,
            am.open_store("s3://pages/reports") as other,
        ):
            for store in (one, other):  # which no lock keeps apart
                store.begin_writing()
            assert [store.add([a_page(50), a_page(51)]) for store in (one, other)] == [2, 2]
            assert len(one) == 41
        commit_last(monkeypatch)
    finally:
        server.stop()
