"""The first stage of a search in codes: sign planes propose, the stored codes decide."""

import errno
import os
import tempfile

import lance
import numpy as np
import pyarrow as pa
import pytest
from lance_pages import D, a_page, a_query

import adamerge as am
from adamerge.codes import bytes_per_row, to_rows, to_vectors
from adamerge.errors import Damaged, StoreUnavailable
from adamerge.search import PageVectors, mapped_rows, maxsim, nearest_by_signs
from adamerge.search.sign_planes import FEWEST_VECTORS, SHARE_KEPT
from adamerge.store.lance import loaded_vectors, rank

PAGES = 300
ROWS = 6 * PAGES


@pytest.fixture(autouse=True)
def few_pages_are_many(monkeypatch):
    monkeypatch.setattr(loaded_vectors, "SIGNS_FROM", 100)
    monkeypatch.setattr(rank, "SIGNS_FROM", 100)


@pytest.fixture(scope="module", params=["int4", "int2"])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("stores") / request.param
    with am.open_store(path, dtype=request.param) as store:
        store.add(a_page(i) for i in range(PAGES))
    return path


def near(i, q=12):
    """A query of some vectors that are like those of a page."""
    rng = np.random.default_rng([4, i])
    vectors = a_page(i).vectors[rng.integers(0, 6, q)]
    return vectors + 0.3 * rng.normal(size=vectors.shape).astype(np.float32)


def ids_and_scores(found):
    return [(hit.id, hit.score) for hit in found]


def some_signs(pages=200):
    """The sign planes of some pages."""
    vectors = np.concatenate([a_page(i).vectors for i in range(pages)])
    ends = np.arange(6, 6 * pages + 1, 6)
    return PageVectors(
        [a_page(i).id for i in range(pages)], to_rows(vectors, "int1"), ends - 6, ends
    )


def test_a_short_query_proposes_the_pages_in_the_order_of_their_sign_scores():
    signs = some_signs()
    query = a_query()
    assert len(query) < FEWEST_VECTORS
    scores = maxsim(query, signs.rows, signs.begins, signs.ends)
    order = [signs.ids[i] for i in np.argsort(-scores, kind="stable")]
    for n in (1, 7, 200, 500):
        assert nearest_by_signs(query, signs, n) == order[:n]


