import numpy as np
import pytest
from conftest import random_page
from hypothesis import given
from hypothesis import strategies as st

from adamerge.compress import cut, link
from adamerge.errors import BadInput
from adamerge.types import Cut, Tree

# merge             1     2     3     4     5     6: seven patches
C = np.array([0.99, 0.98, 0.95, 0.75, 0.72, 0.10])


def test_the_cliff_is_the_widest_drop_above_the_floor():
    # drops .01 .03 .20 .03 .62: the last is the widest and starts at .72
    assert cut.cliff(C, 0.7) == Cut(5, 0.72, pytest.approx(0.62))
    assert cut.cliff(C, 0.8) == Cut(3, 0.95, pytest.approx(0.20))
    assert cut.cliff(C, 0.96) == Cut(2, 0.98, pytest.approx(0.03))


def test_the_last_merge_is_never_made_at_a_cliff():
    assert cut.cliff([0.9, 0.9, 0.9], -1).merges == 1  # t = 3 has no merge after it


def test_the_first_of_equal_drops_wins():
    assert cut.cliff(np.array([1.0, 0.75, 0.5, 0.25]), 0.0).merges == 1


def test_no_merge_reaches_the_floor_so_none_is_made():
    for stop in (cut.cliff(C, 1.0), cut.floor(C, 1.0)):
        assert stop.merges == 0
        assert np.isnan([stop.theta, stop.gap]).all()


@pytest.mark.parametrize("sequence", [[], [0.99]])
def test_fewer_than_three_patches_are_not_merged(sequence):
    assert cut.cliff(sequence, -1).merges == 0
    assert cut.floor(sequence, -1).merges == 0


def test_the_floor_makes_every_merge_above_it():
    assert cut.floor(C, 0.7) == Cut(5, 0.72, pytest.approx(0.62))
    assert cut.floor(C, 0.74) == Cut(4, 0.75, pytest.approx(0.03))
    everything = cut.floor(C, 0.0)
    assert (everything.merges, everything.theta) == (6, 0.10)
    assert np.isnan(everything.gap)


def test_a_budget_leaves_that_many_groups():
    assert cut.budget(C, 4) == Cut(3, 0.95, pytest.approx(0.20))
    assert cut.budget(C, 1).merges == 6
    assert cut.budget(C, 7).merges == cut.budget(C, 100).merges == 0


def test_the_three_sequences_of_a_tree():
    tree = Tree(
        np.array([[0, 1], [2, 4], [3, 5]], np.int32),
        np.array([0.2, 0.6, 1.0]),
        np.array([0.9, 0.5, 0.7]),
    )
    np.testing.assert_allclose(cut.cosines(tree), [0.9, 0.5, 0.7])
    np.testing.assert_allclose(cut.cosines(tree, "running-min"), [0.9, 0.5, 0.5])
    np.testing.assert_allclose(cut.cosines(tree, "height"), [0.98, 0.82, 0.5])
    assert cut.cliff(tree, 0.4).merges == 1
    assert cut.cliff(tree, 0.4, "height").merges == 2
    assert cut.floor(tree, 0.6).merges == 3  # the last merge with a cosine above the floor
    assert cut.floor(tree, 0.6, "running-min").merges == 1


def test_on_single_patches_height_and_cosine_are_one_thing():
    tree = link.ward(random_page(2, 9).vectors)
    np.testing.assert_allclose(cut.cosines(tree, "height"), cut.cosines(tree, "raw"), atol=1e-12)


@given(st.integers(1, 80), st.floats(-1, 1), st.integers(0, 99))
def test_a_cut_says_what_was_merged(n, c_min, seed):
    tree = link.ward(random_page(n, 6, seed).vectors)
    for sequence in ("raw", "running-min", "height"):
        c = cut.cosines(tree, sequence)
        for stop in (cut.cliff(tree, c_min, sequence), cut.floor(tree, c_min, sequence)):
            groups = cut.groups(tree, stop)
            assert len(set(groups.tolist())) == n - stop.merges
            if stop.merges:
                assert stop.theta == c[stop.merges - 1] >= c_min
        assert cut.floor(tree, c_min, sequence).merges >= cut.cliff(tree, c_min, sequence).merges


def test_groups_are_numbered_by_their_first_patch():
    tree = Tree(np.array([[1, 2], [0, 3]]), np.array([0.1, 0.2]), np.array([0.9, 0.8]))
    assert cut.groups(tree, 3).tolist() == [0, 1, 2]
    assert cut.groups(tree, 2).tolist() == [0, 1, 1]
    assert cut.groups(tree, Cut(2)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("c_min", [-1.1, 1.1, float("nan")])
def test_a_floor_is_a_cosine(c_min):
    with pytest.raises(BadInput, match="c_min is a cosine"):
        cut.cliff(C, c_min)


def test_the_door_of_cutting():
    tree = link.ward(random_page(5, 4).vectors)
    with pytest.raises(BadInput, match="sequence must be raw or running-min or height, got 'foo'"):
        cut.cliff(tree, 0.5, "foo")
    with pytest.raises(BadInput, match="c_min is a cosine"):
        cut.cliff(tree, "high")
    with pytest.raises(BadInput, match="a whole number of groups"):
        cut.budget(tree, 2.5)
    with pytest.raises(BadInput, match="SciPy's numbering"):
        cut.groups(
            Tree(np.array([[0, 1], [2, 900]]), np.array([1.0, 2.0]), np.array([0.9, 0.5])), 1
        )


def test_a_cut_beyond_the_tree_is_refused():
    tree = link.ward(random_page(3, 4).vectors)
    with pytest.raises(BadInput, match="a tree of 3 patches has 2 merges, the cut wants 3"):
        cut.groups(tree, Cut(3))
    with pytest.raises(BadInput, match="at least one, got m=0"):
        cut.budget(tree, 0)
