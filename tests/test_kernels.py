"""The native kernels against their slow twins, SciPy and fastcluster, on every instruction set of this machine."""

from functools import partial

import fastcluster
import numpy as np
import pytest
from conftest import random_page
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from trees import partitions, unit

from adamerge.kernels import _native, reference

INSTRUCTION_SETS = _native.instruction_sets()
every_isa = pytest.mark.parametrize("isa", INSTRUCTION_SETS)


def explicit_cosines(vectors, merges):
    x, n = unit(vectors), len(vectors)
    members = {i: [i] for i in range(n)}
    out = []
    for t, (a, b) in enumerate(merges):
        left, right = x[members[int(a)]].mean(0), x[members[int(b)]].mean(0)
        length = np.linalg.norm(left) * np.linalg.norm(right)
        out.append(left @ right / length if length > 1e-12 else 0.0)
        members[n + t] = members[int(a)] + members[int(b)]
    return np.array(out)


def replay(vectors, merges, heights):
    """At every step the pair joined was a closest one: the definition, and it holds with ties."""
    x, n = unit(vectors), len(vectors)
    members = {i: [i] for i in range(n)}
    for t, (a, b) in enumerate(merges):
        names = list(members)
        size = np.array([len(members[i]) for i in names], float)
        centre = np.array([x[members[i]].mean(0) for i in names])
        apart = ((centre[:, None] - centre[None]) ** 2).sum(-1)
        squared = 2 * size[:, None] * size[None] / (size[:, None] + size[None]) * apart
        np.fill_diagonal(squared, np.inf)
        joined = squared[names.index(int(a)), names.index(int(b))]
        assert joined <= squared.min() + 1e-9
        assert heights[t] ** 2 == pytest.approx(joined, abs=1e-9)
        members[n + t] = members.pop(int(a)) + members.pop(int(b))


@every_isa
@pytest.mark.parametrize("n", [2, 3, 4, 5, 15, 16, 17, 31, 63, 64, 65, 100, 129, 370])
def test_ward_makes_the_groups_of_scipy_at_every_isa(isa, n):
    vectors = random_page(n, 24, seed=1).vectors
    merges, heights, cosines = _native.ward(vectors, isa=isa)
    want = linkage(unit(vectors), "ward")
    assert partitions(merges) == partitions(want[:, :2])
    np.testing.assert_allclose(heights, want[:, 2], rtol=1e-9)
    np.testing.assert_allclose(cosines, explicit_cosines(vectors, merges), atol=1e-9)
    assert (np.diff(heights) >= 0).all()
    assert (merges[:, 0] < merges[:, 1]).all()


@pytest.mark.parametrize(
    ("n", "d"), [(50, 1), (40, 2), (60, 3), (80, 7), (300, 33), (200, 384), (120, 2048), (60, 4096)]
)
def test_ward_agrees_with_scipy_in_every_dimension(n, d):
    vectors = random_page(n, d, seed=2).vectors
    merges, heights, _ = _native.ward(vectors)
    want = linkage(unit(vectors), "ward")
    np.testing.assert_allclose(heights, want[:, 2], rtol=1e-5, atol=1e-7)
    if d > 1:  # on a line of unit length all points are 1 or -1, and everything ties
        assert partitions(merges) == partitions(want[:, :2])


def test_ward_of_5000_patches_agrees_with_fastcluster():
    vectors = np.random.default_rng(3).normal(size=(5000, 32)).astype(np.float32)
    merges, heights, _ = _native.ward(vectors)
    want = fastcluster.linkage(unit(vectors), "ward")
    assert partitions(merges) == partitions(want[:, :2])
    np.testing.assert_allclose(heights, want[:, 2], rtol=1e-9)


@every_isa
def test_near_duplicates_beyond_float32_are_told_apart(isa):
    """Cosines of 1 - 1e-9: a float32 inner product sees nothing but ones, the referee sees the tree."""
    rng = np.random.default_rng(4)
    centres = rng.normal(size=(6, 64))
    vectors = (np.repeat(centres, 20, axis=0) + 3e-4 * rng.normal(size=(120, 64))).astype(
        np.float32
    )
    merges, heights, _ = _native.ward(vectors, isa=isa)
    want = linkage(unit(vectors), "ward")
    assert heights[0] < 5e-4
    assert partitions(merges) == partitions(want[:, :2])
    np.testing.assert_allclose(heights, want[:, 2], rtol=1e-7)


