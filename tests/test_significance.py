"""Paired tests in tables: SciPy is the oracle, and Holm corrects over all that was compared."""

import byhand
import numpy as np
import pytest
from byhand import row
from scipy import stats

from adamerge import evaluate
from adamerge.errors import BadInput
from adamerge.evaluate import tables
from adamerge.evaluate.analysis.statistical_tests import holm


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return evaluate.load(byhand.make(tmp_path_factory.mktemp("results")))


@pytest.fixture(scope="module")
def two_encoders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    rng = np.random.default_rng(0)
    for encoder in ("e", "f"):
        for method in (
            "adamerge:k=0,c_min=0.7",
            "adamerge:k=0,c_min=0.8",
            "ptm:k=0,m=2",
            "ptm:k=0,m=4",
        ):
            values = rng.integers(0, 5, 60) / 4 + (method == "ptm:k=0,m=4") * -0.2
            byhand.cell(folder, method, 200, values.tolist(), encoder=encoder)
    return evaluate.load(folder)


def test_the_significance_table_is_scipys_with_holms_correction(two_encoders):
    made = tables.significance(two_encoders)
    assert len(made.rows) == 4 * 3  # two floors, two budgets; each encoder, and pooled
    assert set(made["encoder"]) == {"e", "f", "pooled"}
    for encoder in ("e", "f"):
        some = [
            r
            for r in (dict(zip([c.name for c in made.columns], r, strict=True)) for r in made.rows)
            if r["encoder"] == encoder
        ]
        for one in some:
            ours = two_encoders.values(encoder, f"adamerge:k=0,c_min={one['c_min']}")
            theirs = two_encoders.values(encoder, f"ptm:k=0,m={one['m']}")
            assert one["p"] == pytest.approx(
                stats.wilcoxon(ours, theirs, zero_method="wilcox").pvalue
            )
            assert one["difference"] == pytest.approx(float((ours - theirs).mean()))
            assert one["low"] < one["difference"] < one["high"]
        assert [one["p corrected"] for one in some] == pytest.approx(
            holm([one["p"] for one in some])
        )
    pooled = row(made, encoder="pooled", c_min="0.7", m="4")
    ours, theirs = (
        np.concatenate([two_encoders.values(e, m) for e in ("e", "f")])
        for m in ("adamerge:k=0,c_min=0.7", "ptm:k=0,m=4")
    )
    assert pooled["queries"] == 120
    assert pooled["p"] == pytest.approx(stats.wilcoxon(ours, theirs).pvalue)
    assert 'zero_method="wilcox"' in made.note
    assert "the same query asked of each encoder counts as another one" in made.note
    assert "counts as another" not in tables.significance(two_encoders_but_one(two_encoders)).note


def two_encoders_but_one(results):
    return evaluate.Results(
        results.datasets, {key: some for key, some in results.cells.items() if key[0] == "e"}, {}
    )


def test_every_control_stands_beside_its_method(results):
    made = tables.controls(results)
    assert set(made["method M"]) == {"adamerge:k=0,c_min=0.7"}
    found = dict(zip(made["control"], made["difference"], strict=True))
    assert found == pytest.approx(
        {
            "random(M)": 0.5,
            "merge-total(M)": 0.05,
            "adamerge:k=0,c_min=0.7,cut=floor": 0.05,
            "mean-vector": 0.6,
            "bm25": 0.4,
            "identity": 0,
        }
    )
    assert row(made, control="bm25")["compression"] is None
    assert "over the 6 pairs of a method with one of its controls, shown or not" in made.note


def test_a_floor_alone_makes_a_method_controlled(tmp_path):
    byhand.make(tmp_path)
    byhand.both(tmp_path, "adamerge:k=none,c_min=0.5,unit=true", 300, 0.8, 0.6)
    byhand.both(tmp_path, "adamerge:k=none,c_min=0.5,cut=floor,unit=true", 290, 0.8, 0.6)
    made = tables.controls(evaluate.load(tmp_path))
    assert row(made, control="adamerge:k=none,c_min=0.5,cut=floor,unit=true")["method M"].endswith(
        "0.5,unit=true"
    )
    assert "over the 10 pairs" in made.note


def test_rows_that_are_not_shown_count_in_the_correction(two_encoders, results):
    every = tables.significance(two_encoders)
    some = tables.significance(two_encoders, ["0.0"])
    assert some == every
    assert tables.controls(results, ["adamerge:c_min=.7,k=0"]) == tables.controls(results)
    one = tables.significance(two_encoders, methods=["adamerge:k=0", "ptm:k=0,m=4"])
    assert row(one, encoder="e")["p corrected"] == row(one, encoder="e")["p"]
    assert row(every, encoder="e", c_min="0.7", m="4")["p corrected"] > row(one, encoder="e")["p"]


def test_any_method_is_tested_against_any_other(two_encoders):
    asked = ["ptm:k=0,m=4", "adamerge:k=0,c_min=0.8", "ptm:k=0,m=2"]
    made = tables.significance(two_encoders, methods=asked)
    assert made["against"] == asked[1:] * 3
    for encoder in ("e", "f"):
        mine = [i for i, name in enumerate(made["encoder"]) if name == encoder]
        p = [
            stats.wilcoxon(*(two_encoders.values(encoder, m) for m in (asked[0], other))).pvalue
            for other in asked[1:]
        ]
        assert [made["p"][i] for i in mine] == pytest.approx(p)
        assert [made["p corrected"][i] for i in mine] == pytest.approx(holm(p))
    with pytest.raises(BadInput, match="name a method, and those to test it against"):
        tables.significance(two_encoders, methods=asked[:1])
