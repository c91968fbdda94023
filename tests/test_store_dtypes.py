"""One suite for every dtype of the embedded store: what is rounded once is kept, searched and copied as it is."""

import numpy as np
import pytest
from lance_pages import D, a_page, a_query

import adamerge as am
from adamerge.codes import DTYPES, to_vectors
from adamerge.compress.names import in_dtype
from adamerge.errors import Mismatch, TooNew
from adamerge.store.transfer import copy, export_shards

CODES = ("int4", "int2", "int1")
# What rounding the vectors of a query may change in a score, for each of its five vectors.
QUERY_ERROR = {"float32": 1e-5, "float16": 1e-5, "int8": 0.05, "int4": 0.05, "int2": 0.5, "int1": 2}


def a_page_with_extra(i, m=5):
    """A page whose last stored row is no patch."""
    page = a_page(i, m + 1)
    return am.Compressed(
        page.vectors[:m], page.groups[:m], page.vectors[m:], method="identity", id=page.id
    )


def assert_same_rows(found, expected):
    assert (found.dtype, found.d) == (expected.dtype, expected.d)
    for part, expected_part in zip(found.parts, expected.parts, strict=True):
        np.testing.assert_array_equal(part, expected_part)
    np.testing.assert_array_equal(found.scales, expected.scales)


@pytest.fixture(scope="module", params=DTYPES)
def dtype(request):
    return request.param


@pytest.fixture(scope="module")
def path(dtype, tmp_path_factory):
    """A store whose pages were added, replaced and deleted."""
    path = tmp_path_factory.mktemp("stores") / dtype
    with am.open_store(path, dtype=dtype) as store:
        store.add(a_page_with_extra(i, 9) for i in range(4))
        store.add(a_page_with_extra(i, 1 + i % 5) for i in range(60))
        store.delete("p00007")
    return path


def pages_there():
    return [a_page_with_extra(i, 1 + i % 5) for i in range(60) if i != 7]


def test_a_page_is_kept_as_its_dtype_rounds_it(path, dtype):
    with am.open_store(path) as store:
        assert (store.about.dtype, len(store)) == (dtype, 59)
        entries = {entry.id: entry.page for entry in store.entries()}
    for page in pages_there():
        found = entries[page.id]
        expected = page.rows_in(dtype)
        np.testing.assert_array_equal(found.stored, to_vectors(expected))
        assert (len(found), found.extra_rows) == (len(page), 1)
        assert found.bytes(dtype) == page.bytes(dtype)
        if expected.scales is None:
            assert found.rows is None
        else:
            assert_same_rows(found.rows, expected)


@pytest.mark.parametrize("memory", ["1GB", 1])
def test_every_page_is_compared_as_a_plain_loop_compares_it(path, dtype, memory):
    with am.open_store(path, memory=memory) as store:
        pages = {entry.id: entry.page.stored for entry in store.entries()}
        found = store.search(a_query(), 100, exact=True)
        some = store.search(a_query(), 3, "id < 'p00009'", exact=True)
    assert (found.how, found.candidates, len(found)) == ("exact", 59, 59)
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    expected = {id: float((a_query() @ rows.T).max(1).sum()) for id, rows in pages.items()}
    assert {hit.id: hit.score for hit in found} == pytest.approx(
        expected, abs=5 * QUERY_ERROR[dtype]
    )
    wanted = [(hit.id, hit.score) for hit in found if hit.id < "p00009"]
    assert [(hit.id, hit.score) for hit in some] == wanted[:3]


def test_pages_in_memory_follow_what_is_written(dtype, tmp_path):
    with (
        am.open_store(tmp_path / "s", dtype=dtype) as writer,
        am.open_store(tmp_path / "s") as reader,
    ):
        writer.add(a_page(i) for i in range(40))
        query = 2 * a_page(7).vectors
        assert reader.search(query, 1)[0].id == "p00007"
        writer.delete("p00007")
        assert reader.search(query, 1)[0].id != "p00007"
        writer.add([a_page(7), a_page(8, 9)])
        writer.compact()
        assert reader.search(query, 1)[0].id == "p00007"
        assert len(reader.get(["p00008"])[0].page) == 9