@every_isa
@pytest.mark.parametrize(
    "vectors",
    [
        np.ones((1, 3)),
        np.ones((2, 3)),
        np.ones((40, 5)),
        np.eye(33),
        np.concatenate([np.eye(9), -np.eye(9)]),
        np.array([[1, 0], [-1, 0]]),
        np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]),
        np.repeat(np.eye(7), 6, axis=0),
        np.array([[1.0], [-1.0], [2.0], [-3.0], [5.0]]),
        np.round(np.random.default_rng(0).normal(size=(60, 3))) + np.array([0, 0, 0.5]),
        np.array(
            [
                [np.cos(a), np.sin(a)]
                for a in np.radians([0, 0.1, 0.2, 0.3, 20, 20.1, 20.2, 20.3, 100, 130])
            ]
        ),
    ],
    ids=[
        "one",
        "two",
        "equal",
        "orthogonal",
        "opposite-axes",
        "opposite",
        "square",
        "repeated",
        "line",
        "lattice",
        "circle",
    ],
)
def test_with_ties_every_pair_joined_was_a_closest_one(isa, vectors):
    vectors = vectors.astype(np.float32)
    merges, heights, cosines = _native.ward(vectors, isa=isa)
    assert merges.shape == (len(vectors) - 1, 2)
    replay(vectors, merges, heights)
    np.testing.assert_allclose(cosines, explicit_cosines(vectors, merges), atol=1e-7)


