"""Whether two methods differ: SciPy is the oracle."""

import numpy as np
import pytest
from scipy import stats

from adamerge.errors import BadShape
from adamerge.evaluate.statistics import bootstrap, holm, wilcoxon


def values(seed, n=80):
    rng = np.random.default_rng(seed)
    ours = rng.choice([0, 0.39, 0.63, 1], size=n)
    return ours, np.where(rng.random(n) < 0.6, ours, rng.choice([0, 0.39, 0.63, 1], size=n))


@pytest.mark.parametrize("zero_method", ["wilcox", "pratt", "zsplit"])
@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_equals_scipy(seed, zero_method):
    ours, theirs = values(seed)
    want = stats.wilcoxon(ours, theirs, zero_method=zero_method, alternative="two-sided").pvalue
    assert wilcoxon(ours, theirs, zero_method) == pytest.approx(want, rel=1e-12)


def test_what_never_differs_has_p_of_one():
    assert wilcoxon([0.5, 1], [0.5, 1]) == 1


def test_the_interval_holds_the_mean_and_is_the_same_every_time():
    ours, theirs = values(0)
    low, high = bootstrap(ours - theirs)
    assert low < (ours - theirs).mean() < high
    assert (low, high) == bootstrap(ours - theirs)
    assert (low, high) != bootstrap(ours - theirs, seed=1)
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
