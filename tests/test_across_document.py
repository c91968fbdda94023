"""The experiment with rows that the pages of a document share: its rule by hand, and its tables in the docs."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import adamerge as am

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def experiment():
    return runpy.run_path(str(ROOT / "experiments" / "across_document.py"))


def test_a_row_of_every_page_is_stored_once_and_the_others_stay_with_their_pages(experiment):
    header = np.eye(6)[0]
    own = np.eye(6)[1:5]
    pages = [am.compress(np.stack([header, row]), method="identity") for row in own]
    rule = experiment["Rule"](h=1.0, share=0.5, alike=0.6)
    shared = experiment["find_shared"](pages, rule)

    np.testing.assert_allclose(shared.vectors, [header])
    assert [of_rows.tolist() for of_rows in shared.of_rows] == [[0, -1]] * 4

    scored = list(experiment["with_shared"](pages, shared, "its own"))
    for page, row in zip(scored, own, strict=True):
        np.testing.assert_allclose(page.vectors, [row, header])

    row_bytes = 2 * 6
    in_all = 5 * row_bytes + 4 * experiment["REFERENCE_BYTES"]
    assert experiment["shared_bytes"](pages, shared, "its own") == in_all / 4


def test_the_tables_in_the_docs_are_those_of_the_committed_results(experiment):
    page = (ROOT / "docs" / "results.md").read_text()
    assert experiment["book_table"]() in page
    assert experiment["image_table"]() in page
