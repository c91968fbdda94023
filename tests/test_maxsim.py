"""MaxSim against plain NumPy and its slow twin, on every instruction set of this machine."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamerge import kernels
from adamerge.kernels import _native, reference

INSTRUCTION_SETS = _native.instruction_sets()
KINDS = ["float32", "float16", "int8"]
every_isa = pytest.mark.parametrize("isa", INSTRUCTION_SETS)
every_kind = pytest.mark.parametrize("kind", KINDS)


def made_up(rows, d, seed=0):
    """Rows of unit length: an error of 1e-5 means the same for every d."""
    vectors = np.random.default_rng([seed, rows, d]).normal(size=(rows, d))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def stored(vectors, kind):
    """Vectors as they are kept, and their scales."""
    return kernels.quantise(vectors) if kind == "int8" else (vectors.astype(kind), None)


def ranges(sizes):
    offsets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    return offsets[:-1].copy(), offsets[1:].copy()


def one(query, vectors, scales=None, sizes=None, threads=1, isa=None):
    """Scores of one query over pages of these sizes."""
    begins, ends = ranges(sizes or [len(vectors)])
    return _native.maxsim(
        query, np.array([0, len(query)]), vectors, scales, begins, ends, threads, isa=isa
    )[0]


def plain(query, vectors, sizes):
    begins, ends = ranges(sizes)
    return [
        (query.astype(float) @ vectors[a:b].astype(float).T).max(1).sum()
        for a, b in zip(begins, ends, strict=True)
    ]


@every_isa
@every_kind
@pytest.mark.parametrize("d", [1, 3, 16, 31, 96, 128, 130, 384, 1024])
@pytest.mark.parametrize("q", [1, 2, 3, 4, 5, 16, 17, 20, 33, 200])
def test_a_score_is_the_sum_of_the_largest_inner_products(isa, kind, d, q):
    sizes = [1, 2, 5, 11, 12, 13, 15, 16, 17, 40, 100]
    vectors, scales = stored(made_up(sum(sizes), d, seed=1), kind)
    query = made_up(q, d, seed=2)
    if scales is None:
        want = plain(query, vectors, sizes)
    else:
        values, of_query = kernels.quantise(query)
        want = plain(
            values * of_query.astype(float)[:, None], vectors * scales.astype(float)[:, None], sizes
        )
    got = one(query, vectors, scales, sizes, isa=isa)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_a_score_can_be_checked_by_hand():
    vectors = np.array([[1, 0], [0, 2], [3, 3]], np.float32)
    query = np.array([[1, 1], [1, -1]], np.float32)
    np.testing.assert_array_equal(one(query, vectors, sizes=[2, 1]), [2 + 1, 6 + 0])


@every_isa
@every_kind
@pytest.mark.parametrize("n", [1, 3, 12, 50])
def test_where_all_similarities_are_negative_the_least_negative_wins(isa, kind, n):
    vectors = np.abs(made_up(n, 24)) + 0.1
    values, scales = stored(vectors, kind)
    query = -np.abs(made_up(21, 24, seed=3))
    got = one(query, values, scales, isa=isa)
    assert got[0] < 0
    np.testing.assert_allclose(got, plain(query, vectors, [n]), rtol=0.02)


@every_isa
@every_kind
def test_an_empty_page_scores_minus_infinity_and_an_empty_query_zero(isa, kind):
    vectors, scales = stored(made_up(5, 8), kind)
    begins, ends = np.array([0, 3, 5]), np.array([3, 3, 5])
    got = _native.maxsim(
        made_up(4, 8), np.array([0, 0, 4]), vectors, scales, begins, ends, 1, isa=isa
    )
    assert got[0].tolist() == [0, 0, 0]
    assert np.isfinite(got[1, 0])
    assert got[1, 1:].tolist() == [-np.inf, -np.inf]


def test_no_pages_no_queries_no_rows():
    none, start, query = np.zeros(0, np.int64), np.array([0]), made_up(2, 8)
    vectors = made_up(5, 8)
    assert _native.maxsim(query, np.array([0, 2]), vectors, None, none, none, 2).shape == (1, 0)
    assert _native.maxsim(query, start, vectors, None, start, start + 5, 2).shape == (0, 1)
    assert one(query, np.zeros((0, 8), np.float32)).tolist() == [-np.inf]


@every_isa
@every_kind
def test_pages_may_be_any_rows_in_any_order_and_overlap(isa, kind):
    values = made_up(300, 40)
    vectors, scales = stored(values, kind)
    rng = np.random.default_rng(5)
    begins = rng.integers(0, 300, size=60)
    ends = begins + rng.integers(0, 301 - begins)
    query, offsets = made_up(23, 40, seed=6), np.array([0, 20, 23])
    got = _native.maxsim(query, offsets, vectors, scales, begins, ends, 2, isa=isa)
    want = reference.maxsim(query, offsets, vectors, scales, begins, ends, 1)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@every_isa
@every_kind
def test_a_score_depends_on_its_query_and_its_page_alone(isa, kind):
    """To the bit: not on threads, not on what else is asked, not on where a page lies."""
    sizes = np.random.default_rng(7).integers(0, 90, size=150)
    vectors, scales = stored(made_up(sizes.sum(), 100), kind)
    begins, ends = ranges(sizes)
    lengths = [20, 1, 0, 7, 16, 33, 3]
    offsets = np.r_[0, np.cumsum(lengths)]
    query = made_up(offsets[-1], 100, seed=8)
    together = _native.maxsim(query, offsets, vectors, scales, begins, ends, 1, isa=isa)
    for threads in (2, 3, 500):
        again = _native.maxsim(query, offsets, vectors, scales, begins, ends, threads, isa=isa)
        np.testing.assert_array_equal(again, together)
    for i, (a, b) in enumerate(pairwise(offsets)):
        alone = _native.maxsim(
            query[a:b], np.array([0, b - a]), vectors, scales, begins, ends, 1, isa=isa
        )
        np.testing.assert_array_equal(alone[0], together[i])
    for p in (0, 70, 149):
        page = slice(begins[p], ends[p])
        moved, of_page = vectors[page].copy(), None if scales is None else scales[page]
        alone = _native.maxsim(
            query, offsets, moved, of_page, np.array([0]), np.array([len(moved)]), 1, isa=isa
        )
        np.testing.assert_array_equal(alone[:, 0], together[:, p])


@settings(max_examples=200)
@given(
    st.lists(st.integers(0, 40), max_size=6),
    st.lists(st.integers(0, 45), max_size=5),
    st.integers(1, 70),
    st.integers(0, 10**6),
    st.sampled_from(KINDS),
    st.integers(1, 3),
    st.sampled_from(INSTRUCTION_SETS),
)
def test_maxsim_agrees_with_its_twin(sizes, lengths, d, seed, kind, threads, isa):
    vectors, scales = stored(made_up(sum(sizes), d, seed), kind)
    begins, ends = ranges(sizes)
    offsets = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    job = (made_up(offsets[-1], d, seed + 1), offsets, vectors, scales, begins, ends, threads)
    np.testing.assert_allclose(
        _native.maxsim(*job, isa=isa), reference.maxsim(*job), rtol=1e-5, atol=1e-5
    )


@every_isa
def test_every_finite_float16_is_read_as_it_is(isa):
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    begins = np.arange(len(halves))
    query = np.ones((1, 1), np.float32)
    got = _native.maxsim(
        query, np.array([0, 1]), halves[:, None], None, begins, begins + 1, 1, isa=isa
    )
    np.testing.assert_array_equal(got[0], halves.astype(np.float32))


@every_isa
def test_int8_scores_are_the_same_on_every_isa(isa):
    vectors, scales = kernels.quantise(made_up(500, 130))
    vectors[::7] = -128  # no scale of ours gives it, and it is int8 all the same
    query = made_up(20, 130, seed=9)
    got = one(query, vectors, scales, sizes=[100] * 5, isa=isa)
    np.testing.assert_array_equal(got, one(query, vectors, scales, sizes=[100] * 5, isa="baseline"))


def test_vectors_are_read_where_they_are(tmp_path):
    values = made_up(50, 16)
    path = tmp_path / "vectors"
    for kind in KINDS:
        vectors, scales = stored(values, kind)
        path.write_bytes(vectors.tobytes())
        mapped = np.memmap(path, vectors.dtype, "r", shape=vectors.shape)
        np.testing.assert_array_equal(
            one(values[:3], mapped, scales), one(values[:3], vectors, scales)
        )
    with pytest.raises(TypeError):
        one(values[:3], np.asfortranarray(values))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"begins": [-1]}, "begins"),
        ({"ends": [6]}, "begins"),
        ({"begins": [3], "ends": [2]}, "begins"),
        ({"ends": [1, 2]}, "pages"),
        ({"query_offsets": [0, 3]}, "query_offsets"),
        ({"query_offsets": [-1, 2]}, "query_offsets"),
        ({"query_offsets": [0, 2, 1]}, "query_offsets"),
        ({"query_offsets": []}, "query_offsets"),
        ({"threads": 0}, "threads"),
        ({"vectors": np.ones((5, 3), np.float32)}, "vectors"),
        ({"vectors": np.ones((5, 4), np.int8)}, "int8 with scales"),
        ({"vectors": np.ones((5, 4), np.float64)}, "float32 or float16"),
        ({"scales": np.ones(5, np.float32)}, "without scales"),
        (
            {"vectors": np.ones((5, 4), np.int8), "scales": np.ones(4, np.float32)},
            "int8 with scales",
        ),
    ],
)
def test_maxsim_does_not_reach_beyond_its_arrays(change, words):
    job = {"query_offsets": [0, 2], "begins": [0], "ends": [5]} | change
    job = {
        name: np.array(value, np.int64) if isinstance(value, list) else value
        for name, value in job.items()
    }
    job = {
        "query": np.ones((2, 4), np.float32),
        "vectors": np.ones((5, 4), np.float32),
        "threads": 1,
    } | job
    with pytest.raises(ValueError, match=words):
        _native.maxsim(**({"scales": None} | job))


def test_a_row_of_bytes_is_its_largest_value_in_127_steps():
    values, scales = kernels.quantise(np.array([[127, -63.5, 62.5, 0.4], [0, 0, 0, 0]], np.float32))
    assert values.tolist() == [[127, -64, 62, 0], [0, 0, 0, 0]]
    assert scales.tolist() == [1, 0]


@settings(max_examples=100)
@given(st.integers(0, 50), st.integers(0, 40), st.integers(0, 10**6), st.floats(-44, 38))
def test_quantising_is_off_by_half_a_step_at_most(rows, d, seed, exponent):
    vectors = np.random.default_rng(seed).uniform(-1, 1, size=(rows, d)) * 10.0**exponent
    vectors = vectors.astype(np.float32)
    values, scales = kernels.quantise(vectors)
    assert (values.dtype, scales.dtype, values.shape, scales.shape) == (
        np.int8,
        np.float32,
        (rows, d),
        (rows,),
    )
    assert values.min(initial=0) >= -127
    steps = scales[:, None].astype(float)
    assert (np.abs(values * steps - vectors) <= 0.501 * steps + 1e-43).all()


def test_memory_of_a_thread_goes_with_it():
    code = """
import resource, threading, numpy as np, adamerge as am
from adamerge.search import maxsim
query, vectors = np.ones((1500, 2048), np.float32), np.ones((4, 2048), np.float32)
def some(count):
    for _ in range(count):
        thread = threading.Thread(target=maxsim, args=(query, vectors, np.array([0]), np.array([4])))
        thread.start(); thread.join()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(some(5), some(30))
"""
    few, many = map(int, subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert many < few + 100_000  # kilobytes; a query of 12 MB is packed for each
