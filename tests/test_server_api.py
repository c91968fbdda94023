"""Whatever the API's description allows, and much that it does not, is answered as described, never by failing."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from later import Later
from server_store import make_store
from serving import serving

OPERATIONS = [
    ("/api/search", "GET"),
    ("/api/pages/{id}", "GET"),
    ("/api/store", "GET"),
    ("/api/files", "GET"),
    ("/healthz", "GET"),
]
OPERATIONS += [
    ("/metrics", "GET"),
    ("/api/index", "GET"),
    ("/api/index", "POST"),
    ("/api/index/{job}", "GET"),
    ("/api/index/{job}", "DELETE"),
    ("/api/index/{job}/file", "GET"),
    ("/api/files/{source}", "DELETE"),
]
MEANT = [(*operation, "POSITIVE") for operation in OPERATIONS]
NOT_MEANT = [(*OPERATIONS[i], "NEGATIVE") for i in (0, 1, 7)]  # those that can be asked for wrongly
schemathesis = Later("schemathesis")
pytestmark = pytest.mark.xdist_group("described")  # one server


def checks():
    """No answer may say that the server failed, and each has a status, kind and content that are described."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    return [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(make_store(tmp_path_factory.mktemp("described"))) as server:
        yield server


@pytest.fixture(scope="module")
def described(server):
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


@pytest.mark.parametrize(("path", "method", "mode"), [*MEANT, *NOT_MEANT])
def test_every_request_is_answered_as_described(described, path, method, mode):
    generation_mode = schemathesis.GenerationMode[mode]
    conforms = checks()

    @settings(
        max_examples=40,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=described[path][method].as_strategy(generation_mode=generation_mode))
    def try_it(case):
        case.call_and_validate(checks=conforms)

    try_it()


def test_every_operation_is_tried(described):
    found = {
        (path, method) for path, does in described.raw_schema["paths"].items() for method in does
    }
    assert found == {(path, method.lower()) for path, method in OPERATIONS}
