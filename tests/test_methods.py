import numpy as np
import pytest
from conftest import EVERY_METHOD, random_page
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

import adamerge as am
from adamerge.compress import cut, link, pool, prune
from adamerge.errors import BadInput

RANDOM_ASIDE = [name for name in EVERY_METHOD if not name.startswith("random")]
methods = st.sampled_from(EVERY_METHOD)
sizes = st.integers(1, 40)
seeds = st.integers(0, 10**6)


def same_groups(a, b):
    """Are two numberings of groups the same but for the numbers?"""
    return (
        len(set(zip(a.tolist(), b.tolist(), strict=True)))
        == len(set(a.tolist()))
        == len(set(b.tolist()))
    )


def partition(groups):
    return {frozenset(np.flatnonzero(groups == g).tolist()) for g in set(groups.tolist())}


@given(methods, sizes, st.integers(1, 9), seeds)
def test_every_patch_is_pruned_or_in_exactly_one_group(name, n, d, seed):
    page = random_page(n, d, seed)
    small = am.parse_method(name)(page)
    assert small.groups.shape == (n,)
    assert set(small.groups.tolist()) - {-1} == set(range(len(small)))
    assert small.vectors.shape == (len(small), d)
    assert small.vectors.dtype == np.float32
    assert 0 <= small.compression < 1
    assert small.compression == 1 - len(small) / n
    assert small.method == str(am.parse_method(name))


@given(st.sampled_from(RANDOM_ASIDE), st.integers(2, 40), seeds)
def test_permuting_patches_permutes_groups(name, n, seed):
    page, method = random_page(n, 8, seed), am.parse_method(name)
    order = np.random.default_rng(seed).permutation(n)
    shuffled = method(am.MultiVector(page.vectors[order], page.attention[order]))
    assert same_groups(shuffled.groups, method(page).groups[order])


@given(methods, sizes, seeds, st.floats(1e-3, 1e3))
def test_scaling_attention_changes_nothing(name, n, seed, scale):
    page, method = random_page(n, 8, seed), am.parse_method(name)
    scaled = method(am.MultiVector(page.vectors, page.attention * np.float32(scale)))
    np.testing.assert_array_equal(scaled.groups, method(page).groups)
    np.testing.assert_allclose(scaled.vectors, method(page).vectors, rtol=1e-4, atol=1e-5)


@given(methods, sizes, st.integers(1, 5), seeds)
def test_every_stored_vector_lies_in_the_convex_hull_of_its_members(name, n, d, seed):
    page, method = random_page(n, d, seed), am.parse_method(name)
    small = method(page)
    if getattr(method, "unit", False):
        np.testing.assert_allclose(np.linalg.norm(small.vectors, axis=1), 1, rtol=1e-5)
        return
    for g, stored in enumerate(small.vectors):
        members = page.vectors[small.groups == g]
        for direction in np.random.default_rng(seed).normal(
            size=(8, d)
        ):  # a hull is all its half-spaces
            reach = members @ direction
            assert reach.min() - 1e-4 <= stored @ direction <= reach.max() + 1e-4


@given(
    st.sampled_from([name for name in EVERY_METHOD if "k=none" in name or "sem-cluster" in name]),
    sizes,
    seeds,
)
def test_without_pruning_every_patch_is_in_a_group(name, n, seed):
    page, method = random_page(n, 6, seed), am.parse_method(name)
    assert (method(page).groups >= 0).all()
    assert (method(am.MultiVector(page.vectors)).groups >= 0).all()  # and no attention is needed


def test_identity_stores_the_page_as_it_is(make_page):
    page = make_page(9)
    small = am.Identity()(page)
    np.testing.assert_array_equal(small.vectors, page.vectors)
    assert small.groups.tolist() == list(range(9))
    assert small.compression == 0
    assert small.cut.merges == 0


def test_random_keeps_its_share_and_differs_between_pages(make_page):
    method = am.Random(keep=0.25, seed=3)
    first, second = (method(make_page(80, id=id)) for id in "ab")
    assert len(first) == len(second) == 20
    assert (first.groups != second.groups).any()
    np.testing.assert_array_equal(first.groups, method(make_page(80, id="a")).groups)
    assert (first.groups != am.Random(keep=0.25, seed=4)(make_page(80, id="a")).groups).any()


