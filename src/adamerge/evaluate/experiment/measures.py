"""Scores and judgements -> how good each query's ranking is, as trec_eval measures it. Needs the extra `evaluate`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from adamerge.arrays import Doubles, Floats
from adamerge.errors import missing_extra
from adamerge.evaluate.data import Judgements

# our name -> name in ir-measures
MEASURES = {
    "nDCG@5": "nDCG@5",
    "nDCG@10": "nDCG@10",
    "recall@5": "R@5",
    "MRR": "RR",
}
MEASURE = "nDCG@5"  # where none is asked for, as in the paper
DEEPEST = 10  # rank that a measure with a cutoff looks at


def measure_queries(
    scores: Floats, queries: Sequence[str], pages: Sequence[str], judged: Judgements
) -> dict[str, Doubles]:
    """Every measure of every query, in the order of `queries`.

    scores  (queries, pages)
    Gains are the grades, discounted by log2(rank + 1), over the best ranking of all judged pages. Of pages with equal
    scores the one whose id is later in the alphabet comes first, as in trec_eval.
    """
    ir = ir_measures_library()
    names = {ir.parse_measure(text): name for name, text in MEASURES.items()}
    column_of = {page: column for column, page in enumerate(pages)}
    row_of = {query: row for row, query in enumerate(queries)}

    grades = {}
    ranked = {}
    for query, row in zip(queries, scores, strict=True):
        grades[query] = dict(judged[query])
        columns = [column_of[page] for page in grades[query]]
        ranked[query] = _pages_that_matter(row, pages, columns)

    values = {name: np.zeros(len(queries)) for name in MEASURES}
    for result in ir.pytrec_eval.iter_calc(list(names), grades, ranked):
        name = names[result.measure]
        values[name][row_of[result.query_id]] = result.value
    return values


def ir_measures_library() -> Any:
    """ir-measures, or an error that says what to install; ask before work that takes hours."""
    try:
        import ir_measures
    except ImportError:
        raise missing_extra("measuring", "evaluate") from None
    return ir_measures


def _pages_that_matter(row: Floats, pages: Sequence[str], judged: list[int]) -> dict[str, float]:
    """Page -> score of the pages as good as the tenth, and as good as the best judged one, ties and all."""
    tenth = row.min()
    if len(row) > DEEPEST:
        tenth = np.partition(row, -DEEPEST)[-DEEPEST]
    least = min(tenth, row[judged].max())
    return {pages[i]: float(row[i]) for i in np.flatnonzero(row >= least).tolist()}
