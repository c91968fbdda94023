"""Scores and judgements -> how good each query's ranking is, as trec_eval measures it. Needs the extra `evaluate`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from adamerge.arrays import Doubles, Floats
from adamerge.errors import missing_extra
from adamerge.evaluate.datasets import Judgements

MEASURES = {
    "nDCG@5": "nDCG@5",
    "nDCG@10": "nDCG@10",
    "recall@5": "R@5",
    "MRR": "RR",
}  # ours -> name in ir-measures
DEEPEST = 10  # rank that a measure with a cutoff looks at


def measure(
    scores: Floats, queries: Sequence[str], pages: Sequence[str], judged: Judgements
) -> dict[str, Doubles]:
    """Every measure of every query, in the order of `queries`.

    scores  (queries, pages)
    Gains are the grades, discounted by log2(rank + 1), over the best ranking of all judged pages. Of pages with equal
    scores the one whose id is later in the alphabet comes first, as in trec_eval.
    """
    ir = library()
    names = {ir.parse_measure(text): name for name, text in MEASURES.items()}
    grades = {query: dict(judged[query]) for query in queries}
    column = {page: i for i, page in enumerate(pages)}
    judges = [[column[page] for page in grades[query]] for query in queries]
    run = {
        query: _top(row, pages, some)
        for query, row, some in zip(queries, scores, judges, strict=True)
    }
    place = {query: i for i, query in enumerate(queries)}
    values = {name: np.zeros(len(queries)) for name in MEASURES}
    for result in ir.pytrec_eval.iter_calc(list(names), grades, run):
        values[names[result.measure]][place[result.query_id]] = result.value
    return values


def _top(row: Floats, pages: Sequence[str], judged: list[int]) -> dict[str, float]:
    """The pages that can matter: those as good as the tenth, and as good as the best one judged, ties and all."""
    tenth = np.partition(row, -DEEPEST)[-DEEPEST] if len(row) > DEEPEST else row.min()
    return {
        pages[i]: float(row[i])
        for i in np.flatnonzero(row >= min(tenth, row[judged].max())).tolist()
    }


def library() -> Any:
    """ir-measures, or an error that says what to install; ask before work that takes hours."""
    try:
        import ir_measures
    except ImportError:
        raise missing_extra("measuring", "evaluate") from None
    return ir_measures
