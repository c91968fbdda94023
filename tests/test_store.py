"""One suite for every store: what goes in comes out, and a search finds what a plain loop would."""

from dataclasses import replace
from datetime import UTC, date, datetime

import numpy as np
import pytest
from stores import ENCODER, D, a_page, a_query, an_entry

import adamerge as am
from adamerge.errors import BadInput, BadShape, Mismatch, NotFound, TooNew
from adamerge.store import about
from adamerge.store.transfer import copy
from adamerge.types import Word


def expected(query, pages):
    """Ids and scores of stored pages by a plain loop, best first."""
    scores = {p.id: float((query @ p.stored.T).max(1).sum()) for p in pages}
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def stored(store):
    return [entry.page for entry in store.entries()]


def same(a, b):
    np.testing.assert_allclose(a.vectors, b.vectors, atol=2e-3)
    np.testing.assert_array_equal(a.groups, b.groups)
    assert (a.extra is None) == (b.extra is None)
    assert (a.grid, a.method, a.id) == (b.grid, b.method, b.id)
    for x, y in ((a.cut.merges, b.cut.merges), (a.cut.theta, b.cut.theta), (a.cut.gap, b.cut.gap)):
        assert x == pytest.approx(y, nan_ok=True)


def test_what_goes_in_comes_out(store):
    extra = np.random.default_rng(1).normal(size=(2, D))
    boxes = np.random.default_rng(2).random((6, 4))
    words = (Word("clock", (0.1, 0.2, 0.3, 0.25)), Word("ünï", (0.5, 0.5, 0.6, 0.55)))
    labels = {"year": 2021, "price": 1.5, "open": True, "language": "en"}
    labels |= {"day": date(2020, 2, 29), "at": datetime(2021, 3, 4, 5, 6, 7, tzinfo=UTC)}
    page = a_page(0, 3, extra=extra, boxes=boxes)
    store.add(am.Entry(page, "a.pdf", 7, 9, "/folder", "0123", words, b"\x00picture", labels))
    (entry,) = store.get(["p0"])
    same(entry.page, page)
    np.testing.assert_allclose(entry.page.extra, page.extra, atol=2e-3)
    np.testing.assert_allclose(entry.page.boxes, page.boxes, atol=1e-3)
    assert (entry.source, entry.number, entry.pages, entry.root, entry.hash) == (
        "a.pdf",
        7,
        9,
        "/folder",
        "0123",
    )
    assert [w.text for w in entry.words] == ["clock", "ünï"]
    np.testing.assert_allclose([w.box for w in entry.words], [w.box for w in words], atol=1e-3)
    assert entry.thumbnail == b"\x00picture"
    assert entry.metadata == labels
    assert {name: type(value) for name, value in entry.metadata.items()} == {
        k: type(v) for k, v in labels.items()
    }


@pytest.mark.parametrize("method", ["adamerge:k=none", "identity", "adamerge:k=none,c_min=0.99"])
def test_pages_of_any_method_come_back_with_their_cut_and_grid(store, method):
    page = a_page(0, 4, method, grid=(2, 4))
    store.add(page)
    same(store.get(["p0"])[0].page, page)


def test_a_hit_has_its_rank_and_says_which_better_hit_holds_the_same_page(store):
    pages = {"a.pdf#1": a_page(0, 3), "b.pdf#1": a_page(1, 3), "copy of a.pdf#1": a_page(0, 3)}
    for id, page in pages.items():
        source = id.removesuffix("#1")
        store.add(am.Entry(replace(page, id=id), source, root="/folder"))
    store.add(am.Entry(replace(a_page(1, 3), id="b.pdf#2"), "b.pdf", 2, root="/folder"))
    store.add(am.Entry(replace(a_page(2, 3), id="b.pdf#3"), "b.pdf", 3))
    found = store.search(a_page(0, 3).vectors, k=9)
    assert [hit.rank for hit in found] == [1, 2, 3, 4, 5]
    assert [hit.id for hit in found][:2] == ["a.pdf#1", "copy of a.pdf#1"]
    equal = {hit.id: hit.equal_to for hit in found if hit.equal_to}
    assert equal == {"copy of a.pdf#1": "a.pdf#1", "b.pdf#2": "b.pdf#1"}
    assert found.copies_of(found[0]) == [found[1]]
    groups = {source: [hit.id for hit in hits] for source, hits in found.by_source().items()}
    assert list(groups) == ["a.pdf", "b.pdf"]
    assert sorted(groups["b.pdf"]) == ["b.pdf#1", "b.pdf#3"]
    paths = {hit.id: hit.path for hit in found}
    assert (paths["a.pdf#1"], paths["b.pdf#3"]) == ("/folder/a.pdf", "b.pdf")


