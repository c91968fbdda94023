import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import random_page
from scipy.cluster.hierarchy import linkage
from trees import partitions, unit

from adamerge.compress import link
from adamerge.errors import BadDtype, BadInput, BadShape, TooLarge


def test_two_patches_meet_at_their_distance_and_cosine():
    tree = link.ward([[3, 4], [4, 3]])
    assert tree.merges.tolist() == [[0, 1]]
    assert tree.heights[0] == pytest.approx(
        0.08**0.5, rel=1e-6
    )  # (.6, .8) and (.8, .6) are .2 apart on each axis
    assert tree.cosines[0] == pytest.approx(0.96, rel=1e-6)


def test_rows_are_wards_method_on_rows_of_cosine_distances():
    """What colpali-engine computes: SciPy takes the rows of a square matrix for observations."""
    vectors = random_page(90, 16, seed=3).vectors
    x = unit(vectors)
    want = linkage((1 - x @ x.T).astype(np.float32), metric="euclidean", method="ward")
    tree = link.ward(vectors, linkage="rows")
    np.testing.assert_allclose(tree.heights, want[:, 2], rtol=1e-4)
    assert partitions(tree.merges) == partitions(want[:, :2])


def test_the_three_linkages_are_three_methods():
    vectors = random_page(60, 8, seed=4).vectors
    made = [
        partitions(link.ward(vectors, linkage=name).merges)
        for name in ("euclidean", "condensed", "rows")
    ]
    assert made[0] != made[1] != made[2] != made[0]


def test_one_patch_is_a_tree_without_merges():
    tree = link.ward(np.ones((1, 4)))
    assert len(tree) == 1
    assert tree.merges.shape == (0, 2)


def test_the_length_of_a_vector_does_not_matter():
    vectors = random_page(50, 8).vectors
    longer = vectors * np.random.default_rng(0).uniform(1e-3, 1e3, size=(50, 1)).astype(np.float32)
    np.testing.assert_array_equal(link.ward(vectors).merges, link.ward(longer).merges)


@pytest.mark.parametrize("scale", [1e-35, 1e35])
def test_very_short_and_very_long_vectors_link_like_others(scale):
    vectors = random_page(50, 8).vectors
    np.testing.assert_array_equal(
        link.ward(vectors).merges, link.ward(vectors * np.float32(scale)).merges
    )


def test_inputs_are_not_modified():
    vectors = random_page(64, 8).vectors.copy()
    before = vectors.copy()
    for linkage_ in ("euclidean", "condensed", "rows"):
        link.ward(vectors, linkage=linkage_)
    np.testing.assert_array_equal(vectors, before)


def test_the_same_input_gives_the_same_tree_on_any_thread():
    pages = [random_page(n, 32, seed=9).vectors for n in (370, 20, 747, 100)]
    want = [link.ward(p) for p in pages]
    trees: dict[int, list] = {}
    threads = [
        threading.Thread(target=lambda i=i: trees.update({i: [link.ward(p) for p in pages]}))
        for i in range(8)
    ]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for got in trees.values():
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a.merges, b.merges)
            np.testing.assert_array_equal(a.heights, b.heights)
            np.testing.assert_array_equal(a.cosines, b.cosines)
    assert len(trees) == 8


def test_a_page_beyond_memory_is_refused_before_it_is_tried():
    with pytest.raises(
        TooLarge, match=r"linking 400,000 patches needs \d+\.\d GB, \d+\.\d GB are free: prune more"
    ):
        link.ward(np.ones((400_000, 1), np.float32))


@pytest.mark.parametrize(
    ("vectors", "error", "words"),
    [
        ([[1.0, 0.0], [0.0, 0.0]], BadInput, "row 1 of vectors (2, 2) is all zeros"),
        ([1.0, 2.0], BadShape, "vectors must have shape (n, d), got (2,)"),
        ([[1.0, float("nan")]], BadInput, "vectors must be finite: nan at [0, 1]"),
        ([["a", "b"]], BadDtype, "vectors must hold real numbers"),
        (np.ones((0, 4)), BadShape, "at least one vector of one dimension, got shape (0, 4)"),
        (np.ones((3, 0)), BadShape, "got shape (3, 0)"),
    ],
)
def test_what_cannot_be_linked_is_refused(vectors, error, words):
    with pytest.raises(error) as caught:
        link.ward(vectors)
    assert words in str(caught.value)


def test_an_unknown_linkage_is_refused():
    with pytest.raises(
        BadInput, match="linkage must be euclidean or condensed or rows, got 'average'"
    ):
        link.ward(np.eye(3), linkage="average")


def test_a_limit_of_the_process_is_an_error_that_says_how_much_was_needed():
    code = """
import mmap, resource, numpy as np
from adamerge.compress import link
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
before = link._own_limit()
taken = mmap.mmap(-1, 1 << 28)
assert before - link._own_limit() >= 1 << 28  # what is left, not the limit
taken.close()
try:
    link.ward(np.random.default_rng(0).normal(size=(30_000, 2)))
except MemoryError as error:
    print(type(error).__name__, error)
"""
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert said.startswith("TooLarge linking 30,000 patches needs 4.")
