import numpy as np
import pytest

from adamerge.compress import pool
from adamerge.errors import BadInput, BadShape

VECTORS = np.array([[1, 0], [0, 1], [2, 2], [4, 0]], np.float32)


def test_a_mean_is_the_mean_of_the_original_vectors():
    np.testing.assert_allclose(
        pool.mean(VECTORS, [0, 0, 1, 0]), [[5 / 3, 1 / 3], [2, 2]], rtol=1e-7
    )


def test_pool_leans_to_the_attended_patch():
    np.testing.assert_allclose(
        pool.weighted(VECTORS, [0, 0, 1, 1], [3, 1, 1, 1]), [[0.75, 0.25], [3, 1]]
    )


def test_a_group_without_attention_gives_its_plain_mean():
    np.testing.assert_allclose(
        pool.weighted(VECTORS, [0, 0, 1, 1], [0, 0, 0, 5]), [[0.5, 0.5], [4, 0]]
    )


def test_unit_scales_a_centroid_to_length_one():
    out = pool.weighted(VECTORS, [0, 0, 1, 1], [3, 1, 1, 1], unit=True)
    np.testing.assert_allclose(
        out, [[3 / 10**0.5, 1 / 10**0.5], [3 / 10**0.5, 1 / 10**0.5]], rtol=1e-6
    )


def test_a_centroid_of_zero_stays_zero():
    np.testing.assert_array_equal(pool.mean([[1, 0], [-1, 0]], [0, 0], unit=True), [[0, 0]])


def test_a_pruned_patch_is_left_out():
    np.testing.assert_allclose(pool.mean(VECTORS, [0, -1, -1, 0]), [[2.5, 0]])


def test_a_patch_alone_in_its_group_keeps_its_vector_to_the_bit():
    rng = np.random.default_rng(0)
    vectors, attention = (
        rng.normal(size=(500, 7)).astype(np.float32),
        rng.gamma(0.3, size=500).astype(np.float32),
    )
    np.testing.assert_array_equal(pool.weighted(vectors, np.arange(500), attention), vectors)


@pytest.mark.parametrize(
    "groups", [[0, 0, 2, 2], [-1, -1, -1, -1], [1, 1, 1, 1], [-2, 0, 0, 0], [2**32, 0, 1, 2]]
)
def test_groups_without_gaps_are_expected(groups):
    with pytest.raises(BadInput, match=r"groups must be (0 \.\. m-1|-1 \.\. n-1)"):
        pool.mean(VECTORS, groups)


def test_lengths_must_agree():
    with pytest.raises(BadShape, match="4 patches, shape \\(3,\\)"):
        pool.mean(VECTORS, [0, 0, 0])
    with pytest.raises(BadShape, match="4 patches, shape \\(2,\\)"):
        pool.weighted(VECTORS, [0, 0, 0, 0], [1, 1])
    with pytest.raises(BadShape, match="integers"):
        pool.mean(VECTORS, [0.0, 0.0, 0.0, 1.0])