def test_docpruner_keeps_what_the_threshold_keeps(make_page):
    page = make_page(60)
    small = am.DocPruner(k=-0.1)(page)
    keep = prune.by_attention(page.attention, -0.1)
    np.testing.assert_array_equal(small.groups >= 0, keep)
    np.testing.assert_array_equal(small.vectors, page.vectors[keep])


@pytest.mark.parametrize(
    ("n", "m", "ceil", "floor"), [(10, 4, 3, 2), (21, 1.4, 15, 15), (7, 9, 1, 1), (5, 1, 5, 5)]
)
def test_merging_one_in_m_leaves_that_many_groups(make_page, n, m, ceil, floor):
    for kind in (am.SemCluster, lambda **given: am.PruneThenMerge(k=None, **given)):
        assert len(kind(m=m)(make_page(n))) == ceil
        assert len(kind(m=m, rounding="floor")(make_page(n))) == floor


def test_sem_cluster_is_scipys_flat_clusters(make_page):
    page = make_page(80)
    x = page.vectors.astype(float)
    want = fcluster(linkage(x / np.linalg.norm(x, axis=1, keepdims=True), "ward"), 20, "maxclust")
    small = am.SemCluster(m=4)(page)
    assert partition(small.groups) == partition(want)
    for g in range(20):
        np.testing.assert_allclose(
            small.vectors[g], x[small.groups == g].mean(0), rtol=1e-5, atol=1e-6
        )


def test_prune_then_merge_prunes_then_merges(make_page):
    page = make_page(60)
    keep = prune.by_attention(page.attention, -0.25)
    small = am.PruneThenMerge(k=-0.25, m=3)(page)
    alone = am.SemCluster(m=3)(am.MultiVector(page.vectors[keep]))
    np.testing.assert_array_equal(small.groups[keep], alone.groups)
    np.testing.assert_array_equal(small.vectors, alone.vectors)
    weighted = am.PruneThenMerge(k=-0.25, m=3, pool="attention")(page)
    np.testing.assert_array_equal(weighted.groups, small.groups)
    assert (weighted.vectors != small.vectors).any()


@pytest.mark.parametrize(
    "options", [{}, {"pool": "mean"}, {"sequence": "height"}, {"cut": "floor"}, {"unit": True}]
)
def test_adamerge_is_its_four_stages(make_page, options):
    page = make_page(120)
    small = am.AdaMerge(k=-0.5, c_min=0.6, **options)(page)

    keep = prune.by_attention(page.attention, k=-0.5)
    tree = link.ward(page.vectors[keep])
    stop = (cut.floor if "cut" in options else cut.cliff)(tree, 0.6, options.get("sequence", "raw"))
    groups = cut.groups(tree, stop)
    unit = "unit" in options
    if options.get("pool") == "mean":
        vectors = pool.mean(page.vectors[keep], groups, unit)
    else:
        vectors = pool.weighted(page.vectors[keep], groups, page.attention[keep], unit)

    np.testing.assert_array_equal(small.vectors, vectors)
    np.testing.assert_array_equal(small.groups[keep], groups)
    assert (small.groups[~keep] == -1).all()
    assert small.cut == stop
    assert 0 < stop.merges < keep.sum()


def test_a_page_worked_by_hand():
    """Four patches on a circle at 0, 10, 90 and 180 degrees; the last is not attended to."""
    angles = np.radians([0, 10, 90, 180])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    page = am.MultiVector(vectors, [3, 1, 2, 0])
    small = am.AdaMerge(k=-1, c_min=0.7)(page)
    # mean 1.5, deviation 1.29, tau .21: the last goes. 0 and 10 degrees merge at cos 10 = .985; then their centroid
    # at 5 degrees and the one at 90 have cos 85 = .087. The cliff is after the first merge.
    assert small.groups.tolist() == [0, 0, 1, -1]
    assert small.cut.merges == 1
    assert small.cut.theta == pytest.approx(np.cos(np.radians(10)), abs=1e-6)
    assert small.cut.gap == pytest.approx(np.cos(np.radians(10)) - np.cos(np.radians(85)), abs=1e-6)
    np.testing.assert_allclose(
        small.vectors, [0.75 * vectors[0] + 0.25 * vectors[1], vectors[2]], rtol=1e-6
    )
    assert small.compression == 0.5