def test_a_long_query_proposes_the_best_of_the_share_that_half_of_it_chose():
    signs = some_signs()
    query = near(17, 13)
    half = maxsim(query[::2], signs.rows, signs.begins, signs.ends)
    kept = np.sort(np.argsort(-half, kind="stable")[: 200 // SHARE_KEPT])
    scores = maxsim(query, signs.rows, signs.begins, signs.ends)
    order = kept[np.argsort(-scores[kept], kind="stable")]
    assert nearest_by_signs(query, signs, 20) == [signs.ids[i] for i in order[:20]]
    every = np.argsort(-scores, kind="stable")
    assert nearest_by_signs(query, signs, 200) == [signs.ids[i] for i in every]


SIGNS_ONLY = ROWS * bytes_per_row(D, "int1")


@pytest.mark.parametrize("memory", ["1GB", SIGNS_ONLY, SIGNS_ONLY - 1])
def test_the_stored_codes_of_what_sign_planes_propose_decide(path, memory):
    with am.open_store(path, memory=memory) as store:
        for i in range(0, PAGES, 30):
            found = store.search(near(i), 5)
            exact = store.search(near(i), PAGES, exact=True)
            assert (found.how, found.first_stage, found.pages) == ("settled", "sign planes", PAGES)
            assert 64 < found.candidates < PAGES
            assert (exact.how, exact.first_stage, exact.candidates) == ("exact", "", PAGES)
            assert found[0].id == a_page(i).id
            assert set(ids_and_scores(found)) <= set(ids_and_scores(exact))


def test_many_queries_find_what_each_finds_alone(path):
    with am.open_store(path) as store:
        queries = [near(i) for i in range(4)]
        together = store.search_all(queries, 3)
        for query, found in zip(queries, together, strict=True):
            assert ids_and_scores(store.search(query, 3)) == ids_and_scores(found)


@pytest.mark.parametrize("memory", ["1GB", SIGNS_ONLY])
def test_pages_that_pass_a_filter_are_all_compared_if_they_are_few(path, memory):
    with am.open_store(path, memory=memory) as store:
        store.search(near(3))
        some = store.search(near(3), 5, "id < 'p00050'")
        assert (some.how, some.first_stage, some.candidates, some.pages) == ("exact", "", 50, 50)
        most = store.search(near(3), 5, "id >= 'p00003'")
        assert (most.first_stage, most.pages, most[0].id) == ("sign planes", PAGES - 3, "p00003")


def test_few_pages_are_compared_without_sign_planes(path, monkeypatch):
    monkeypatch.setattr(loaded_vectors, "SIGNS_FROM", PAGES + 1)
    with am.open_store(path) as store:
        assert store.search(near(3)).how == "exact"
        assert store._cache.update(store._table.newest()).signs is None


def test_one_search_reads_no_more_than_sign_planes_and_candidates(path):
    with am.open_store(path) as store:
        first = store.search(near(3), 5)
        assert store._cache._vectors._held is None
        assert ids_and_scores(store.search(near(3), 5)) == ids_and_scores(first)
        assert len(store._cache._vectors._held) == PAGES


@pytest.mark.parametrize("memory", ["1GB", SIGNS_ONLY + 100, 1])
def test_sign_planes_follow_what_is_written(tmp_path, memory):
    with (
        am.open_store(tmp_path / "s", dtype="int4") as writer,
        am.open_store(tmp_path / "s", memory=memory) as reader,
    ):
        writer.add(a_page(i) for i in range(PAGES - 20))
        assert reader.search(near(7), 1)[0].id == "p00007"
        writer.delete("p00007")
        assert reader.search(near(7), 1)[0].id != "p00007"
        writer.add([a_page(7), a_page(PAGES), a_page(8, 9)])
        writer.compact()
        for i in (7, 8, PAGES):
            found = reader.search(near(i), 1)
            assert (found[0].id, found.first_stage) == (a_page(i).id, "sign planes")
        assert len(reader.search(near(3), PAGES, exact=True)) == PAGES - 19


@pytest.mark.parametrize("column", ["plane0", "sign_scales"])
def test_a_page_whose_signs_changed_on_disk_is_named_and_not_searched(tmp_path, column):
    with am.open_store(tmp_path / "s", dtype="int4") as store:
        store.add(a_page(i) for i in range(110))
    dataset = lance.dataset(tmp_path / "s" / "pages.lance")
    other = dataset.to_table(filter="id = 'p00009'")[column].to_pylist()
    row = dataset.to_table(columns=["id", column], filter="id = 'p00007'")
    swapped = row.set_column(1, row.schema.field(column), pa.array(other, row.schema.types[1]))
    dataset.merge_insert("id").when_matched_update_all().execute(swapped)
    for memory in ("1GB", 1):
        with am.open_store(tmp_path / "s", memory=memory) as store:
            for read in (lambda: store.search(a_query()), lambda: list(store.entries())):
                with pytest.raises(Damaged, match="page 'p00007' is damaged on disk"):
                    read()


# ----------------------------------------------------------------------------------------------- mapped from disk


def test_mapped_rows_hold_what_memory_holds_and_leave_no_file(tmp_path):
    rows = to_rows(a_page(1, 40).vectors, "int1")
    mapped = mapped_rows("int1", D, 40, tmp_path)
    mapped.parts[0][:] = rows.parts[0]
    mapped.scales[:] = rows.scales
    np.testing.assert_array_equal(to_vectors(mapped), to_vectors(rows))
    assert list(tmp_path.iterdir()) == []
    assert len(mapped_rows("int1", D, 0, None)) == 0


def test_a_folder_that_may_only_be_read_needs_no_file_in_it(tmp_path, monkeypatch):
    folders = []
    make = tempfile.TemporaryFile

    def refuse(dir=None):
        folders.append(dir)
        if dir is not None:
            raise PermissionError(errno.EACCES, "Permission denied")
        return make()

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert len(mapped_rows("int1", D, 5, tmp_path)) == 5
    assert folders == [tmp_path, None] * 2


def test_a_disk_without_room_for_sign_planes_is_told_in_words(path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with (
        am.open_store(path, memory=1) as store,
        pytest.raises(StoreUnavailable, match=r"sign planes from disk \(No space left .*--memory"),
    ):
        store.search(a_query())


def test_codes_of_one_bit_are_mapped_beyond_memory_and_always_compared(tmp_path):
    with am.open_store(tmp_path / "s", dtype="int1") as store:
        store.add(a_page(i) for i in range(150))
    with am.open_store(tmp_path / "s") as whole, am.open_store(tmp_path / "s", memory=1) as mapped:
        found = mapped.search(near(3), 9)
        assert ids_and_scores(found) == ids_and_scores(whole.search(near(3), 9))
        assert (found.how, found.first_stage, found.candidates) == ("exact", "", 150)
        rows = mapped._cache._vectors._held.pages().rows
        assert isinstance(rows.parts[0], np.memmap)
