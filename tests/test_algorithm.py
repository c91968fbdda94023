"""Every method with every option equals an independent implementation of the paper (algorithm.py)."""

import itertools

import algorithm
import numpy as np
import pytest

import adamerge as am

STATS = ("iqr", "plain")
POOLS = ("attention", "mean")
UNITS = (False, True)
IMPORTANCE = ("attention", "density")
PRUNING = (None, -0.5, 0.1)


def page(n, seed):
    """A page of a few topics with noise, a few attention sinks, and vectors that are not of unit length."""
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(6, 24))
    vectors = topics[rng.integers(0, 6, n)] + 0.7 * rng.normal(size=(n, 24))
    attention = rng.gamma(1.0, size=n)
    attention[:2] *= 40
    return am.MultiVector(vectors.astype(np.float32), attention.astype(np.float32), id=str(seed))


PAGES = [page(n, seed) for seed, n in enumerate((1, 2, 3, 7, 40, 150))]


def assert_equal(method, **reference):
    for one in PAGES:
        small = method(one)
        groups, stored = algorithm.compress(one.vectors, one.attention, **reference)
        np.testing.assert_array_equal(small.groups, groups, err_msg=f"{method}, {len(one)} patches")
        np.testing.assert_allclose(small.vectors, stored, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("sequence", ["raw", "running-min", "height"])
@pytest.mark.parametrize("c_min", [-1.0, 0.3, 0.7])
@pytest.mark.parametrize("rule", ["cliff", "floor"])
def test_adamerge_is_algorithm_1(sequence, c_min, rule):
    stop = getattr(algorithm, rule)(c_min, sequence)
    for k, stats, pool, unit, importance in itertools.product(
        PRUNING, STATS, POOLS, UNITS, IMPORTANCE
    ):
        options = {"k": k, "stats": stats, "pool": pool, "unit": unit, "importance": importance}
        method = am.AdaMerge(c_min=c_min, cut=rule, sequence=sequence, **options)
        assert_equal(method, stop=stop, **options)


@pytest.mark.parametrize("h", [0.3, 1.0, 1.05, 3.0])
def test_height_is_scipys_tree_up_to_that_height(h):
    for k, stats, pool, unit, importance in itertools.product(
        PRUNING, STATS, POOLS, UNITS, IMPORTANCE
    ):
        options = {"k": k, "stats": stats, "pool": pool, "unit": unit, "importance": importance}
        assert_equal(am.Height(h=h, **options), stop=algorithm.height(h), **options)


@pytest.mark.parametrize("rounding", ["ceil", "floor"])
@pytest.mark.parametrize("m", [1.2, 2, 9])
def test_prune_then_merge_is_scipys_tree_cut_to_a_ratio(m, rounding):
    for k, stats, pool, unit in itertools.product(PRUNING, STATS, POOLS, UNITS):
        options = {"k": k, "stats": stats, "pool": pool, "unit": unit}
        method = am.PruneThenMerge(m=m, rounding=rounding, **options)
        assert_equal(method, stop=algorithm.ratio(m, rounding), **options)


@pytest.mark.parametrize("m", [1.2, 2, 9])
def test_sem_cluster_is_scipys_tree_cut_to_a_ratio(m):
    for unit in UNITS:
        assert_equal(am.SemCluster(m=m, unit=unit), stop=algorithm.ratio(m), unit=unit)


@pytest.mark.parametrize("stats", STATS)
@pytest.mark.parametrize("k", [-0.75, 0.0, 1.0])
def test_docpruner_is_the_threshold_alone(k, stats):
    nothing = algorithm.height(0)
    assert_equal(am.DocPruner(k=k, stats=stats), k=k, stats=stats, stop=nothing)


def test_the_default_is_the_paper_as_printed():
    method = am.AdaMerge()
    assert (method.sequence, method.cut, method.pool, method.unit) == (
        "raw",
        "cliff",
        "attention",
        False,
    )
    assert str(am.Height(h=1.05)) == "height:h=1.05"
    assert am.parse_method("height") == am.Height(h=1.0)
