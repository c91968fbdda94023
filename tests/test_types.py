from dataclasses import replace

import numpy as np
import pytest
from later import needs_torch, torch
from PIL import Image

import adamerge as am
from adamerge.compress import link
from adamerge.errors import AdamergeError, BadDtype, BadInput, BadShape
from adamerge.types import Word


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, ">f4"])
def test_arrays_of_numbers_come_in_as_float32(dtype):
    page = am.MultiVector(np.array([[1, 2], [3, 4]], dtype), np.array([1, 0], dtype))
    assert page.vectors.dtype == page.attention.dtype == np.float32
    assert page.vectors.tolist() == [[1, 2], [3, 4]]
    assert len(page) == 2


@needs_torch
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int64"])
def test_torch_tensors_come_in_as_float32(name):
    dtype = getattr(torch, name)
    vectors = torch.tensor([[1, 2], [3, 4]], dtype=dtype)
    page = am.MultiVector(vectors, torch.tensor([1, 2], dtype=dtype))
    assert page.vectors.tolist() == [[1, 2], [3, 4]]
    assert am.compress(vectors, torch.ones(2)).vectors.shape == (2, 2)


@needs_torch
def test_a_sparse_tensor_is_refused():
    with pytest.raises(BadShape, match="vectors must be one array of numbers"):
        am.MultiVector(torch.eye(2).to_sparse())


@needs_torch
def test_a_tensor_with_a_gradient_comes_in():
    assert (
        am.MultiVector(torch.ones(2, 3, requires_grad=True) * 2).vectors.tolist() == [[2.0] * 3] * 2
    )


def test_lists_and_strided_arrays_come_in():
    assert am.MultiVector([[1, 2], [3, 4]]).vectors.flags.c_contiguous
    strided = np.arange(1, 25, dtype=np.float32).reshape(4, 6)[::2, ::3]
    page = am.MultiVector(strided)
    np.testing.assert_array_equal(page.vectors, strided)
    assert page.vectors.flags.c_contiguous


def test_a_page_is_read_only_and_its_source_is_not():
    source = np.ones((2, 2), np.float32)
    page = am.MultiVector(source)
    with pytest.raises(ValueError, match="read-only"):
        page.vectors[0, 0] = 5
    with pytest.raises(AttributeError):
        page.vectors = source
    source[0, 0] = 2  # still the caller's own


def test_a_page_carries_its_grid_boxes_and_id_through_compression():
    page = am.MultiVector(np.eye(6), np.ones(6), None, (2, 3), np.ones((6, 4)), "report#3")
    small = am.compress(page)
    assert (small.grid, small.id) == ((2, 3), "report#3")
    np.testing.assert_array_equal(small.boxes, np.ones((6, 4)))


NAN, INF = float("nan"), float("inf")
BAD = {
    "nan": (
        {"vectors": [[1, NAN]]},
        BadInput,
        "vectors must be finite: nan at [0, 1] of shape (1, 2)",
    ),
    "inf": ({"vectors": [[1, 2], [-INF, 0]]}, BadInput, "vectors must be finite: -inf at [1, 0]"),
    "beyond float32": (
        {"vectors": [[1e300, 1]]},
        BadInput,
        "vectors must be finite: inf at [0, 0]",
    ),
    "rank 1": ({"vectors": [1, 2]}, BadShape, "vectors must have shape (n, d), got (2,)"),
    "rank 3": ({"vectors": np.ones((2, 2, 2))}, BadShape, "got (2, 2, 2)"),
    "no patches": (
        {"vectors": np.ones((0, 8))},
        BadShape,
        "at least one vector of one dimension, got shape (0, 8)",
    ),
    "no dimensions": ({"vectors": np.ones((3, 0))}, BadShape, "got shape (3, 0)"),
    "a row of zeros": (
        {"vectors": [[1, 0], [0, 0]]},
        BadInput,
        "row 1 of vectors (2, 2) is all zeros",
    ),
    "ragged": ({"vectors": [[1, 2], [3]]}, BadShape, "vectors must be one array of numbers"),
    "text": ({"vectors": [["a", "b"]]}, BadDtype, "vectors must hold real numbers"),
    "objects": ({"vectors": np.array([[object()]])}, BadDtype, "got dtype object"),
    "none": ({"vectors": None}, BadDtype, "got dtype object"),
    "complex": ({"vectors": [[1j]]}, BadDtype, "got dtype complex128"),
    "bool": ({"vectors": [[True]]}, BadDtype, "got dtype bool"),
    "quantised": ({"vectors": np.ones((2, 2), np.int8)}, BadDtype, "undo the quantisation first"),
    "short attention": ({"attention": [1, 2]}, BadShape, "3 patches, attention of shape (2,)"),
    "attention of rank 2": (
        {"attention": np.ones((3, 1))},
        BadShape,
        "attention must have shape (n,), got (3, 1)",
    ),
    "negative attention": (
        {"attention": [1, -2, 3]},
        BadInput,
        "attention must not be negative: -2.0 at [1]",
    ),
    "nan attention": ({"attention": [1, NAN, 3]}, BadInput, "attention must be finite: nan at [1]"),
    "narrow extra": (
        {"extra": np.ones((2, 2))},
        BadShape,
        "extra must be as wide as vectors: (2, 2) beside (3, 3)",
    ),
    "inf extra": ({"extra": [[1, 2, INF]]}, BadInput, "extra must be finite"),
    "small grid": ({"grid": (1, 2)}, BadShape, "one cell per patch: 3 patches, grid (1, 2)"),
    "negative grid": ({"grid": (-1, -3)}, BadShape, "3 patches, grid (-1, -3)"),
    "long grid": ({"grid": (1, 3, 1)}, BadShape, "grid must be (rows, columns)"),
    "few boxes": (
        {"boxes": np.ones((2, 4))},
        BadShape,
        "boxes must have shape (3, 4), one per patch, got (2, 4)",
    ),
}


