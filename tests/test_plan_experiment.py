"""The experiment that fits the map of plans: its measures by hand, its committed results, its tables in the docs."""

import gzip
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import adamerge as am

ROOT = Path(__file__).parent.parent
JUDGED = ("height:h=1", "height:h=1+int2", "identity", "bm25", "random(height:h=1)")
LEFT_OUT = json.loads((ROOT / "results" / "plan" / "left_out.json").read_text())
DOCS = (ROOT / "docs" / "plan.md").read_text()


@pytest.fixture(scope="module")
def experiment():
    return runpy.run_path(str(ROOT / "experiments" / "plan.py"))


@pytest.fixture
def vectors(tmp_path):
    """Vectors of one book of 20 pages, as `adamerge evaluate run` leaves them."""
    rng = np.random.default_rng(0)
    pages = [am.MultiVector(rng.normal(size=(12, 8)), id=f"page {i}") for i in range(20)]
    queries = [am.MultiVector(page.vectors[:2], id=page.id) for page in pages[:5]]
    book = tmp_path / "vectors" / "book"
    am.write_vectors(book / "pages", pages)
    am.write_vectors(book / "queries", queries)
    return tmp_path / "vectors"


@pytest.fixture
def measured(experiment, tmp_path, monkeypatch):
    """The file in which the methods of that book are measured; what was judged of it is made up."""
    with gzip.open(tmp_path / "book.jsonl.gz", "wt") as cells:
        for method in JUDGED:
            cell = {"method": method, "measures": {"nDCG@5": [1.0]}}
            cells.write(json.dumps(cell) + "\n")
    names = experiment["measure"].__globals__
    monkeypatch.setitem(names, "JUDGED", tmp_path)
    monkeypatch.setitem(names, "MEASURED", tmp_path / "measured")
    return tmp_path / "measured" / "book.jsonl"


def test_measuring_goes_on_where_it_was_stopped(experiment, vectors, measured):
    experiment["measure"](vectors.iterdir(), workers=1)
    whole = measured.read_text()
    rows = [json.loads(line) for line in whole.splitlines()]
    assert [row["method"] for row in rows] == ["height:h=1", "height:h=1+int2", "identity"]
    assert (rows[2]["drawn"], rows[2]["asked"]) == (1, 1)

    first = whole.splitlines(keepends=True)[0]
    measured.write_text(first)
    experiment["measure"](vectors.iterdir(), workers=1)
    assert measured.read_text() == whole


def test_a_margin_counts_standard_deviations_above_the_best_five_others(experiment):
    scores = np.array([[9, 1, 2, 3, 4, 5, 0]], np.float32)
    found = experiment["margin"](scores, np.array([0]))
    np.testing.assert_allclose(found, [(9 - 3) / scores.std()], rtol=1e-6)


def test_the_map_in_the_package_is_what_the_committed_results_give(experiment):
    committed = json.loads((ROOT / "src/adamerge/plans/loss_map.json").read_text())
    assert experiment["fit"]() == committed
    assert experiment["validate"]("drawn") == LEFT_OUT["drawn"]


@pytest.mark.parametrize("kind", ["drawn", "asked"])
def test_the_interval_holds_nine_of_ten_losses_of_a_book_that_the_map_does_not_know(kind):
    for row in LEFT_OUT[kind]:
        assert row["all"]["inside"] >= 0.9
        assert row["offered"]["inside"] >= 0.9


def test_the_docs_have_the_figures_of_every_book_left_out():
    for row in LEFT_OUT["drawn"]:
        every, offered = row["all"], row["offered"]
        cells = [row["book"], row["questions"]]
        for part in (every, offered):
            cells += [f"{part['spearman']:.2f}", f"{part['ceiling']:.2f}"]
        cells += [f"{every['inside']:.0%}, {offered['inside']:.0%}".replace("%", " %")]
        errors = [f"{part['mean_absolute_error']:.3f}" for part in (every, offered)]
        cells += [", ".join(errors)]
        assert _table_row(cells) in DOCS

        noise = [row["book"]]
        noise += [f"{offered['spread_of_losses']:.3f}", f"{offered['standard_error']:.3f}"]
        noise += [f"{offered['beyond_noise']} of {offered['methods']}"]
        for share in (offered["pairs_told_apart"], offered["pairs_in_order"]):
            noise += [f"{share:.0%}".replace("%", " %")]
        assert _table_row(noise) in DOCS


@pytest.mark.parametrize("signal", ["drawn", "asked", "reciprocal_rank", "margin"])
def test_the_docs_have_the_correlations_of_every_signal(signal):
    cells = []
    for row in LEFT_OUT[signal]:
        cells.append(f"{row['all']['spearman']:.2f} ({row['offered']['spearman']:.2f})")
    assert _table_row(cells) in DOCS


def _table_row(cells):
    return f"| {' | '.join(map(str, cells))} |"
