"""What a file does not say itself: which column holds the vectors, which rows are padding, which are prompt."""

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from cli import call, lines
from later import needs_torch, torch
from safetensors.numpy import save_file

import adamerge as am
from adamerge.errors import BadFile, BadInput, BadShape

RNG = np.random.default_rng(0)
SIZES = (3, 1, 5)
PAGES = [RNG.normal(size=(n, 4)).astype(np.float32) for n in SIZES]
MASK = np.array([[1, 1, 1, 0, 0], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1]])
PADDED = np.zeros((3, 5, 4), np.float32)
for padded, real, page in zip(PADDED, MASK, PAGES, strict=True):
    padded[real == 1] = page

SAVE = {
    ".npz": lambda path, arrays: np.savez(path, **arrays),
    ".safetensors": lambda path, arrays: save_file(arrays, path),
    ".pt": lambda path, arrays: torch.save(
        {name: torch.from_numpy(array) for name, array in arrays.items()}, path
    ),
}
SUFFIXES = [".npz", ".safetensors", pytest.param(".pt", marks=needs_torch)]


def same_pages(pages):
    pages = list(pages)
    assert [len(page) for page in pages] == list(SIZES)
    for page, vectors in zip(pages, PAGES, strict=True):
        np.testing.assert_array_equal(page.vectors, vectors)
    return pages


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["mask", "attention_mask"])
@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_a_padded_batch_is_read_by_its_mask(tmp_path, suffix, name, dtype):
    path = tmp_path / f"batch{suffix}"
    SAVE[suffix](path, {"vectors": PADDED, name: MASK.astype(dtype)})
    pages = same_pages(am.read_vectors(path))
    assert [page.id for page in pages] == ["batch#1", "batch#2", "batch#3"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_vectors_may_have_any_name(tmp_path, suffix):
    path = tmp_path / f"batch{suffix}"
    SAVE[suffix](path, {"embeddings": PADDED, "attention_mask": MASK})
    same_pages(am.read_vectors(path, column="embeddings"))
    with pytest.raises(BadInput, match=r"'embeddings' has shape .*, say so: --column embeddings"):
        list(am.read_vectors(path))
    with pytest.raises(BadInput, match=r"has no array 'vecs'; it has .*embeddings"):
        list(am.read_vectors(path, column="vecs"))


def test_a_mask_takes_rows_of_attention_and_boxes_too(tmp_path):
    attention, boxes = RNG.random((3, 5)), RNG.random((3, 5, 4))
    np.savez(tmp_path / "b.npz", vectors=PADDED, mask=MASK, attention=attention, boxes=boxes)
    for i, page in enumerate(am.read_vectors(tmp_path / "b.npz")):
        np.testing.assert_allclose(page.attention, attention[i][MASK[i] == 1], rtol=1e-6)
        np.testing.assert_allclose(page.boxes, boxes[i][MASK[i] == 1], rtol=1e-6)


@pytest.mark.parametrize(
    ("mask", "error", "words"),
    [
        (MASK[:, :4], BadShape, r"'mask' must have a value for every row: \(3, 4\) beside"),
        (MASK * 2, BadInput, "'mask' must hold 0 and 1"),
        (MASK.astype(float), BadInput, "'mask' must hold 0 and 1, got float64"),
        (MASK * 0, BadInput, "page 'b#1': a page needs at least one vector"),
    ],
)
def test_a_mask_that_cannot_be_one_is_refused(tmp_path, mask, error, words):
    np.savez(tmp_path / "b.npz", vectors=PADDED, mask=mask)
    with pytest.raises(error, match=words):
        list(am.read_vectors(tmp_path / "b.npz"))


def table():
    rows = pa.array([page.tolist() for page in PAGES], pa.list_(pa.list_(pa.float32())))
    return pa.table({"id": ["a", "b", "c"], "image_embedding": rows})


def test_a_column_of_a_table_may_have_any_name(tmp_path):
    pa.parquet.write_table(table(), tmp_path / "t.parquet")
    pa.feather.write_feather(table(), tmp_path / "t.feather")
    with pa.ipc.new_stream(tmp_path / "t.arrow", table().schema) as out:
        out.write_table(table())
    for path in tmp_path.iterdir():
        pages = same_pages(am.read_vectors(path, column="image_embedding"))
        assert [page.id for page in pages] == ["a", "b", "c"]
        with pytest.raises(BadFile, match=r"no column 'vectors'.*id \(string\), image_embedding"):
            list(am.read_vectors(path))


def test_rows_of_the_prompt_become_extra(tmp_path):
    vectors, attention = RNG.normal(size=(9, 4)), RNG.random(9)
    np.savez(tmp_path / "p.npz", vectors=vectors, attention=attention)
    (page,) = am.read_vectors(tmp_path / "p.npz", prompt_rows=(2, 3))
    np.testing.assert_allclose(page.vectors, vectors[2:6], rtol=1e-6)
    np.testing.assert_allclose(page.attention, attention[2:6], rtol=1e-6)
    np.testing.assert_allclose(page.extra, vectors[[0, 1, 6, 7, 8]], rtol=1e-6)
    (whole,) = am.read_vectors(tmp_path / "p.npz", prompt_rows=(0, 0))
    assert (len(whole), whole.extra) == (9, None)
    with pytest.raises(BadShape, match=r"page 'p' has 9 rows, and 4 [+] 5 of them were to be prom"):
        list(am.read_vectors(tmp_path / "p.npz", prompt_rows=(4, 5)))
    with pytest.raises(BadInput, match="prompt_rows are two numbers"):
        am.read_vectors(tmp_path / "p.npz", prompt_rows=(4, -1))


def test_a_grid_that_counts_the_prompt_is_refused(tmp_path):
    np.savez(tmp_path / "p.npz", vectors=RNG.normal(size=(9, 4)), grid=[3, 3])
    with pytest.raises(BadInput, match="page 'p' without its prompt: "):
        list(am.read_vectors(tmp_path / "p.npz", prompt_rows=(1, 2)))


def test_a_folder_of_ours_needs_no_options(tmp_path):
    am.write_vectors(tmp_path / "v", [am.MultiVector(PAGES[0], id="a")])
    for options in ({"column": "x"}, {"prompt_rows": (1, 1)}):
        with pytest.raises(BadInput, match="says itself where its vectors are: leave out"):
            am.read_vectors(tmp_path / "v", **options)
    result = call("info", tmp_path / "v", "--column", "x")
    assert "says itself where its vectors are: leave out column x" in result.stderr


def test_the_command_line_takes_column_and_prompt_rows(tmp_path):
    vectors = RNG.normal(size=(40, 8))
    np.savez(tmp_path / "p.npz", embedding=vectors, other=vectors[:5])
    options = ("--column", "embedding", "--prompt-rows", "4,7")
    (facts,) = lines(call("info", tmp_path / "p.npz", *options, "--json"))
    assert (facts["pages"], facts["patches"], facts["extra"]) == (1, 29, 11)

    small = tmp_path / "small"
    words = ("compress", tmp_path / "p.npz", "-o", small, "--method", "sem-cluster:m=4", "--json")
    page, _ = lines(call(*words, *options))
    assert (page["patches"], page["extra"]) == (29, 11)
    other = call(
        *words, "--column", "embedding"
    )  # cannot go on with pages that were read otherwise
    assert other.returncode == 1
    assert "choose another folder" in other.stderr

    html = tmp_path / "page.html"
    shown = call("inspect", tmp_path / "p.npz", *options, "-o", html, "--method", "sem-cluster:m=4")
    assert shown.returncode == 0, shown.stderr
    assert html.exists()

    wrong = call("info", tmp_path / "p.npz", "--prompt-rows", "4")
    assert "two numbers of rows, as 4,7; got '4'" in wrong.stderr
