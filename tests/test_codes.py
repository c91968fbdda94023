"""Codes of 8, 4, 2 and 1 bits: what they keep of a vector, and what they take."""

import hashlib
from math import erf, exp, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamerge import codes
from adamerge.codes import rotation
from adamerge.codes.levels import LEVELS
from adamerge.errors import BadInput, BadShape, TooNew

BITS = [8, 4, 2, 1]
DIMENSIONS = [1, 2, 3, 96, 128, 384, 4096]
DISTORTION = {1: 0.3634, 2: 0.1175, 4: 0.0095, 8: 0.0000412}  # as Max (1960) has it up to 4 bits

every_bits = pytest.mark.parametrize("bits", BITS)
every_d = pytest.mark.parametrize("d", DIMENSIONS)


def gaussian(rows, d, seed=0):
    return np.random.default_rng([seed, rows, d]).normal(size=(rows, d)).astype(np.float32)


def rotation_matrix(d):
    """R of y = R v, from the definition: permutations, signs and Hadamard matrices as matrices."""
    whole = np.eye(d)
    for order, signs in rotation.rounds(d):
        whole = (np.eye(d)[order] * signs) @ whole
        size = 2 ** int(np.log2(d))
        for start in sorted({0, d - size}):
            step = np.eye(d)
            step[start : start + size, start : start + size] = hadamard(size)
            whole = step @ whole
    return whole


def hadamard(size):
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix / np.sqrt(size)


def own_product_error(vectors, decoded):
    """How far the inner product of each vector with its code is from its square, as a share."""
    exact = vectors.astype(np.float64)
    return np.abs((exact * decoded).sum(axis=1) / (exact**2).sum(axis=1) - 1)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 96, 127, 128])
def test_the_rotation_is_permutations_signs_and_hadamard_matrices(d):
    matrix = rotation_matrix(d)
    vectors = gaussian(20, d)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(d), atol=1e-12)
    np.testing.assert_allclose(rotation.rotate(vectors), vectors @ matrix.T, atol=1e-5)


