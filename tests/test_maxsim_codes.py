"""MaxSim of pages that are kept as bit planes: its slow twin, decoded vectors, every instruction set."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamerge import codes
from adamerge.codes.levels import LEVELS
from adamerge.codes.maxsim import QUERY_STEPS
from adamerge.codes.rotation import rotate
from adamerge.errors import BadInput, BadShape
from adamerge.kernels import _native, reference

INSTRUCTION_SETS = _native.instruction_sets()
BITS = [4, 2, 1]
SIZES = [1, 2, 5, 0, 15, 16, 17, 33, 40, 100]

every_isa = pytest.mark.parametrize("isa", INSTRUCTION_SETS)
every_bits = pytest.mark.parametrize("bits", BITS)


def made_up(rows, d, seed=0):
    """Rows of unit length."""
    vectors = np.random.default_rng([seed, rows, d]).normal(size=(rows, d))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def ranges(sizes):
    offsets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    return offsets[:-1].copy(), offsets[1:].copy()


def job(queries, pages, begins, ends, threads=1, steps=None):
    """What the kernel takes for these queries (a list) and codes."""
    flat = np.concatenate([np.zeros((0, pages.d), np.float32), *queries])
    offsets = np.cumsum([0, *(len(query) for query in queries)])
    return {
        "query": rotate(flat),
        "query_offsets": offsets.astype(np.int64),
        "planes": list(pages.planes),
        "levels": LEVELS[pages.bits].values.astype(np.int8),
        "scales": pages.scales,
        "begins": begins,
        "ends": ends,
        "steps": steps or QUERY_STEPS[pages.bits],
        "threads": threads,
    }


@every_isa
@every_bits
@pytest.mark.parametrize("d", [1, 3, 8, 31, 96, 128, 130, 384, 1024, 1030, 4096])
def test_scores_are_those_of_the_twin_to_the_bit_on_every_isa(isa, bits, d):
    pages = codes.encode(made_up(sum(SIZES), d), bits)
    queries = [made_up(q, d, seed=1) for q in (20, 0, 1, 7)]
    whole = job(queries, pages, *ranges(SIZES))
    np.testing.assert_array_equal(
        _native.maxsim_planes(**whole, isa=isa), reference.maxsim_planes(**whole)
    )


@settings(max_examples=200)
@given(
    st.lists(st.integers(0, 40), max_size=6),
    st.lists(st.integers(0, 25), max_size=5),
    st.integers(1, 300),
    st.integers(0, 10**6),
    st.sampled_from(BITS),
    st.integers(1, 127),
    st.sampled_from(INSTRUCTION_SETS),
)
def test_any_job_scores_as_its_twin_does(sizes, lengths, d, seed, bits, steps, isa):
    rng = np.random.default_rng(seed)
    pages = codes.encode(made_up(sum(sizes), d, seed) * rng.uniform(0, 1e3), bits)
    queries = [made_up(length, d, seed + 1) for length in lengths]
    whole = job(queries, pages, *ranges(sizes), threads=2, steps=steps)
    np.testing.assert_array_equal(
        _native.maxsim_planes(**whole, isa=isa), reference.maxsim_planes(**whole)
    )


@every_bits
@pytest.mark.parametrize("d", [96, 128, 384])
def test_scores_are_those_of_decoded_vectors_but_for_the_rounding_of_the_query(bits, d):
    """Half a step of max|y| / steps in each of d coordinates, in random directions."""
    pages = codes.encode(made_up(sum(SIZES), d), bits)
    query = made_up(20, d, seed=2)
    decoded = codes.decode(pages).astype(np.float64)
    begins, ends = ranges(SIZES)
    got = codes.maxsim([query], pages, begins, ends)[0]

    largest = np.abs(rotate(query)).max(axis=1)
    lengths = np.linalg.norm(decoded, axis=1).max()
    tolerance = (largest / QUERY_STEPS[bits]).sum() * lengths
    for page, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        want = (query @ decoded[begin:end].T).max(axis=1, initial=-np.inf).sum()
        if begin < end:
            assert abs(got[page] - want) < tolerance
        else:
            assert got[page] == want == -np.inf


@every_isa
@every_bits
def test_a_score_depends_on_its_query_and_its_page_alone(isa, bits):
    """To the bit: not on threads, not on what else is asked, not on where a page lies."""
    sizes = np.random.default_rng(7).integers(0, 90, size=150)
    pages = codes.encode(made_up(sizes.sum(), 100), bits)
    begins, ends = ranges(sizes)
    queries = [made_up(q, 100, seed=8) for q in (20, 1, 0, 7, 16, 33, 3)]
    together = _native.maxsim_planes(**job(queries, pages, begins, ends), isa=isa)
    for threads in (2, 3, 500):
        again = _native.maxsim_planes(**job(queries, pages, begins, ends, threads), isa=isa)
        np.testing.assert_array_equal(again, together)
    for i, query in enumerate(queries):
        alone = _native.maxsim_planes(**job([query], pages, begins, ends), isa=isa)
        np.testing.assert_array_equal(alone[0], together[i])
    for p in (0, 70, 149):
        rows = slice(begins[p], ends[p])
        planes = tuple(plane[rows].copy() for plane in pages.planes)
        moved = codes.Codes(bits, 100, planes, pages.scales[rows])
        place = ranges([len(moved)])
        alone = _native.maxsim_planes(**job(queries, moved, *place), isa=isa)
        np.testing.assert_array_equal(alone[:, 0], together[:, p])


@every_isa
@every_bits
def test_pages_may_be_any_rows_in_any_order_and_overlap(isa, bits):
    pages = codes.encode(made_up(300, 40), bits)
    rng = np.random.default_rng(5)
    begins = rng.integers(0, 300, size=60)
    ends = begins + rng.integers(0, 301 - begins)
    whole = job([made_up(23, 40, seed=6)], pages, begins, ends, threads=2)
    np.testing.assert_array_equal(
        _native.maxsim_planes(**whole, isa=isa), reference.maxsim_planes(**whole)
    )


@every_isa
@every_bits
@pytest.mark.parametrize("n", [1, 3, 16, 50])
def test_where_all_similarities_are_negative_the_least_negative_wins(isa, bits, n):
    vectors = np.abs(made_up(n, 128)) + 0.1
    query = -np.abs(made_up(21, 128, seed=3))
    pages = codes.encode(vectors, bits)
    got = _native.maxsim_planes(**job([query], pages, *ranges([n])), isa=isa)[0]
    assert got[0] < 0
    np.testing.assert_allclose(got, (query @ vectors.T).max(axis=1).sum(), rtol=0.3)


@every_isa
@every_bits
def test_an_empty_page_scores_minus_infinity_and_an_empty_query_zero(isa, bits):
    pages = codes.encode(made_up(5, 8), bits)
    begins, ends = np.array([0, 3, 5]), np.array([3, 3, 5])
    empty = np.zeros((0, 8), np.float32)
    got = _native.maxsim_planes(**job([empty, made_up(4, 8)], pages, begins, ends), isa=isa)
    assert got[0].tolist() == [0, 0, 0]
    assert np.isfinite(got[1, 0])
    assert got[1, 1:].tolist() == [-np.inf, -np.inf]


@every_isa
@every_bits
def test_queries_and_rows_of_zeros_score_zero(isa, bits):
    pages = codes.encode(np.zeros((20, 30), np.float32), bits)
    queries = [made_up(5, 30), np.zeros((3, 30), np.float32)]
    got = _native.maxsim_planes(**job(queries, pages, *ranges([20])), isa=isa)
    assert got.tolist() == [[0], [0]]


def test_no_pages_no_queries_no_rows():
    pages = codes.encode(made_up(5, 8), 4)
    none = np.zeros(0, np.int64)
    assert codes.maxsim([made_up(2, 8)], pages, none, none).shape == (1, 0)
    assert codes.maxsim([], pages, *ranges([5])).shape == (0, 1)
    without_rows = codes.encode(np.zeros((0, 8), np.float32), 4)
    assert codes.maxsim([made_up(2, 8)], without_rows, *ranges([0])).tolist() == [[-np.inf]]


def test_planes_are_read_where_they_are(tmp_path):
    pages = codes.encode(made_up(50, 16), 2)
    mapped = []
    for number, plane in enumerate(pages.planes):
        path = tmp_path / f"plane{number}"
        path.write_bytes(plane.tobytes())
        mapped.append(np.memmap(path, np.uint8, "r", shape=plane.shape))
    from_disk = codes.Codes(2, 16, tuple(mapped), pages.scales)
    query = made_up(4, 16, seed=1)
    np.testing.assert_array_equal(
        codes.maxsim([query], from_disk, *ranges([20, 30])),
        codes.maxsim([query], pages, *ranges([20, 30])),
    )


@every_bits
def test_many_queries_score_as_each_alone(bits):
    pages = codes.encode(made_up(60, 48), bits)
    queries = [made_up(q, 48, seed=q) for q in (3, 8)]
    together = codes.maxsim(queries, pages, *ranges([20, 40]))
    for query, scores in zip(queries, together, strict=True):
        np.testing.assert_array_equal(codes.maxsim([query], pages, *ranges([20, 40]))[0], scores)


def test_what_cannot_be_scored_is_refused_in_words():
    with pytest.raises(BadInput, match="4, 2 or 1 bits, got 8: decode them first"):
        codes.maxsim([made_up(2, 8)], codes.encode(made_up(5, 8), 8), *ranges([5]))
    with pytest.raises(BadShape, match=r"a query is \(q, 8\), as the pages are; got \(2, 9\)"):
        codes.maxsim([made_up(2, 9)], codes.encode(made_up(5, 8), 4), *ranges([5]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"query_offsets": np.array([0, 3])}, "query_offsets rise"),
        ({"query_offsets": np.array([-1, 2])}, "query_offsets rise"),
        ({"begins": np.array([-1])}, "0 <= begins"),
        ({"begins": np.array([4]), "ends": np.array([3])}, "0 <= begins"),
        ({"ends": np.array([6])}, "0 <= begins"),
        ({"ends": np.array([5, 5])}, "begins and ends"),
        ({"threads": 0}, "threads >= 1"),
        ({"steps": 0}, "steps <= 127"),
        ({"steps": 128}, "steps <= 127"),
        ({"planes": []}, "1, 2 or 4 planes"),
        ({"planes": [np.zeros((5, 1), np.uint8)] * 3}, "1, 2 or 4 planes"),
        ({"planes": [np.zeros((5, 1), np.uint8), np.zeros((4, 1), np.uint8)]}, "1, 2 or 4 planes"),
        ({"planes": [np.zeros((5, 2), np.uint8)] * 2}, "1, 2 or 4 planes"),
        ({"scales": np.ones(4, np.float32)}, "1, 2 or 4 planes"),
        ({"levels": np.array([-1, 1], np.int8)}, "levels"),
        ({"levels": np.array([-3, -1, 1, 2], np.int8)}, "opposite at the other end"),
    ],
)
def test_the_kernel_does_not_reach_beyond_its_arrays(change, words):
    whole = job([made_up(2, 8)], codes.encode(made_up(5, 8), 2), *ranges([5]))
    with pytest.raises(ValueError, match=words):
        _native.maxsim_planes(**(whole | change))


def test_a_score_can_be_checked_by_hand():
    """In one dimension every code is its vector."""
    pages = codes.encode(np.array([[2.0], [-3.0], [1.0]], np.float32), 1)
    scores = codes.maxsim([np.array([[1.0], [-1.0]], np.float32)], pages, *ranges([2, 1]))
    np.testing.assert_allclose(scores, [[2 + 3, 1 - 1]], atol=1e-6)
