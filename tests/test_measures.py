"""Measures are trec_eval's: ties, grades and all."""

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from adamerge.evaluate.experiment.measures import MEASURES, measure_queries
from adamerge.search import StackedQueries, score_pages, stack_queries
from adamerge.types import Compressed, MultiVector

NAMES = {
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "recall@5": "recall_5",
    "MRR": "recip_rank",
}


def by_pytrec_eval(scores, queries, pages, judged):
    """All pages of all queries, through pytrec_eval itself."""
    run = {
        q: {p: float(s) for p, s in zip(pages, row, strict=True)}
        for q, row in zip(queries, scores, strict=True)
    }
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.5,10", "recall.5", "recip_rank"})
    found = evaluator.evaluate(run)
    return {ours: [found[q][theirs] for q in queries] for ours, theirs in NAMES.items()}


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    pages=st.integers(1, 40),
    levels=st.integers(1, 8),  # few levels: many ties
    grades=st.integers(1, 3),
)
def test_measures_equal_pytrec_eval_on_runs_with_ties_and_graded_judgements(
    seed, pages, levels, grades
):
    rng = np.random.default_rng(seed)
    ids = [f"page#{i}" for i in rng.permutation(pages)]
    queries = [f"q{i}" for i in range(5)]
    scores = (rng.integers(levels, size=(5, pages)) / 3).astype(np.float32)
    judged = {
        q: {
            ids[i]: int(rng.integers(1, grades + 1))
            for i in rng.choice(pages, size=rng.integers(1, pages + 1))
        }
        for q in queries
    }
    want = by_pytrec_eval(scores, queries, ids, judged)
    found = measure_queries(scores, queries, ids, judged)
    assert list(found) == list(MEASURES)
    for name in MEASURES:
        np.testing.assert_allclose(found[name], want[name], atol=1e-12)


def test_ndcg_by_hand():
    # ranked b, a, c; the best order is a, b: (1 + 2/log2(3)) / (2 + 1/log2(3))
    found = measure_queries(
        np.array([[2.0, 3.0, 1.0]], np.float32), ["q"], ["a", "b", "c"], {"q": {"a": 2, "b": 1}}
    )
    assert found["nDCG@5"][0] == pytest.approx((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)))
    assert found["MRR"][0] == 1


def test_of_equal_scores_the_later_name_comes_first():
    found = measure_queries(np.ones((1, 3), np.float32), ["q"], ["a", "b", "c"], {"q": {"a": 1}})
    assert found["MRR"][0] == pytest.approx(1 / 3)


def test_a_score_is_the_sum_of_each_query_vectors_best_match():
    queries = stack_queries([MultiVector([[1, 0], [0, 1]]), MultiVector([[-1.0, 0]])])
    pages = [
        Compressed(np.float32([[0.5, 0], [0, 2]]), np.int32([0, 1])),
        Compressed(np.float32([[3, 1]]), np.int32([0])),
    ]
    np.testing.assert_allclose(score_pages(queries, pages), [[2.5, 4], [0, -3]])


def test_extra_rows_are_searched_too():
    page = Compressed(np.float32([[1, 0]]), np.int32([0]), extra=np.float32([[0, 7]]))
    np.testing.assert_allclose(score_pages(stack_queries([MultiVector([[0, 1]])]), [page]), [[7]])


@pytest.mark.parametrize("pages", [1, 63, 64, 65, 130])
def test_scores_do_not_depend_on_how_pages_are_chunked(pages):
    rng = np.random.default_rng(pages)
    sizes = rng.integers(1, 9, size=pages)
    rows = [rng.normal(size=(n, 6)).astype(np.float32) for n in sizes]
    queries = StackedQueries(rng.normal(size=(7, 6)).astype(np.float32), np.array([0, 3, 7]))
    want = [
        [sum((r @ x).max() for x in queries.vectors[a:b]) for r in rows]
        for a, b in ((0, 3), (3, 7))
    ]
    found = score_pages(queries, (Compressed(r, np.arange(len(r), dtype=np.int32)) for r in rows))
    np.testing.assert_allclose(found, want, rtol=1e-5)