def awkward(kind, n, d, rng):
    """Vectors on which rounding decides: lattices, twins, near twins, signs."""
    if kind == "lattice":
        vectors = rng.integers(-2, 3, size=(n, d)).astype(float)
    elif kind == "twins":
        vectors = rng.normal(size=(1 + n // 5, d))[rng.integers(1 + n // 5, size=n)]
    elif kind == "close crowds":
        crowds = 1 + 10.0 ** rng.uniform(-6, -3) * rng.normal(size=(3, d))
        vectors = np.repeat(crowds, 1 + n // 3, axis=0)[:n] + 10.0 ** rng.uniform(
            -9, -5
        ) * rng.normal(size=(n, d))
    elif kind == "near twins":
        vectors = rng.normal(size=(1 + n // 6, d))[rng.integers(1 + n // 6, size=n)]
        vectors += 10.0 ** rng.uniform(-9, -1) * rng.normal(size=(n, d))
    else:
        vectors = np.sign(rng.normal(size=(n, d))) * rng.uniform(1e-3, 1e3, size=(n, 1))
    vectors[~vectors.any(axis=1)] = 1
    return vectors.astype(np.float32)


@settings(max_examples=300)
@given(
    st.sampled_from(["lattice", "twins", "near twins", "close crowds", "signs"]),
    st.integers(1, 45),
    st.integers(1, 6),
    st.integers(0, 10**6),
    st.sampled_from(INSTRUCTION_SETS),
)
def test_where_rounding_decides_every_pair_joined_was_still_a_closest_one(kind, n, d, seed, isa):
    vectors = awkward(kind, n, d, np.random.default_rng(seed))
    merges, heights, cosines = _native.ward(vectors, isa=isa)
    replay(vectors, merges, heights)
    assert (np.abs(cosines) <= 1).all()
    condensed, _, _ = _native.ward(vectors, condensed=True, isa=isa)
    assert sorted(condensed.ravel().tolist()) == list(range(2 * len(vectors) - 2))


def test_cosines_of_wards_tree_are_not_monotone():
    """The counter-example to the paper's claim: ten points on a circle."""
    angles = np.radians([0, 0.1, 0.2, 0.3, 20, 20.1, 20.2, 20.3, 100, 130])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    _, heights, cosines = _native.ward(vectors)
    np.testing.assert_allclose(cosines[6:8], [0.8660, 0.9397], atol=1e-4)
    np.testing.assert_allclose(heights[6:8], [0.518, 0.695], atol=1e-3)


@settings(max_examples=60)
@given(
    st.integers(1, 14),
    st.integers(1, 6),
    st.integers(0, 10**6),
    st.booleans(),
    st.sampled_from(INSTRUCTION_SETS),
)
def test_ward_agrees_with_its_twin(n, d, seed, unit_length, isa):
    vectors = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    merges, heights, cosines = _native.ward(vectors, unit=unit_length, isa=isa)
    want_merges, want_heights, want_cosines = reference.ward(vectors, unit=unit_length)
    np.testing.assert_allclose(heights, want_heights, atol=1e-7)
    if d > 1:
        np.testing.assert_array_equal(merges, want_merges)
        np.testing.assert_allclose(cosines, want_cosines, atol=1e-7)


@every_isa
@pytest.mark.parametrize("n", [2, 3, 40, 370])
def test_condensed_ward_agrees_with_scipy_on_condensed_cosine_distances(isa, n):
    vectors = random_page(n, 32, seed=5).vectors
    merges, heights, cosines = _native.ward(vectors, condensed=True, isa=isa)
    x = unit(vectors)
    want = linkage((1 - x @ x.T)[np.triu_indices(n, 1)], "ward")
    np.testing.assert_allclose(heights, want[:, 2], rtol=1e-4, atol=1e-6)
    assert partitions(merges) == partitions(want[:, :2])
    np.testing.assert_allclose(cosines, explicit_cosines(vectors, merges), atol=1e-6)


@every_isa
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (12, 16), (13, 17), (33, 5), (100, 128)])
def test_gram_agrees_with_its_twin(isa, n, d):
    vectors = np.random.default_rng(n).normal(size=(n, d)).astype(np.float32)
    np.testing.assert_allclose(
        _native.gram(vectors, isa=isa), reference.gram(vectors), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("n", [1, 2, 9, 60])
def test_groups_agree_with_their_twin_at_every_cut(n):
    merges, _, _ = _native.ward(random_page(n, 8).vectors)
    for made in range(n):
        groups = _native.groups(merges, made)
        np.testing.assert_array_equal(groups, reference.groups(merges, made))
        assert len(set(groups.tolist())) == n - made


@every_isa
@pytest.mark.parametrize("d", [1, 7, 16, 64])
def test_every_float16_is_widened_to_the_same_number(isa, d):
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[: len(halves) // d * d].reshape(-1, d)
    ours = _native.widen(halves, isa=isa)
    np.testing.assert_array_equal(ours, reference.widen(halves))
    np.testing.assert_array_equal(np.signbit(ours), np.signbit(halves))
    np.testing.assert_array_equal(bits(ours), bits(_native.widen(halves, isa="baseline")))


@every_isa
@pytest.mark.parametrize("d", [1, 7, 16, 64])
def test_every_float32_is_narrowed_to_the_nearest_float16(isa, d):
    floats = near_every_float16()
    floats = floats[: len(floats) // d * d].reshape(-1, d)
    ours = _native.narrow(floats, isa=isa)
    np.testing.assert_array_equal(ours, reference.narrow(floats))
    np.testing.assert_array_equal(np.signbit(ours), np.signbit(floats))
    np.testing.assert_array_equal(bits(ours), bits(_native.narrow(floats, isa="baseline")))


def near_every_float16():
    """Every float16, the middle to the next one, and the float32 on either side of both; and what is beyond."""
    exact = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    middle = (exact[:-1] + exact[1:]) / 2
    beyond = np.float32([65504, 65519.996, 65520, 1e30, np.inf, np.nan, 1e-45, 1e-8])
    around = np.concatenate([exact, middle, beyond])
    below, above = np.nextafter(around, np.float32(0)), np.nextafter(around, np.float32(np.inf))
    positive = np.concatenate([around, below, above])
    return np.concatenate([positive, -positive])


def bits(values):
    return values.view(f"uint{8 * values.itemsize}")


@pytest.mark.parametrize("wrong", [np.float32, np.int16, np.uint16])
def test_widen_takes_float16_and_nothing_else(wrong):
    with pytest.raises(TypeError, match="float16"):
        _native.widen(np.ones((2, 2), wrong))


@every_isa
@pytest.mark.parametrize("unit_length", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_pool_agrees_with_its_twin(isa, unit_length, weighted):
    rng = np.random.default_rng(6)
    vectors = rng.normal(size=(50, 11)).astype(np.float32)
    groups = np.r_[np.arange(7), rng.integers(-1, 7, size=43)].astype(np.int32)
    weights = rng.gamma(0.5, size=50).astype(np.float32) if weighted else None
    if weights is not None:
        weights[groups == 3] = 0
    ours = _native.pool(vectors, groups, weights, 7, unit_length, isa=isa)
    np.testing.assert_allclose(
        ours, reference.pool(vectors, groups, weights, 7, unit_length), rtol=1e-6, atol=1e-7
    )


def test_every_instruction_set_gives_the_same_tree():
    vectors = random_page(500, 128, seed=8).vectors
    trees = [_native.ward(vectors, isa=isa) for isa in INSTRUCTION_SETS]
    for merges, heights, cosines in trees[1:]:
        np.testing.assert_array_equal(merges, trees[0][0])
        np.testing.assert_allclose(heights, trees[0][1], rtol=1e-12)
        np.testing.assert_allclose(cosines, trees[0][2], rtol=1e-12, atol=1e-14)


@every_isa
def test_groups_that_lie_close_together_are_told_apart(isa):
    """The error of a float32 distance grows with the groups it is between; so must the referee's attention."""
    rng = np.random.default_rng(2)
    vectors = np.repeat(1 + 3e-4 * rng.normal(size=(3, 2)), 3, axis=0).astype(np.float32)
    np.testing.assert_allclose(
        _native.ward(vectors, isa=isa)[1][-2:], [1.47e-5, 4.04e-4], rtol=0.01
    )
    for seed in range(20):
        rng = np.random.default_rng(seed)
        crowds = rng.normal(size=128) + 3e-3 * rng.normal(size=(12, 128))
        vectors = (np.repeat(crowds, 30, axis=0) + 1e-4 * rng.normal(size=(360, 128))).astype(
            np.float32
        )
        merges, heights, _ = _native.ward(vectors, isa=isa)
        want = linkage(unit(vectors), "ward")
        np.testing.assert_allclose(heights, want[:, 2], rtol=1e-7)
        assert partitions(merges) == partitions(want[:, :2])


def test_an_instruction_set_this_machine_lacks_is_refused():
    with pytest.raises(ValueError, match="no instruction set 'mmx'"):
        _native.ward(np.ones((2, 2), np.float32), isa="mmx")


def test_a_kernel_does_not_reach_beyond_its_arrays():
    with pytest.raises(ValueError, match="groups"):
        _native.pool(np.ones((2, 2), np.float32), np.array([0, 5], np.int32), None, 1)
    with pytest.raises(ValueError, match="made"):
        _native.groups(np.array([[0, 1]], np.int32), 2)
    for node in (-5000, 4, 900_000_000):
        with pytest.raises(ValueError, match="merge t joins nodes below"):
            _native.groups(np.array([[0, 1], [2, node]], np.int32), 2)


@every_isa
@pytest.mark.parametrize("size", [1e-36, 1e-30, 1e-19, 1e14, 1e19, 1e30, 3e38])
def test_ward_is_right_for_vectors_of_any_size(isa, size):
    small = np.random.default_rng(7).uniform(-1, 1, size=(90, 5)).astype(np.float32)
    vectors = (small.astype(np.float64) * size).astype(np.float32)
    merges, heights, cosines = _native.ward(vectors, unit=False, isa=isa)
    want = linkage(vectors.astype(np.float64), "ward")
    np.testing.assert_allclose(heights, want[:, 2], rtol=1e-9)
    assert (np.abs(cosines) <= 1).all()
    assert partitions(merges) == partitions(want[:, :2])


@settings(max_examples=200, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(1, 6),
    st.integers(0, 10**6),
    st.sampled_from(INSTRUCTION_SETS),
)
def test_ward_is_right_where_a_page_has_vectors_of_every_size(n, d, seed, isa):
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-36, 38, size=(n, 1))  # below, numbers are so coarse that they tie
    vectors = (rng.uniform(-1, 1, size=(n, d)) * sizes).astype(np.float32)
    merges, heights, cosines = _native.ward(vectors, unit=False, isa=isa)
    assert sorted(merges.ravel().tolist()) == list(range(2 * n - 2))
    assert (np.diff(heights) >= 0).all()
    np.testing.assert_allclose(heights, reference.ward(vectors, unit=False)[1], rtol=1e-6)
    assert (np.abs(cosines) <= 1).all()


@pytest.mark.parametrize(
    "ward", [*[partial(_native.ward, isa=x) for x in INSTRUCTION_SETS], reference.ward]
)
def test_ward_refuses_what_has_no_distance(ward):
    for wrong in (np.nan, np.inf, -np.inf):
        vectors = np.ones((20, 3), np.float32)
        vectors[7, 1] = wrong
        for unit_length in (False, True):
            with pytest.raises(ValueError, match="vectors must be finite"):
                ward(vectors, unit=unit_length)
    zero = np.eye(20, 3, dtype=np.float32)
    with pytest.raises(ValueError, match="none all zeros where unit is true"):
        ward(zero)
    assert len(ward(zero, unit=False)[1]) == 19
    with pytest.raises(ValueError, match="unit must be true"):
        ward(np.ones((3, 3), np.float32), unit=False, condensed=True)