@pytest.mark.parametrize("n", [1, 2])
def test_adamerge_does_not_merge_fewer_than_three_patches(n):
    page = am.MultiVector(np.ones((n, 4)), np.ones(n))
    for stop in ("cliff", "floor"):
        assert len(am.AdaMerge(cut=stop)(page)) == n


def test_a_page_of_twins_has_no_cliff():
    """All patches equal: every drop is zero and the first wins, so one merge is made; the floor makes them all."""
    page = am.MultiVector(np.ones((50, 4)), np.ones(50))
    assert len(am.AdaMerge()(page)) == 49
    assert len(am.AdaMerge(cut="floor")(page)) == 1


def test_the_default_is_the_papers(make_page):
    page = make_page(50)
    default = am.compress(page.vectors, page.attention)
    assert default.method == "adamerge:k=-0.25,c_min=0.7"
    np.testing.assert_array_equal(default.vectors, am.AdaMerge(k=-0.25, c_min=0.7)(page).vectors)


def test_extra_rows_are_stored_untouched_and_do_not_count(make_page, method):
    extra = np.arange(32, dtype=np.float32).reshape(2, 16)
    page = make_page(30)
    small = method(am.MultiVector(page.vectors, page.attention, extra))
    np.testing.assert_array_equal(small.extra, extra)
    np.testing.assert_array_equal(small.stored, np.concatenate([small.vectors, extra]))
    assert small.compression == 1 - len(small) / 30
    assert small.bytes() == (len(small) + 2) * 16 * 2
    assert small.bytes("float32") == 2 * small.bytes("float16")


def test_without_attention_pruning_is_refused_and_says_what_to_do(make_page):
    bare = am.MultiVector(make_page(20).vectors)
    for name in ("adamerge", "docpruner", "ptm"):
        with pytest.raises(
            BadInput, match=r"'height', which needs none, or pass attention=, or .* k=None"
        ):
            am.parse_method(name)(bare)


def test_inverse_density_stands_in_for_attention():
    """Three twins and a loner: the loner weighs as much as the crowd."""
    page = am.MultiVector(np.array([[1, 0], [1, 0], [1, 0], [0, 1]]))
    weights = prune.inverse_density(page.vectors)
    np.testing.assert_allclose(
        weights, [1 / (3 + np.exp(-10))] * 3 + [1 / (1 + 3 * np.exp(-10))], rtol=1e-5
    )
    assert am.DocPruner(k=0, importance="density")(page).groups.tolist() == [-1, -1, -1, 0]
    small = am.AdaMerge(k=None, c_min=0.9, importance="density")(page)
    assert len(small) < 4
    assert small.method == "adamerge:k=none,c_min=0.9,importance=density"


def test_without_attention_pooling_falls_back_to_the_mean(make_page):
    bare = am.MultiVector(make_page(40).vectors)
    weighted, mean = am.AdaMerge(k=None)(bare), am.AdaMerge(k=None, pool="mean")(bare)
    np.testing.assert_array_equal(weighted.vectors, mean.vectors)


def test_a_method_leaves_the_page_alone(make_page, method):
    vectors, attention = make_page(40).vectors.copy(), make_page(40).attention.copy()
    method(am.MultiVector(vectors, attention))
    np.testing.assert_array_equal(vectors, make_page(40).vectors)
    np.testing.assert_array_equal(attention, make_page(40).attention)


@settings(max_examples=20)
@given(methods, seeds)
def test_a_page_of_coarse_numbers_is_compressed_like_any_other(name, seed):
    """Ties everywhere: small integers for vectors and for attention."""
    rng = np.random.default_rng(seed)
    page = am.MultiVector(
        rng.integers(-1, 2, size=(60, 3)) + np.array([0, 0, 3]), rng.integers(0, 3, size=60)
    )
    small = am.parse_method(name)(page)
    assert set(small.groups.tolist()) - {-1} == set(range(len(small)))