@pytest.mark.parametrize("rounded", ["int8", *CODES])
def test_a_page_that_is_rounded_already_is_never_rounded_again(tmp_path, rounded):
    page = in_dtype(a_page_with_extra(1), rounded)
    with am.open_store(tmp_path / "s") as store:
        store.add(page)
        assert store.about.dtype == rounded
        assert_same_rows(store.get([page.id])[0].page.rows, page.rows)
    other = "int1" if rounded != "int1" else "int4"
    with (
        am.open_store(tmp_path / "other", dtype=other) as store,
        pytest.raises(
            Mismatch, match=rf"rounded to {rounded} already, and the store keeps {other}"
        ),
    ):
        store.add(page)
    assert not (tmp_path / "other").exists()


DOWNWARDS = [("float32", "float16"), ("float16", "int4"), ("int8", "int2"), ("int4", "int1")]


@pytest.mark.parametrize(("more", "fewer"), DOWNWARDS)
def test_a_copy_goes_to_fewer_bytes_and_never_to_more(tmp_path, more, fewer):
    pages = [a_page_with_extra(i) for i in range(5)]
    with am.open_store(tmp_path / more, dtype=more) as full:
        full.add(pages)
        with (
            am.open_store(tmp_path / "same") as same,
            am.open_store(tmp_path / "few", dtype=fewer) as few,
        ):
            list(copy(full, same))
            list(copy(full, few))
            assert (same.about.dtype, few.about.dtype) == (more, fewer)
            for kept, copied, rounded in zip(
                full.entries(), same.entries(), few.entries(), strict=True
            ):
                np.testing.assert_array_equal(kept.page.stored, copied.page.stored)
                expected = to_vectors(am.Compressed.rows_in(_plain(kept.page), fewer))
                np.testing.assert_array_equal(rounded.page.stored, expected)
            with (
                am.open_store(tmp_path / "back", dtype=more) as back,
                pytest.raises(
                    Mismatch,
                    match=rf"kept as {fewer}, and as {more} .* Copy them as {fewer}, or index .* --dtype {more}",
                ),
            ):
                next(copy(few, back))
    assert not (tmp_path / "back").exists()


def _plain(page):
    """The vectors that a page stands for, without the rows they came from."""
    return am.Compressed(page.vectors, page.groups, page.extra, method="identity", id=page.id)


def test_an_export_and_a_new_store_of_it_lose_nothing(path, dtype, tmp_path):
    with am.open_store(path) as store, am.open_store(tmp_path / "again", dtype=dtype) as again:
        count = len(list(export_shards(store, tmp_path / "shards")))
        again.add(am.read_compressed(tmp_path / "shards"))
        assert len(again) == count == 59
        found = {entry.id: entry.page for entry in again.entries()}
        for entry in store.entries():
            np.testing.assert_array_equal(found[entry.id].stored, entry.page.stored)
    assert am.vectors.read_manifest(tmp_path / "shards").dtype == dtype


def test_codes_of_another_rotation_are_refused(tmp_path, monkeypatch):
    with am.open_store(tmp_path / "s", dtype="int4") as store:
        store.add(a_page(1))
    monkeypatch.setattr("adamerge.store.about.ROTATION", "hadamard-v9")
    with pytest.raises(
        TooNew, match=r"rotation 'hadamard-v1', and this adamerge has 'hadamard-v9'"
    ):
        am.open_store(tmp_path / "s")


def test_codes_have_no_more_dimensions_than_there_is_a_rotation_for(tmp_path):
    page = am.Compressed(
        np.ones((1, 4097), np.float32), np.zeros(1, np.int32), method="identity", id="p"
    )
    with (
        am.open_store(tmp_path / "s", dtype="int4") as store,
        pytest.raises(ValueError, match="1 to 4096 dimensions, got 4097"),
    ):
        store.add(page)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("dtype", CODES)
def test_bytes_of_codes_are_planes_and_scales(tmp_path, dtype):
    with am.open_store(tmp_path / "s", dtype=dtype) as store:
        store.add(a_page(i, 50) for i in range(8))
        bits = int(dtype[-1])
        assert store.facts()["bytes of vectors"] == 8 * 50 * (bits * D / 8 + 4)
