"""Whether two methods differ: numbers by hand and by their formulas."""

import math

import numpy as np
import pytest
from scipy import stats

from adamerge.errors import BadShape
from adamerge.evaluate.analysis.statistical_tests import bootstrap, holm, wilcoxon


def values(seed, n=80):
    rng = np.random.default_rng(seed)
    ours = rng.choice([0, 0.39, 0.63, 1], size=n)
    return ours, np.where(rng.random(n) < 0.6, ours, rng.choice([0, 0.39, 0.63, 1], size=n))


def by_the_formula(differences):
    r"""The two-sided p of the signed-rank test by its normal approximation.

    T = sum of the ranks of positive differences, equal ones sharing their mean rank; t of each set of equal ones

        z = (T - n(n+1)/4) / sqrt(n(n+1)(2n+1)/24 - sum (t^3 - t)/48)
    """
    sizes = sorted(abs(d) for d in differences if d)
    places = {size: [i for i, one in enumerate(sizes, 1) if one == size] for size in sizes}
    ranks = {size: sum(some) / len(some) for size, some in places.items()}
    n, total = len(sizes), sum(ranks[d] for d in differences if d > 0)
    ties = sum(len(some) ** 3 - len(some) for some in places.values())
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    z = (total - n * (n + 1) / 4) / math.sqrt(variance)
    return math.erfc(abs(z) / math.sqrt(2))


@pytest.mark.parametrize("seed", range(5))
def test_the_signed_rank_test_by_its_formula(seed):
    rng = np.random.default_rng(seed)
    ours, theirs = (
        rng.integers(0, 5, size=(2, 80)) / 4
    )  # differences that are exact, many of them equal or zero
    p = wilcoxon(ours, theirs)
    assert p == pytest.approx(by_the_formula((ours - theirs).tolist()), rel=1e-9)
    assert p == wilcoxon(theirs, ours)


def test_few_queries_are_counted_out():
    # ranks 1, 2, -3, 4, 5: five of the 32 ways to sign them have 3 or less below zero, and as many above
    assert wilcoxon([0.1, 0.2, 0, 0.4, 0.5], [0, 0, 0.3, 0, 0]) == pytest.approx(2 * 5 / 32)


def test_a_query_without_a_difference_says_nothing():
    ours, theirs = values(0)
    one_more = [*ours, 0.5], [*theirs, 0.5]
    assert wilcoxon(*one_more) == wilcoxon(ours, theirs)


def test_what_never_differs_has_p_of_one():
    assert wilcoxon([0.5, 1], [0.5, 1]) == 1


def test_the_interval_holds_the_mean_and_is_the_same_every_time():
    ours, theirs = values(0)
    low, high = bootstrap(ours - theirs)
    assert low < (ours - theirs).mean() < high
    assert (low, high) == bootstrap(ours - theirs)
    oracle = stats.bootstrap(
        (ours - theirs,), np.mean, method="percentile", rng=np.random.default_rng(0)
    )
    np.testing.assert_allclose((low, high), oracle.confidence_interval, atol=0.01)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []


def test_other_queries_are_no_pairs():
    with pytest.raises(BadShape, match=r"the same queries on both sides, got \(3,\) and \(2,\)"):
        wilcoxon([1, 2, 3], [1, 2])
