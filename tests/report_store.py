"""A store of the demo's report by minilm, for the tests of what reads a store: agents and frameworks."""

from pathlib import Path

import pytest

import adamerge as am

REPORT = Path(__file__).parent.parent / "examples" / "report.pdf"
QUESTION = "what did the storm cost?"
ANSWER = "report.pdf#5"  # "The storm alone cost 410,000 crowns."


@pytest.fixture(scope="session")
def report_store(tmp_path_factory):
    """The address of the store; it has metadata, and knows where its file is."""
    address = tmp_path_factory.mktemp("report") / "report.store"
    encoder = am.load_encoder("minilm")
    with am.open_store(address, encoder=encoder) as store:
        for _ in am.index_files(
            [REPORT], store, am.Indexing(encoder), {"report.pdf": {"year": 2026}}
        ):
            pass
    return address