@pytest.mark.parametrize(("fields", "error", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_at_the_door(fields, error, words):
    with pytest.raises(error) as caught:
        am.MultiVector(**{"vectors": np.eye(3), **fields})
    assert words in str(caught.value)
    assert isinstance(caught.value, AdamergeError)
    assert isinstance(caught.value, ValueError)


def test_compress_takes_attention_once():
    with pytest.raises(BadInput, match="brings its own attention"):
        am.compress(am.MultiVector(np.eye(3)), np.ones(3))


def test_compress_wants_a_method():
    with pytest.raises(
        BadInput, match="a method is a name or something that takes a page, got int"
    ):
        am.compress(np.eye(3), np.ones(3), 7)


def nouns():
    """One of every noun, with long names and many numbers."""
    rng = np.random.default_rng(0)
    name = "a very long name of a folder/" * 5 + "report.pdf#3"
    vectors = rng.normal(size=(747, 128))
    page = am.MultiVector(vectors, rng.random(747), np.ones((11, 128)), boxes=np.ones((747, 4)))
    page = replace(page, id=name)
    small = am.compress(page, method="adamerge:k=-0.25,c_min=0.1,unit=true")
    words = (Word("revenue", (0.1, 0.1, 0.2, 0.2)),) * 500
    match = am.Match(0.812345678, 17, np.ones((40, 4), np.float32), ("revenue",) * 40)
    hit = am.Hit(name, 8.123456789, name, 3, {"title": "long " * 50}, (match,) * 20)
    return [
        am.Page(name, Image.new("RGB", (1240, 1754)), words, name, 3),
        page,
        link.ward(page.vectors),
        small.cut,
        small,
        match,
        hit,
        am.Snippet("long " * 60, ((0, 4), (10, 14))),
        am.Found((hit,) * 10, "settled", 1024, 50_000),
        am.Entry(small, name, 3, 12, "/root", "hash" * 16, words, b"picture" * 999, hit.metadata),
        am.inspect(page, "adamerge:c_min=0.1"),
    ]


@pytest.mark.parametrize("noun", nouns(), ids=lambda noun: type(noun).__name__)
def test_what_repr_shows_of_a_noun_fits_in_two_lines(noun):
    shown = repr(noun)
    assert "\n" not in shown
    assert len(shown) <= 2 * 100
    assert shown.startswith(type(noun).__name__ + "(")


def test_what_repr_shows_says_what_a_person_wants_to_know():
    page = am.MultiVector(np.eye(8)[:4], np.ones(4), grid=(2, 2), id="report.pdf#3")
    assert repr(page) == "MultiVector('report.pdf#3', 4 patches of 8, attention, grid 2 x 2)"
    small = am.compress(page, method="identity")
    assert repr(small) == "Compressed('report.pdf#3', 4 patches in vectors of 4 x 8, identity)"
    assert repr(am.Hit("report.pdf#3", 8.5)) == "Hit('report.pdf#3', score 8.500, 0 matches)"
