"""Vectors in the numbers in which they are kept, and methods whose names say in which: height+int4."""

import numpy as np
import pytest
from conftest import EVERY_METHOD, random_page
from hypothesis import given
from hypothesis import strategies as st

import adamerge as am
from adamerge import codes
from adamerge.codes import DTYPES, StoredRows, bytes_per_row, concatenate, to_rows, to_vectors
from adamerge.errors import BadInput, BadShape
from adamerge.evaluate.experiment import parse_method_or_control
from adamerge.search import score_pages, stack_queries

KEPT_EXACTLY = ("int8", "int4", "int2", "int1")


def random_rows(rows, d, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, d)).astype(np.float32)


def page(n, d, extra=0, seed=0, **fields):
    rows = random_rows(extra, d, seed) if extra else None
    return random_page(n, d, seed, extra=rows, **fields)


# ------------------------------------------------------------------------------------------------- rows


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("float32", 512), ("float16", 256), ("int8", 132), ("int4", 68), ("int2", 36), ("int1", 20)],
)
def test_bytes_are_those_of_the_arrays(dtype, expected):
    rows = to_rows(random_rows(7, 128), dtype)
    arrays = list(rows.parts)
    if rows.scales is not None:
        arrays.append(rows.scales)
    assert bytes_per_row(128, dtype) == expected
    assert rows.bytes == 7 * expected == sum(array.nbytes for array in arrays)


@given(st.sampled_from(DTYPES), st.integers(1, 20), st.integers(1, 40))
def test_what_rows_stand_for_is_close_to_the_vectors(dtype, count, d):
    vectors = random_rows(count, d, seed=d)
    largest_error = {
        "float32": 0,
        "float16": 1e-3,
        "int8": 0.02,
        "int4": 0.5,
        "int2": 1,
        "int1": 1.8,
    }
    error = np.abs(to_vectors(to_rows(vectors, dtype)) - vectors).max()
    assert error <= largest_error[dtype] * np.abs(vectors).max() * np.sqrt(d)


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_rows_one_after_the_other_are_the_rows_of_all(dtype, counts):
    several = [to_rows(random_rows(count, 11, seed=i), dtype) for i, count in enumerate(counts)]
    together = concatenate(several)
    expected = np.concatenate([to_vectors(rows) for rows in several])
    np.testing.assert_array_equal(to_vectors(together), expected)
    np.testing.assert_array_equal(to_vectors(together[1:3]), expected[1:3])


def test_arrays_that_are_not_of_a_dtype_are_refused():
    values = np.zeros((3, 8), np.int8)
    with pytest.raises(BadShape, match=r"int4 in 8 dimensions has 4 arrays of uint8 \(rows, 1\)"):
        StoredRows("int4", 8, (values,), np.zeros(3, np.float32))
    with pytest.raises(BadShape, match="a scale per vector"):
        StoredRows("int8", 8, (values,))
    with pytest.raises(BadShape, match="a scale per vector"):
        StoredRows("float32", 8, (values.astype(np.float32),), np.zeros(3, np.float32))
    with pytest.raises(BadShape, match="3 vectors need as many scales"):
        StoredRows("int8", 8, (values,), np.zeros(2, np.float32))
    with pytest.raises(BadInput, match=r"dtype must be one of float32, .* got 'int3'"):
        to_rows(np.zeros((1, 4), np.float32), "int3")


# ---------------------------------------------------------------------------------------------- methods


@pytest.mark.parametrize("dtype", KEPT_EXACTLY)
@pytest.mark.parametrize("name", EVERY_METHOD)
def test_every_method_in_every_dtype_keeps_the_groups_and_rounds_the_vectors(name, dtype):
    patches = page(40, 24, extra=2)
    plain = am.compress(patches, method=name)
    small = am.compress(patches, method=f"{name}+{dtype}")
    assert str(am.parse_method(f"{name}+{dtype}")) == f"{am.parse_method(name)}+{dtype}"
    assert small.method == plain.method
    assert small.dtype == dtype
    np.testing.assert_array_equal(small.groups, plain.groups)
    rows = to_rows(plain.stored, dtype)
    np.testing.assert_array_equal(small.stored, to_vectors(rows))
    assert small.bytes() == rows.bytes == (len(small) + 2) * bytes_per_row(24, dtype)
    assert small.bytes("float16") == plain.bytes()


def test_a_dtype_that_is_none_is_refused_with_those_that_there_are():
    with pytest.raises(BadInput, match="after \\+ stands int8, int4, int2, int1; got 'int3'"):
        am.parse_method("height+int3")
    with pytest.raises(BadInput, match="a dtype stands after a method, not after a control"):
        parse_method_or_control("random(height)+int4")


@pytest.mark.parametrize("bits", [4, 2, 1])
def test_pages_in_codes_are_scored_as_codes(bits):
    pages = [page(30, 16, seed=i) for i in range(5)]
    queries = [random_rows(3, 16, seed=i) for i in range(2)]
    stacked = stack_queries([am.MultiVector(query) for query in queries])
    small = [am.compress(p, method=f"height+int{bits}") for p in pages]
    scores = score_pages(stacked, small)
    for i, one in enumerate(small):
        own = codes.encode(am.compress(pages[i], method="height").stored, bits)
        begins, ends = np.array([0]), np.array([len(one)])
        np.testing.assert_array_equal(scores[:, i], codes.maxsim(queries, own, begins, ends)[:, 0])


# ---------------------------------------------------------------------------------- folders of vectors


@pytest.mark.parametrize("dtype", KEPT_EXACTLY)
def test_a_folder_keeps_rows_exactly_and_counts_their_bytes(tmp_path, dtype):
    method = f"adamerge:c_min=0.5+{dtype}"
    pages = [page(30, 20, extra=i % 3, seed=i, id=f"p{i}") for i in range(4)]
    small = [am.compress(p, method=method) for p in pages]
    assert am.write_vectors(tmp_path / "small", small) == 4
    for before, after in zip(small, am.read_compressed(tmp_path / "small"), strict=True):
        assert (after.id, after.method, after.dtype) == (before.id, before.method, dtype)
        np.testing.assert_array_equal(after.stored, before.stored)
        np.testing.assert_array_equal(after.groups, before.groups)
        assert len(after) == len(before)
        for kept, written in zip(after.rows.parts, before.rows.parts, strict=True):
            np.testing.assert_array_equal(kept, written)
        np.testing.assert_array_equal(after.rows.scales, before.rows.scales)