def test_ragged_pages_are_ranked_as_a_plain_loop_ranks_them(store):
    store.add(a_page(i) for i in range(50))
    for seed, q in enumerate((1, 3, 20)):
        query = a_query(seed, q)
        found = store.search(query, k=10)
        wanted = expected(query, stored(store))[:10]
        assert [hit.id for hit in found] == [id for id, _ in wanted]
        np.testing.assert_allclose(
            [hit.score for hit in found], [score for _, score in wanted], rtol=1e-5, atol=1e-5
        )
        assert (found.how, found.candidates, found.pages) == ("exact", 50, 50)


def rows(hit):
    return [match.row for match in hit.matches]


def test_many_queries_find_what_each_finds_alone(store):
    store.add(an_entry(i) for i in range(1, 40))
    queries = [a_query(seed, 1 + seed % 5) for seed in range(35)]
    for options in ({}, {"where": "number > 20", "why": False}, {"exact": True}):
        for query, found in zip(queries, store.search_all(queries, 4, **options), strict=True):
            alone = store.search(query, 4, **options)
            assert [hit.id for hit in found] == [hit.id for hit in alone]
            assert [hit.score for hit in found] == pytest.approx([hit.score for hit in alone])
            assert [rows(hit) for hit in found] == [rows(hit) for hit in alone]
            assert (found.how, found.pages) == (alone.how, alone.pages)
    assert store.search_all([]) == []


def test_scores_may_be_negative_and_k_may_exceed_the_pages(store):
    store.add(
        am.compress(am.MultiVector(np.full((2, D), 1.0 + i), id=f"p{i}"), method="identity")
        for i in range(3)
    )
    found = store.search(-np.ones((2, D)), k=np.int64(9))
    assert [hit.score for hit in found] == [-2 * D, -4 * D, -6 * D]


def test_matches_say_where_and_sum_to_the_score(store):
    vectors = np.eye(D)[:4]
    boxes = [[0, 0, 0.5, 0.5], [0.5, 0, 1, 0.5], [0, 0.5, 0.5, 1], [0.5, 0.5, 1, 1]]
    words = [
        Word(text, (x, y, x + 0.1, y + 0.1))
        for text, x, y in (("a", 0.1, 0.1), ("b", 0.7, 0.1), ("c", 0.1, 0.8))
    ]
    page = am.compress(am.MultiVector(vectors, boxes=boxes, id="p"), method="identity")
    store.add(am.Entry(page, words=tuple(words)))
    query = np.array([0.9 * vectors[1], 0.5 * vectors[2], 0.1 * vectors[3]])
    (hit,) = store.search(query)
    assert [(m.row, round(m.similarity, 2), m.words) for m in hit.matches] == [
        (1, 0.9, ("b",)),
        (2, 0.5, ("c",)),
        (3, 0.1, ()),
    ]
    np.testing.assert_allclose(hit.matches[0].boxes, [boxes[1]])
    assert sum(m.similarity for m in hit.matches) == pytest.approx(hit.score, abs=1e-5)
    assert store.search(query, why=False)[0].matches == ()


def test_a_match_on_a_grid_has_the_boxes_of_its_patches_and_extra_rows_have_none(store):
    page = am.MultiVector(np.eye(D)[:6], extra=np.eye(D)[7:], grid=(2, 3), id="p")
    store.add(am.compress(page, method="identity"))
    (hit,) = store.search(np.eye(D)[[4, 7]])
    np.testing.assert_allclose(hit.matches[0].boxes, [[1 / 3, 1 / 2, 2 / 3, 1]], atol=1e-6)
    assert hit.matches[1].row == 6
    assert len(hit.matches[1].boxes) == 0


