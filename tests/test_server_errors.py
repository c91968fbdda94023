"""What goes wrong in the server is answered in words, in the shape of every error, and names no folder."""

import pytest
from server_store import make_store
from starlette.routing import Route
from starlette.testclient import TestClient

from adamerge.errors import BadInput
from adamerge.server import Settings
from adamerge.server.app import make_app, make_context
from adamerge.server.reader.store_reader import StoreReader
from adamerge.server.routes import routes


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("served"))


@pytest.fixture
def client(place, light_by_name):
    """A client of a server in this process, whose store a test may break."""
    settings = Settings(str(place), names=("testserver",), uploads=place.parent / "uploads")
    reader = StoreReader(str(place))
    with TestClient(make_app(make_context(settings, reader)), raise_server_exceptions=False) as one:
        one.reader = reader
        yield one


def test_a_form_that_cannot_be_decoded_is_refused(client):
    head = b'--line\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=line; charset=undefined"}
    form = head + b"%PDF-1.7\r\n--line--\r\n"
    answer = client.post("/api/index", content=form, headers=kind)
    assert answer.status_code == 400
    assert answer.json() == {"error": "the form cannot be decoded: send it as UTF-8"}


def test_every_route_is_counted_under_a_name_of_its_own():
    names = [route.endpoint.__name__ for route in routes() if isinstance(route, Route)]
    assert sorted(set(names)) == sorted(names)


def test_a_mistake_of_the_server_is_answered_in_json_with_its_policy(client, monkeypatch):
    monkeypatch.setattr(client.reader, "facts", lambda: 1 // 0)
    answer = client.get("/api/store")
    assert (answer.status_code, list(answer.json())) == (500, ["error"])
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_refused_search_names_no_folder_of_the_machine(client, place, monkeypatch):
    def refuse(*given, **more):
        raise BadInput(f"{place.parent}/pages.store/data refuses this filter")

    monkeypatch.setattr(client.reader.store, "search_all", refuse)
    for path in ("/?q=alpha", "/api/search?q=alpha"):
        answer = client.get(path)
        assert answer.status_code == 400
        assert str(place.parent) not in answer.text
        assert "refuses this filter" in answer.text
