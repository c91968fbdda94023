"""What only the Qdrant store does: addresses, limits, retries, and filters it cannot have."""

import json
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from later import Later, needs_qdrant

import adamerge as am
from adamerge.errors import BadFile, BadInput, StoreUnavailable, TooLarge
from adamerge.store.filter_parser import parse_filter

pytestmark = needs_qdrant
qdrant_client = Later("qdrant_client")
qdrant_filters = Later("adamerge.store.qdrant.filters")
qdrant_store = Later("adamerge.store.qdrant.store")


def a_page(i, m=4, d=8):
    rng = np.random.default_rng(i)
    vectors = (rng.normal(size=(m, d)) + 3 * rng.normal(size=d)).astype(
        np.float32
    )  # about a mean of their own
    return am.Compressed(vectors, np.arange(m, dtype=np.int32), method="identity", id=f"p{i}")


@contextmanager
def a_server(answers):
    """A server on loopback that gives its answers in turn, the last one for ever, and counts what it is asked."""
    asked = Counter()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = answers[min(asked[self.path], len(answers) - 1)]
            asked[self.path] += 1
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/reports", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


THERE_IS_NONE = {"result": {"exists": False}, "status": "ok", "time": 0.0}


def test_a_busy_server_is_asked_again(monkeypatch):
    monkeypatch.setattr("adamerge.store.qdrant.collection.FIRST_WAIT", 0.01)
    with a_server([(503, {}), (503, {}), (200, THERE_IS_NONE)]) as (url, asked), am.open_store(url):
        assert asked["/collections/reports/exists"] == 3


def test_a_server_that_refuses_is_not_asked_again():
    with a_server([(403, {"status": {"error": "forbidden"}})]) as (url, asked):
        with pytest.raises(BadInput, match="Qdrant refused"):
            am.open_store(url)
        assert asked["/collections/reports/exists"] == 1


def test_a_server_that_is_away_is_told_in_words(monkeypatch):
    monkeypatch.setattr("adamerge.store.qdrant.collection.FIRST_WAIT", 0.01)
    with a_server([(200, {})]) as (url, _):
        pass
    with pytest.raises(StoreUnavailable, match="did not answer in 5 tries"):
        am.open_store(url)


@pytest.mark.parametrize(
    "url", ["http://localhost:6333", "http://localhost:6333/a/b", "https:///x"]
)
def test_an_address_without_host_or_collection_is_refused(url):
    with pytest.raises(BadInput, match="http://host:6333/collection"):
        am.open_store(url)


def test_a_page_beyond_what_qdrant_takes_is_refused_before_the_write():
    client = qdrant_client.QdrantClient(":memory:")
    with qdrant_store.QdrantStore(client, "c") as store:
        with pytest.raises(TooLarge, match="131,072 vectors of 8"):
            store.add([a_page(0), a_page(1, 131_072)])
        assert not client.collection_exists("c")
    client.close()


def test_a_collection_of_somebody_else_is_not_taken():
    client = qdrant_client.QdrantClient(":memory:")
    client.create_collection("c", vectors_config={})
    with pytest.raises(BadFile, match="not a store of adamerge"):
        qdrant_store.QdrantStore(client, "c")
    client.close()


def test_few_bits_are_refused_in_words_and_copied_to_float16(tmp_path):
    client = qdrant_client.QdrantClient(":memory:")
    with pytest.raises(
        BadInput, match=r"Qdrant keeps vectors as float32, float16; got 'int4': .*quantise"
    ):
        qdrant_store.QdrantStore(client, "c", dtype="int4")
    from adamerge.store.transfer import copy

    pages = [a_page(i, 3 + i) for i in range(5)]
    with (
        am.open_store(tmp_path / "4", dtype="int4") as four,
        qdrant_store.QdrantStore(client, "c") as cluster,
    ):
        four.add(pages)
        with pytest.raises(BadInput, match="got 'int4'"):
            cluster.add(four.get([pages[0].id]))
        assert [entry.id for entry in copy(four, cluster)] == [page.id for page in pages]
        assert cluster.about.dtype == "float16"
        with am.open_store(tmp_path / "back") as back:
            list(copy(cluster, back))
            query = pages[2].vectors
            best = max((query @ page.vectors.T).max(1).sum() for page in pages)
            for store in (four, cluster, back):
                assert store.search(query, 1)[0].score == pytest.approx(float(best), rel=0.1)
    client.close()


def test_many_pages_are_found_in_two_stages(monkeypatch):
    monkeypatch.setattr("adamerge.store.qdrant.store.EXACT_UP_TO", 100)
    client = qdrant_client.QdrantClient(":memory:")
    with qdrant_store.QdrantStore(client, "c") as store:
        store.add(a_page(i) for i in range(300))
        found, whole = (
            store.search(a_page(9).vectors, 1),
            store.search(a_page(9).vectors, 1, exact=True),
        )
    client.close()
    assert found[0].id == whole[0].id
    assert (found.how, found.first_stage) == ("settled", "mean vectors")
    assert (whole.how, whole.candidates) == ("exact", 300)


@pytest.mark.parametrize("where", ["name > 'x'", "name LIKE 'x%'"])
def test_a_filter_that_qdrant_cannot_have_is_refused(where):
    with pytest.raises(BadInput, match="Qdrant has only = and IN for name"):
        qdrant_filters.to_qdrant(parse_filter(where, {"name": "text"}))