def test_adding_a_page_again_replaces_it_also_with_another_number_of_vectors(store):
    store.add([a_page(i) for i in range(5)])
    store.add([a_page(3, 12), a_page(7)])
    assert len(store) == 6
    assert len(store.get(["p3"])[0].page) == 12
    query = a_query()
    assert [hit.id for hit in store.search(query)] == [
        id for id, _ in expected(query, stored(store))
    ]


def test_deleted_pages_are_not_found(store):
    store.add(an_entry(i) for i in range(9))
    assert store.delete("p4", "nobody") == 1
    assert store.delete(source="file0.pdf") == 3
    assert store.delete("p4") == 0
    left = {"p1", "p2", "p5", "p7", "p8"}
    assert {hit.id for hit in store.search(a_query())} == left
    assert {entry.id for entry in store.entries()} == left
    assert set(store.sources()) == {"file1.pdf", "file2.pdf"}
    with pytest.raises(BadInput, match="delete what"):
        store.delete()


def test_a_mixture_is_refused_in_words(opened, store):
    store.add(a_page(0))
    with pytest.raises(
        Mismatch, match=r"compressed by identity, the pages of the store by sem-cluster:m=2"
    ):
        store.add(a_page(1, method="identity"))
    wide = am.compress(np.ones((4, D + 1)) * np.arange(1, 5)[:, None], method="sem-cluster:m=2")
    with pytest.raises(Mismatch, match="9 dimensions, the store 8"):
        store.add(am.Compressed(wide.vectors, wide.groups, method=wide.method, id="wide"))
    with pytest.raises(Mismatch, match="its revision is 1, not 2"):
        opened(encoder=ENCODER | {"revision": "2"})
    with pytest.raises(Mismatch, match="its name is test, not other"):
        opened(encoder={"name": "other"})
    with pytest.raises(Mismatch, match="keeps vectors as float16, not float32"):
        opened(dtype="float32")
    with pytest.raises(BadInput, match="got 'float8'"):
        opened(dtype="float8")
    assert len(store) == 1


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        (np.zeros((0, D)), "has no vectors"),
        (np.full((2, D), np.nan), "nan or infinity"),
        (np.full((2, D), np.inf), "nan"),
    ],
)
def test_what_no_search_could_find_is_refused_before_the_write(store, vectors, words):
    store.add(a_page(0))
    bad = am.Compressed(
        vectors.astype(np.float32),
        np.zeros(len(vectors), np.int32),
        method="sem-cluster:m=2",
        id="bad",
    )
    with pytest.raises(BadInput, match=words):
        store.add([a_page(1), bad])
    assert [entry.id for entry in store.entries()] == ["p0"]


def test_a_page_without_an_id_or_an_id_twice_is_refused(store):
    with pytest.raises(BadInput, match="needs an id"):
        store.add(am.compress(np.eye(D)[:3], method="identity"))
    with pytest.raises(BadInput, match="'p1' comes twice"):
        store.add([a_page(1), a_page(1)])


def test_any_text_can_be_an_id(store):
    ids = [
        "a'b",
        'c"d',
        "日本語.pdf#1",
        "x" * 300,
        "%_; DROP TABLE pages",
        "line\nbreak",
        "🙂",
        "\\",
    ]
    pages = [a_page(i) for i in range(len(ids))]
    store.add(
        am.Entry(am.Compressed(p.vectors, p.groups, method=p.method, id=id), source=id)
        for p, id in zip(pages, ids, strict=True)
    )
    assert {hit.id for hit in store.search(a_query())} == set(ids)
    assert [entry.id for entry in store.get(ids)] == ids
    for id in ids[:4]:
        assert store.delete(id) == 1
    for id in ids[4:]:
        assert store.delete(source=id) == 1
    assert len(store) == 0


def test_a_store_remembers_what_made_it(opened, store):
    store.add(a_page(i) for i in range(4))
    with opened() as again:
        assert again.about.method == "sem-cluster:m=2"
        assert again.about.encoder == ENCODER
        assert len(again) == 4
        assert len(again.search(a_query())) == 4


def test_a_query_of_another_width_is_refused(store):
    store.add(a_page(0))
    with pytest.raises(BadShape, match=r"\(q, 8\)"):
        store.search(np.ones((2, D + 1)))
    with pytest.raises(BadInput, match="k must be a whole number, at least 1"):
        store.search(a_query(), k=0)


