"""Search without a store: the best pages, where they matched, and how candidates grow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adamerge as am
from adamerge.codes import StoredRows, to_rows, to_vectors
from adamerge.errors import BadInput
from adamerge.search import (
    VectorsInMemory,
    best,
    matches,
    maxsim,
    maxsim_all,
    rank_in_two_stages,
)
from adamerge.search.two_stage import FIRST_CANDIDATES, MOST_CANDIDATES


@given(st.lists(st.integers(-3, 3), max_size=30), st.integers(1, 35))
def test_best_is_what_sorting_everything_gives(values, k):
    ids = [f"p{i}" for i in range(len(values))]
    ranked = sorted(zip(ids, map(float, values), strict=True), key=lambda pair: (-pair[1], pair[0]))
    assert best(ids, np.array(values, np.float32), k) == ranked[:k]


def test_many_queries_at_once_score_as_one_by_one():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(60, 16)).astype(np.float16)
    begins, ends = np.array([0, 10, 11, 30]), np.array([10, 11, 30, 60])
    queries = [rng.normal(size=(q, 16)) for q in (1, 5, 33)]
    rows = StoredRows("float16", 16, (vectors,))
    together = maxsim_all(queries, rows, begins, ends)
    for query, row in zip(queries, together, strict=True):
        np.testing.assert_allclose(maxsim(query, rows, begins, ends), row, rtol=1e-5)
        plain = [
            (query @ vectors[b:e].astype(float).T).max(1).sum()
            for b, e in zip(begins, ends, strict=True)
        ]
        np.testing.assert_allclose(row, plain, rtol=1e-5, atol=1e-5)
    assert maxsim_all([], rows, begins, ends).shape == (0, 4)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6)), max_size=80),
    st.sampled_from(["float16", "int8"]),
)
def test_memory_holds_what_was_put_last_whatever_came_before(steps, dtype):
    memory, plain = VectorsInMemory(4, dtype), {}
    rng = np.random.default_rng(len(steps))
    for page, rows in steps:
        id = f"p{page}"
        if rows == 0:
            memory.drop(id)
            plain.pop(id, None)
            continue
        vectors = rng.integers(-9, 9, size=(rows, 4)).astype(dtype)
        scales = np.full(rows, 0.5, np.float32) if dtype == "int8" else None
        memory.put(id, StoredRows(dtype, 4, (vectors,), scales))
        plain[id] = vectors.astype(np.float32) * (0.5 if dtype == "int8" else 1)
    query = np.array([[127, -64, 32, 1]], np.float32)  # which int8 holds exactly
    ids, (scores, again) = memory.scores([query, 2 * query])
    assert (again == 2 * scores).all()
    assert dict(zip(ids, scores.tolist(), strict=True)) == pytest.approx(
        {id: float((query @ v.T).max(1).sum()) for id, v in plain.items()}
    )
    some = ["p3", "nobody", "p1"]
    assert memory.scores([query], some)[0] == [id for id in some if id in plain]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=40))
def test_memory_holds_codes_as_they_were_put(steps):
    memory, plain = VectorsInMemory(9, "int4"), {}
    rng = np.random.default_rng(len(steps))
    for page, rows in steps:
        id = f"p{page}"
        if rows == 0:
            memory.drop(id)
            plain.pop(id, None)
            continue
        plain[id] = to_rows(rng.normal(size=(rows, 9)).astype(np.float32), "int4")
        memory.put(id, plain[id])
    query = rng.normal(size=(3, 9)).astype(np.float32)
    ids, (scores,) = memory.scores([query])
    assert set(ids) == set(plain)
    for id, score in zip(ids, scores.tolist(), strict=True):
        decoded = to_vectors(plain[id])
        assert score == pytest.approx((query @ decoded.T).max(1).sum(), abs=0.2)
        alone = maxsim(query, plain[id], np.array([0]), np.array([len(decoded)]))
        assert score == alone[0]


def pages_by_rank(truth, proposals):
    """Two stages over pages whose true score and proposed order are given."""
    asked = []

    def propose(n):
        asked.append(n)
        return proposals[:n]

    def score(ids):
        return ids, np.array([truth[id] for id in ids], np.float32)

    return propose, score, asked


def test_candidates_double_until_the_best_stay_the_same():
    ids = [f"p{i:04d}" for i in range(1000)]
    truth = {id: -float(i) for i, id in enumerate(ids)}
    truth[ids[100]] = 5.0  # a page that the first stage thinks little of
    propose, score, asked = pages_by_rank(truth, ids)
    ranking = rank_in_two_stages(3, 1000, propose, score, "first")
    assert [id for id, _ in ranking.best] == [ids[100], ids[0], ids[1]]
    assert (ranking.how, ranking.candidates, ranking.pages) == ("settled", 256, 1000)
    assert ranking.first_stage == "first"
    assert asked == [FIRST_CANDIDATES, 128, 256]


@pytest.mark.parametrize(
    ("k", "numbers"),
    [
        (2, [64, 128, 256, 512, 1024, 2048, 4096]),
        (300, [1200, 2400, 4096]),
        (1024, [4096]),
        (2000, [4096]),
        (5000, [5000]),
    ],
)
def test_never_more_candidates_are_asked_for_than_the_limit_or_k(k, numbers):
    ids = [f"p{i:04d}" for i in range(9000)]
    truth = {id: float(i) for i, id in enumerate(ids)}  # every page is better than those before it
    propose, score, asked = pages_by_rank(truth, ids)
    ranking = rank_in_two_stages(k, 9000, propose, score, "first")
    assert (ranking.how, ranking.candidates) == ("limit", max(k, MOST_CANDIDATES))
    assert asked == numbers


def test_when_all_pages_are_candidates_the_result_is_exact():
    ids = [f"p{i}" for i in range(50)]
    truth = {id: float(i % 7) for i, id in enumerate(ids)}
    propose, score, _ = pages_by_rank(truth, ids)
    ranking = rank_in_two_stages(3, 50, propose, score, "first")
    assert (ranking.how, ranking.candidates, ranking.first_stage) == ("exact", 50, "")
    assert ranking.best == [("p13", 6.0), ("p20", 6.0), ("p27", 6.0)]


def test_matches_of_a_page_without_places_have_no_boxes():
    page = am.compress(np.eye(4), method="identity")
    (match,) = matches(np.eye(4)[:1], page)
    assert (match.row, match.similarity, match.boxes.shape, match.words) == (0, 1.0, (0, 4), ())


def test_a_search_for_no_pages_is_refused():
    with pytest.raises(BadInput, match="at least 1, got 0"):
        best(["a"], np.zeros(1, np.float32), 0)
