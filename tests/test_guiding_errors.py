"""What is given by mistake is refused with what came and the line to write."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import adamerge as am
from adamerge.errors import BadInput, UnknownName

VECTORS = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
PAGE = am.MultiVector(VECTORS, id="a.pdf#1")


def small():
    return am.compress(PAGE, method="height")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            np.stack([VECTORS, VECTORS]),
            r"one page \(n, d\), got a batch \(2, 8, 4\): am.compress_pages",
        ),
        ([VECTORS, VECTORS[:3]], "got a list of 2: am.compress_pages"),
        ([PAGE], "got a list of 1: am.compress_pages"),
        ([[1, 2], [3]], "rows of 1 to 2 numbers"),
        ("report.pdf", r"got the path 'report.pdf': .*am.read_pages\(\['report.pdf'\]\)"),
        (Path("page.npz"), r"am.compress_pages\(am.read_vectors\('page.npz'\), method\)"),
        (Image.new("RGB", (4, 4)), r"got a picture \(Image\): .*encode_pages\(\[page\]\)\[0\]"),
        (am.Page("a", Image.new("RGB", (4, 4))), r"got a picture \(Page\)"),
        (small(), "compressed already, by height:h=1"),
    ],
)
def test_compress_says_what_to_write_instead(given, words):
    with pytest.raises(BadInput, match=words):
        am.compress(given, method="height")


def test_a_list_of_tensors_is_told_to_be_stacked():
    torch = pytest.importorskip("torch")
    rows = [torch.tensor(row).bfloat16() for row in VECTORS]
    with pytest.raises(BadInput, match=r"a list of 8 tensors: torch.stack\(vectors\)"):
        am.compress(rows, method="height")
    assert len(am.compress(torch.stack(rows), method="identity")) == 8


@pytest.mark.parametrize("method", ["height", am.Height()])
def test_a_method_in_the_place_of_attention_is_told_its_keyword(method):
    with pytest.raises(BadInput, match=r"am.compress\(vectors, method='height"):
        am.compress(VECTORS, method)


def test_an_option_that_a_method_does_not_have_is_told_what_is_like_it():
    with pytest.raises(UnknownName, match=r"no option 'cmin' \(did you mean 'c_min'\?\)"):
        am.AdaMerge(cmin=0.7)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (PAGE, r"store.add\(am.compress\(page\)\)"),
        (VECTORS, r"am.MultiVector\(vectors, id="),
        (["report.pdf"], r"am.index_files\(\['report.pdf'\], store\)"),
    ],
)
def test_add_says_what_to_write_instead(tmp_path, given, words):
    with am.open_store(tmp_path / "store") as store, pytest.raises(BadInput, match=words):
        store.add(given)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with am.open_store(tmp_path_factory.mktemp("guiding") / "store") as store:
        store.add(am.Entry(small(), "a.pdf", 1, metadata={"kind": "manual", "year": 2020}))
        yield store


def test_metadata_belong_to_a_page(store):
    with pytest.raises(BadInput, match=r"store.add\(am.Entry\(page, metadata="):
        store.add(small(), metadata={"year": 2021})


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("kind = manual", "a text stands in single quotes: 'manual'"),
        ('kind = "manual"', "a text stands in single quotes: 'manual'"),
        ("knd = 'manual'", r"no column 'knd' \(did you mean 'kind'\?\)"),
        ("lower(kind) = 'x'", "no functions"),
    ],
)
def test_a_filter_says_what_to_write_instead(store, where, words):
    with pytest.raises(BadInput, match=words):
        store.search(VECTORS, where=where)


def test_a_list_of_queries_is_told_its_function(store):
    with pytest.raises(BadInput, match=r"a list of 2: store.search_all\(queries\)"):
        store.search(["one", "two"])


def test_write_vectors_says_what_to_write_instead(tmp_path):
    with pytest.raises(BadInput, match=r"am.write_vectors\('vectors', pages\)"):
        am.write_vectors([PAGE], tmp_path / "a")
    for given in (VECTORS, PAGE):
        with pytest.raises(BadInput, match=r"a list of pages, got a \w+: am.write_vectors"):
            am.write_vectors(tmp_path / "b", given)
    with pytest.raises(BadInput, match="float32 holds every bfloat16"):
        am.write_vectors(tmp_path / "c", [PAGE], dtype="bfloat16")


def test_what_repr_shows_of_a_store_is_its_kind_and_place(store):
    assert repr(store) == f"LanceStore({str(store)!r})" or "…" in repr(store)
    assert len(repr(store)) <= 2 * 100
