"""One Ward height for every page, held against SciPy and explicit centroids."""

import numpy as np
import pytest
from conftest import random_page
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from trees import unit

import adamerge as am
from adamerge.compress import cut, link
from adamerge.errors import BadInput
from adamerge.types import Cut, Tree


def by_hand(page, h, pool, unit_length):
    """The groups of SciPy's tree below a height and their explicit centroids, in the order of first patches."""
    labels = fcluster(linkage(unit(page.vectors), "ward"), h, "distance")
    groups, centroids = np.zeros(len(page), int), []
    for label in dict.fromkeys(labels.tolist()):
        members = labels == label
        groups[members] = len(centroids)
        weights = page.attention[members] if pool == "attention" else None
        centroid = np.average(page.vectors[members].astype(np.float64), axis=0, weights=weights)
        centroids.append(centroid / np.linalg.norm(centroid) if unit_length else centroid)
    return groups, np.array(centroids)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 60),
    st.floats(0.05, 3),
    st.sampled_from(["attention", "mean"]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_height_is_what_scipy_and_explicit_centroids_give(n, h, pool, unit_length, seed):
    page = random_page(n, seed=seed)
    small = am.Height(h=h, pool=pool, unit=unit_length)(page)
    groups, centroids = by_hand(page, h, pool, unit_length)
    assert small.groups.tolist() == groups.tolist()
    np.testing.assert_allclose(small.vectors, centroids, atol=1e-5)


def test_the_cut_makes_every_merge_up_to_the_height():
    tree = Tree(
        np.array([[0, 1], [2, 4], [3, 5]], np.int32),
        np.array([0.2, 0.6, 1.0]),
        np.array([0.9, 0.5, 0.7]),
    )
    assert cut.height(tree, 0.6) == Cut(2, 0.5, pytest.approx(-0.2))
    assert cut.height(tree, 0.599) == Cut(1, 0.9, pytest.approx(0.4))
    assert cut.height(tree, 0.1).merges == 0
    assert cut.height(tree, 50).merges == 3
    for wrong in (0, -1, np.nan, np.inf, "high"):
        with pytest.raises(BadInput, match="h is a Ward height, a number above 0"):
            cut.height(tree, wrong)


def test_two_patches_are_merged_at_the_height_of_their_cosine():
    page = am.MultiVector(np.array([[1, 0], [0.6, 0.8]]))  # cosine 0.6: sqrt(2 - 1.2) apart
    assert len(am.Height(h=0.9)(page)) == 1
    assert len(am.Height(h=0.89)(page)) == 2


def test_names_say_the_height_and_only_what_differs_from_the_defaults():
    assert str(am.Height()) == "height:h=1"
    assert str(am.Height(h=1.05)) == "height:h=1.05"
    assert str(am.Height(k=0, pool="mean")) == "height:h=1,k=0,pool=mean"
    assert am.parse_method("height") == am.Height(h=1.0)
    with pytest.raises(BadInput, match="h is a Ward height"):
        am.Height(h=0)


def test_it_needs_no_attention_and_pools_by_it_where_there_is_some(make_page):
    page = make_page(60)
    bare = am.compress(page.vectors, method="height")
    weighted = am.compress(page, method="height")
    np.testing.assert_array_equal(
        bare.vectors, am.compress(page, method="height:pool=mean").vectors
    )
    np.testing.assert_array_equal(bare.groups, weighted.groups)
    assert not np.allclose(bare.vectors, weighted.vectors)
    np.testing.assert_allclose(np.linalg.norm(bare.vectors, axis=1), 1, rtol=1e-5)


def test_a_higher_height_never_leaves_more_groups(make_page):
    page = make_page(200)
    sizes = [len(am.Height(h=h)(page)) for h in (0.1, 0.5, 0.9, 1.0, 1.4, 2, 4)]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("compression", [0, 0.3, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("k", [None, 0])
def test_height_at_gives_the_lowest_height_of_a_compression(compression, k):
    pages = [random_page(n, seed=n) for n in (20, 50, 90)]

    def compression_at(h):
        small = list(am.compress_pages(pages, am.Height(h=h, k=k)))
        return 1 - sum(map(len, small)) / sum(map(len, pages))

    h = am.height_at(pages, compression, k=k)
    assert compression_at(h) >= compression
    if h > 1e-4 and compression_at(1e-4) < compression:
        assert compression_at(h - 2e-4) < compression_at(h)
        assert (
            compression_at(h) - compression < 1 / 20
        )  # one merge more, or some at the same height


def test_height_at_refuses_what_cannot_be():
    pages = [random_page(10)]
    with pytest.raises(BadInput, match=r"these pages compress by 0\.9000 at most, not by 0\.95"):
        am.height_at(pages, 0.95)
    with pytest.raises(BadInput, match="compression is a share"):
        am.height_at(pages, 1)
    with pytest.raises(BadInput, match="at least one page"):
        am.height_at([], 0.5)


def test_it_is_the_floor_on_the_cosine_of_its_height(make_page):
    page = make_page(120)
    tree = link.ward(page.vectors)
    for h in (0.5, 0.9, 1.2):
        assert cut.height(tree, h).merges == cut.floor(tree, 1 - h**2 / 2, "height").merges