def test_a_store_that_was_opened_first_sees_what_another_has_made(opened):
    with opened() as reader:
        assert len(reader) == 0
        with opened() as writer:
            writer.add(an_entry(0, metadata={"year": 2020}))
            assert len(reader) == 1
            writer.add(an_entry(1, metadata={"language": "en"}))
        assert reader.columns() == {"year": "int", "language": "text"}
        assert {hit.id for hit in reader.search(a_query(), where="year = 2020")} == {"p0"}
        assert reader.get(["p1"])[0].metadata == {"language": "en"}
        with pytest.raises(Mismatch, match="is int on other pages"):
            reader.add(an_entry(2, metadata={"year": "x"}))
        reader.add(an_entry(2, metadata={"title": "T"}))
    with opened() as again:
        assert set(again.columns()) == {"year", "language", "title"}


def test_only_compressed_pages_are_stored(store):
    for wrong in (am.MultiVector(np.eye(D)), [am.MultiVector(np.eye(D))], "abc"):
        with pytest.raises(BadInput, match="takes compressed pages, got a"):
            store.add(wrong)


def test_a_bare_page_belongs_to_the_file_that_its_id_names(store):
    page = a_page(0)
    for id in ("report.pdf#3", "report.pdf#4", "odd"):
        store.add(am.Compressed(page.vectors, page.groups, method=page.method, id=id))
    assert set(store.sources()) == {"report.pdf", "odd"}
    assert store.get(["report.pdf#3"])[0].number == 3
    assert store.delete(source="report.pdf") == 2


def test_a_store_without_pages_says_so(store):
    assert len(store) == 0
    assert store.sources() == {}
    with pytest.raises(NotFound, match="holds no pages yet"):
        store.search(a_query())


def test_facts_are_counted_from_what_is_stored(store):
    pages = [a_page(i, extra=np.ones((2, D))) for i in range(6)]
    store.add(pages)
    facts = store.facts()
    vectors = sum(p.bytes() for p in pages)
    assert facts["pages"] == 6
    assert facts["patches"] == sum(len(p.groups) for p in pages)
    assert facts["stored"] == sum(len(p) for p in pages)
    assert facts["extra"] == 12
    assert facts["bytes of vectors"] == vectors
    assert facts["compression"] == pytest.approx(0.5)


def test_ten_thousand_pages_are_searched_whole(store):
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(10_000, 2, D)).astype(np.float32)
    groups = np.arange(2, dtype=np.int32)
    store.add(am.Compressed(v, groups, method="identity", id=f"p{i}") for i, v in enumerate(matrix))
    assert len(store) == 10_000
    query = a_query(q=3)
    scores = (
        np.einsum("qd,pvd->pqv", query, matrix.astype(np.float16).astype(np.float32)).max(2).sum(1)
    )
    found = store.search(query, k=10)
    assert [hit.id for hit in found] == [f"p{i}" for i in np.argsort(-scores)[:10]]
    assert found.how == "exact"


def test_a_store_of_the_future_is_refused_whatever_keeps_it(opened, monkeypatch):
    with opened() as store:
        store.add(a_page(1))
    monkeypatch.setattr(about, "VERSION", about.VERSION - 1)
    with pytest.raises(TooNew, match="update adamerge"):
        opened()


def test_a_copy_goes_on_where_it_stopped_and_is_brought_up_to_date(opened, tmp_path):
    with opened(encoder=ENCODER) as store, am.open_store(tmp_path / "copy") as copied:
        store.add(a_page(i) for i in range(70))
        stopped = copy(store, copied)
        next(stopped)
        stopped.close()
        assert len(copied) == 32
        assert len(list(copy(store, copied))) == len(copied) == 70
        store.add(a_page(70))
        list(copy(store, copied))
        assert len(copied) == 71


def test_a_copy_into_another_store_is_refused_unless_it_is_asked_for(opened, tmp_path):
    with opened(encoder=ENCODER) as store, am.open_store(tmp_path / "other") as other:
        store.add(a_page(i) for i in range(3))
        other.add(a_page(i) for i in range(2, 5))
        with pytest.raises(Mismatch, match="holds 3 pages already, and is not a copy of"):
            next(copy(store, other))
        assert len(other) == 3
        assert len(list(copy(store, other, merge=True))) == 3
        assert len(other) == 5
