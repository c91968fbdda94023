"""Results beside published numbers: every kind of number, by hand."""

from dataclasses import replace
from itertools import product

import byhand
import numpy as np
import pytest
from byhand import PAPER_ENCODERS, row

from adamerge import evaluate
from adamerge.evaluate.analysis.budgets import average_choices
from adamerge.evaluate.analysis.frontier import BUDGET, all_series, line_at, value_at
from adamerge.evaluate.analysis.points import envelope
from adamerge.evaluate.output.our_numbers import KINDS
from adamerge.evaluate.output.published import read_published

COLQWEN, COLNOMIC = PAPER_ENCODERS


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return evaluate.load(byhand.paper(tmp_path_factory.mktemp("paper")))


@pytest.fixture(scope="module")
def compared(results):
    return evaluate.compare(results)


def test_choices_of_a_point_for_each_dataset_are_those_of_all_combinations():
    rng = np.random.default_rng(0)
    sets = [[tuple(point) for point in rng.random((4, 2))] for _ in range(5)]
    means = [tuple(np.mean(choice, axis=0)) for choice in product(*sets)]
    np.testing.assert_allclose(average_choices(sets), envelope(means))


def test_ptm_takes_one_k_for_all_and_an_m_for_each_dataset(tmp_path):
    byhand.datasets(tmp_path, "a", "b")
    byhand.both(tmp_path, "ptm:k=0,m=2", 500, 0.8, 0.4)
    byhand.both(tmp_path, "ptm:k=0,m=4", 200, 0.6, 0.5)
    byhand.both(tmp_path, "ptm:k=1,m=2", 300, 0.5, 0.9)
    byhand.both(tmp_path, "ptm:k=1,m=4", 100, 0.4, 0.3)
    made = evaluate.load(tmp_path)
    (ptm,) = all_series(made, "e")
    # k=0, m=2 for a and m=4 for b: (0.8 + 0.5) / 2 at (50 % + 80 %) / 2; k=1 with m=2 for both is 0.7 at 70 %
    assert value_at(made, "e", ptm, BUDGET, 0.65) == pytest.approx(0.7)
    # k=1, m=4 for a and m=2 for b: (0.4 + 0.9) / 2 at (90 % + 70 %) / 2
    assert value_at(made, "e", ptm, BUDGET, 0.8) == pytest.approx(0.65)
    # the line from 0.7 at 70 % to 0.65 at 80 %
    assert line_at(made, "e", ptm, BUDGET, 0.75) == pytest.approx(0.675)
    assert line_at(made, "e", ptm, BUDGET, 0.95) is None
    frontier = evaluate.tables.frontier(made)
    assert set(frontier["envelope"]) == {"shared", "per dataset", "budget"}


def test_every_published_number_has_one_beside_it(compared, results):
    asked = {number.ask["kind"] for number in read_published().numbers}
    assert asked == set(KINDS)
    for values in compared.rows:
        found = dict(zip(compared.names(), values, strict=True))
        is_other_run = found["source"] == "predecessor"  # on all languages, which this is not
        assert (found["here"] is None) == is_other_run, found
    assert len(compared.rows) > 90
    assert evaluate.compare(replace(results, measure="MRR")) == compared


def test_curves_are_those_of_the_papers_floors(compared, tmp_path):
    at_75 = row(compared, what="AdaMerge at 75%")
    # of v2, 0.115 worse: k=0.25 at c_min 0.8 stores 225 patches of 1000
    assert at_75["here"] == pytest.approx(0.5 + 0.0002 * 225 + 0.04 - 0.115)
    better = byhand.paper(tmp_path)
    for dataset in evaluate.load(better).datasets:
        byhand.cell(better, "adamerge:k=0.25,c_min=0.5", 100, 0.99, (), COLQWEN, dataset)
    assert row(evaluate.compare(evaluate.load(better)), what="AdaMerge at 75%") == at_75


def test_a_curve_is_read_as_steps_as_a_line_and_with_plain_statistics(tmp_path):
    folder = byhand.paper(tmp_path)
    for dataset in evaluate.load(folder).datasets:
        name = "adamerge:k=0.25,c_min=0.7,stats=plain"
        byhand.cell(folder, name, 200, 0.3, (), COLQWEN, dataset)
    found = row(evaluate.compare(evaluate.load(folder)), what="AdaMerge at 75%")
    assert found["stats=plain"] == pytest.approx(0.3)
    # floor 0.8: the line from 375 stored patches at 62.5 % to 225 at 77.5 %
    assert found["by a line"] == pytest.approx(0.5 + 0.0002 * 250 + 0.04 - 0.115)


def test_table_1_is_pooled_and_at_the_nearest_k(compared):
    found = row(compared, what="AdaMerge over PtM, c_min=0.7, m=4")
    assert (found["encoder"], found["where"], found["published"]) == ("pooled", "Table 1", "0.032")
    # k=1 is nearest to the printed means: 66 stored patches against 25
    assert found["here"] == pytest.approx(0.0002 * (66 - 25) + 0.04)
    p = row(compared, what="p of AdaMerge over PtM, c_min=0.7, m=4")
    assert (p["published"], p["verdict"]) == ("< 0.0001", "within drift")


def test_bounds_times_and_counts_have_verdicts_of_their_own(compared):
    loss = row(compared, what="AdaMerge below identity, at most up to 85%", encoder=COLNOMIC)
    assert loss["published"] == "at most 0.01"
    # the largest is at 85 %: k=1 at c_min 0.8 stores 75 patches of 1000
    assert loss["here"] == pytest.approx(0.0002 * (1000 - 75) - 0.04)
    assert loss["verdict"] == "outside drift"
    ms = row(compared, what="milliseconds a page, AdaMerge")
    assert (ms["published"], ms["here"]) == ("9 to 10", 1.0)
    assert ms["verdict"] == "not comparable: another machine"
    assert row(compared, what="queries of both encoders")["here"] == 4 * 4 * 2
    assert row(compared, what="theta, highest median of a dataset")["here"] == pytest.approx(0.8)


def test_the_drift_of_colnomic_is_that_of_its_published_scores():
    numbers = read_published().numbers
    drifts = {
        number.drift for number in numbers if number.encoder == COLNOMIC and number.source == "mteb"
    }
    assert drifts == {0.08}
    assert "0.612 in its model card and 0.560 in mteb" in read_published().drift