@every_d
def test_a_rotation_can_be_taken_back_and_keeps_inner_products(d):
    vectors = gaussian(30, d)
    rotated = rotation.rotate(vectors)
    np.testing.assert_allclose(rotation.rotate_back(rotated), vectors, atol=2e-5)
    np.testing.assert_allclose(rotated @ rotated.T, vectors @ vectors.T, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("d", [3, 31, 96, 128])
@every_bits
def test_a_code_is_the_nearest_level_of_every_rotated_coordinate(d, bits):
    """The formula of code.py, in float64, with a matrix and a search over all levels."""
    values, _, unit = LEVELS[bits]
    vectors = gaussian(25, d)
    rotated = vectors @ rotation_matrix(d).T
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    positions = rotated * np.sqrt(d) / lengths * unit
    nearest = values[np.abs(positions[..., None] - values).argmin(axis=2)]
    scales = (rotated**2).sum(axis=1) / (rotated * nearest).sum(axis=1)
    want = (scales[:, None] * nearest) @ rotation_matrix(d)

    codes_of = codes.encode(vectors, bits)
    np.testing.assert_allclose(codes_of.scales, scales, rtol=1e-4)
    assert np.mean(np.abs(codes.decode(codes_of) - want) < 1e-4) > 0.9  # a tie may fall either way


@every_bits
def test_levels_are_the_best_for_a_gaussian(bits):
    """A boundary is in the middle of two levels, a level is the mean of what is rounded to it."""
    values, boundaries, unit = LEVELS[bits]
    edges = [-np.inf, *(boundaries / unit), np.inf]
    below = np.array([(1 + erf(edge / sqrt(2))) / 2 for edge in edges])
    density = np.array([exp(-edge * edge / 2) / sqrt(2 * pi) for edge in edges])
    share, moment = np.diff(below), -np.diff(density)
    levels = values / unit
    np.testing.assert_array_equal(values, -values[::-1])
    np.testing.assert_allclose(moment / share, levels, atol=0.02, rtol=0.002)
    distortion = 1 - 2 * (levels * moment).sum() + (levels**2 * share).sum()
    assert distortion == pytest.approx(DISTORTION[bits], rel=0.002)


@every_d
@every_bits
def test_the_inner_product_of_a_vector_with_its_own_code_is_exact(d, bits):
    vectors = gaussian(40, d)
    decoded = codes.decode(codes.encode(vectors, bits))
    assert decoded.shape == (40, d)
    assert decoded.dtype == np.float32
    assert own_product_error(vectors, decoded).max() < 2e-6


def squared_error(vectors, bits):
    """The mean squared error of codes, as a share of the squared length."""
    decoded = codes.decode(codes.encode(vectors, bits))
    error = ((decoded - vectors) ** 2).sum(axis=1) / (vectors**2).sum(axis=1)
    return error.mean()


@pytest.mark.parametrize("d", [96, 128, 384, 4096])
@every_bits
def test_the_error_is_that_of_the_theory(d, bits):
    expected = DISTORTION[bits] / (1 - DISTORTION[bits])
    assert squared_error(gaussian(300, d), bits) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("d", [96, 128, 384, 4096])
@every_bits
def test_a_vector_of_one_coordinate_has_no_larger_error(d, bits):
    """A rotated unit vector has few different values, and the levels may happen to lie near them."""
    vectors = np.eye(d, dtype=np.float32)[np.linspace(0, d - 1, 300).astype(int)]
    expected = DISTORTION[bits] / (1 - DISTORTION[bits])
    assert squared_error(vectors, bits) < 1.1 * expected


@every_bits
def test_inner_products_are_unbiased_over_rotations_and_err_as_the_formula_says(bits):
    """A pair at a fixed angle in a random direction is that pair under a random rotation."""
    pairs, d, cosine = 6000, 128, 0.4
    vectors = gaussian(pairs, d, seed=1).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    across = gaussian(pairs, d, seed=2)
    across = across - (across * vectors).sum(axis=1, keepdims=True) * vectors
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    queries = cosine * vectors + sqrt(1 - cosine**2) * across

    decoded = codes.decode(codes.encode(vectors, bits))
    errors = (queries * decoded).sum(axis=1) - cosine
    distortion = DISTORTION[bits]
    deviation = sqrt(distortion / (1 - distortion) * (1 - cosine**2) / d)
    assert abs(errors.mean()) < 4 * deviation / sqrt(pairs) + 1e-7
    assert errors.std() == pytest.approx(deviation, rel=0.05)


@every_d
@pytest.mark.parametrize("bits", [8, 4, 2])
def test_the_first_plane_of_every_code_is_the_1_bit_code(d, bits):
    vectors = gaussian(60, d)
    one_bit = codes.encode(vectors, 1)
    np.testing.assert_array_equal(codes.encode(vectors, bits).planes[0], one_bit.planes[0])


@pytest.mark.parametrize("d", [1, 3, 96, 128])
@every_bits
def test_the_sign_code_is_the_1_bit_code_of_what_a_code_stands_for(d, bits):
    whole = codes.encode(gaussian(60, d), bits)
    signs = codes.sign_code(whole)
    again = codes.encode(codes.decode(whole), 1)
    assert signs.planes[0] is whole.planes[0]
    np.testing.assert_allclose(signs.scales, again.scales, rtol=1e-5)


@every_d
@every_bits
def test_a_row_of_zeros_stays_zeros(d, bits):
    vectors = gaussian(3, d)
    vectors[1] = 0
    of_rows = codes.encode(vectors, bits)
    decoded = codes.decode(of_rows)
    assert of_rows.scales[1] == 0
    assert not decoded[1].any()
    assert decoded[0].any()
    assert np.isfinite(codes.sign_code(of_rows).scales).all()


@every_d
@every_bits
@pytest.mark.parametrize("factor", [2.0**-100, 2.0**100])
def test_huge_and_tiny_vectors_have_the_planes_of_others(d, bits, factor):
    """2^100 is about 1e30."""
    vectors = gaussian(20, d)
    plain = codes.encode(vectors, bits)
    scaled = codes.encode(vectors * np.float32(factor), bits)
    np.testing.assert_array_equal(scaled.planes, plain.planes)
    np.testing.assert_array_equal(scaled.scales, plain.scales * np.float32(factor))


def test_a_vector_too_short_for_a_scale_has_scale_0_and_one_too_long_is_refused():
    shortest = np.full((1, 128), 1e-45, np.float32)
    assert codes.decode(codes.encode(shortest, 1)).max() <= 1e-44
    rotated_to_one_coordinate = rotation.rotate_back(np.eye(1, 128, dtype=np.float32))
    longest = np.sign(rotated_to_one_coordinate) * np.finfo(np.float32).max
    mixed = np.concatenate([gaussian(1, 128), longest])
    with pytest.raises(BadInput, match=r"row 1 of vectors \(2, 128\) is too long"):
        codes.encode(mixed, 1)


@settings(max_examples=100)
@given(
    st.integers(0, 40),
    st.integers(1, 70),
    st.sampled_from(BITS),
    st.floats(-30, 30),
    st.integers(0, 10**6),
)
def test_any_vectors_are_coded_row_by_row(rows, d, bits, exponent, seed):
    rng = np.random.default_rng(seed)
    vectors = (rng.normal(size=(rows, d)) * 10.0**exponent).astype(np.float32)
    together = codes.encode(vectors, bits)
    assert len(together) == rows
    assert codes.decode(together).shape == (rows, d)
    if rows:
        alone = codes.encode(vectors[-1:], bits)
        assert own_product_error(vectors, codes.decode(together)).max() < 1e-5
        np.testing.assert_array_equal(alone.scales, together.scales[-1:])
        for plane, of_one in zip(together.planes, alone.planes, strict=True):
            np.testing.assert_array_equal(of_one, plane[-1:])


def test_many_rows_are_coded_as_few_are():
    vectors = gaussian(2500, 24)
    together = codes.encode(vectors, 4)
    end = codes.encode(vectors[2000:], 4)
    np.testing.assert_array_equal(together.scales[2000:], end.scales)
    np.testing.assert_array_equal(together.planes[3][2000:], end.planes[3])
    np.testing.assert_array_equal(codes.decode(together)[2000:], codes.decode(end))


@pytest.mark.parametrize(
    ("d", "bits", "expected"),
    [(128, 8, 132), (128, 4, 68), (128, 2, 36), (128, 1, 20), (384, 4, 196), (3, 1, 5), (9, 2, 8)],
)
def test_bytes_are_those_of_planes_and_scales(d, bits, expected):
    of_rows = codes.encode(gaussian(7, d), bits)
    held = of_rows.scales.nbytes + sum(plane.nbytes for plane in of_rows.planes)
    assert codes.bytes_per_vector(d, bits) == expected
    assert of_rows.bytes == held == 7 * expected


@pytest.mark.parametrize(
    ("d", "digest"),
    [(128, "318ceeb141a10449"), (384, "fd3f846384ba89b5"), (5, "9db66ec1384dc749")],
)
def test_the_same_vectors_have_the_same_codes_on_every_machine(d, digest):
    """A change of these digests makes stores unreadable: it needs another name of the rotation."""
    row, column = np.arange(50)[:, None], np.arange(d)[None]
    vectors = ((row * 7919 + column * 104729) ** 2 % 2003 - 1001).astype(np.float32)
    found = hashlib.sha256()
    for bits in BITS:
        of_rows = codes.encode(vectors, bits)
        found.update(np.stack(of_rows.planes).tobytes())
        found.update(of_rows.scales.tobytes())
    assert found.hexdigest()[:16] == digest


@pytest.mark.parametrize(
    ("vectors", "bits", "words"),
    [
        (np.ones((2, 4)), 3, "bits must be 8, 4, 2 or 1, got 3"),
        (np.ones((2, 4)), 16, "bits must be 8, 4, 2 or 1, got 16"),
        (np.ones((2, 0)), 4, "1 to 4096 dimensions, got 0"),
        (np.ones((2, 4097)), 4, "1 to 4096 dimensions, got 4097"),
        (np.ones(4), 4, r"shape \(n, d\)"),
        (np.full((2, 4), np.nan), 4, "finite"),
    ],
)
def test_what_has_no_code_is_refused_in_words(vectors, bits, words):
    with pytest.raises(BadInput, match=words):
        codes.encode(vectors, bits)


def test_planes_that_do_not_fit_together_are_refused():
    whole = codes.encode(gaussian(4, 20), 2)
    with pytest.raises(BadShape, match="2 bits need 2 planes, got 1"):
        codes.Codes(2, 20, whole.planes[:1], whole.scales)
    with pytest.raises(BadShape, match=r"uint8 of shape \(3, 3\)"):
        codes.Codes(2, 20, whole.planes, whole.scales[:3])
    with pytest.raises(TooNew, match="'hadamard-v9' need another version"):
        codes.Codes(2, 20, whole.planes, whole.scales, rotation="hadamard-v9")
