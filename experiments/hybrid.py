"""Whether words help vectors: BM25, MaxSim and both together on the judged books -> results/hybrid.json.

    python experiments/hybrid.py DATA VECTORS

DATA and VECTORS are what `adamerge evaluate run experiments/books.toml` makes and leaves: the books, and their
vectors. Each way of putting two scores together has parameters. Those that are best on five books are used on the
sixth, so no book has a say in its own number. docs/write_hybrid.py writes the tables of docs/results.md.
"""

import argparse
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adamerge import evaluate
from adamerge.arrays import Floats
from adamerge.compress import compress_pages, parse_method
from adamerge.evaluate.analysis.statistical_tests import bootstrap
from adamerge.evaluate.data import Dataset
from adamerge.evaluate.experiment.bm25_control import bm25_scores
from adamerge.evaluate.experiment.measures import MEASURE, measure_queries
from adamerge.evaluate.experiment.vector_cache import cache_folders, read_cached
from adamerge.search import score_pages, share_of_words, stack_queries

RESULTS = Path(__file__).parent.parent / "results" / "hybrid.json"
BOOKS = ("lilypond-learning", "lilypond-notation", "octave", "r-exts", "r-intro", "zsh")
METHODS = ("identity", "height:h=1+int4")

WEIGHTS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)  # of the words
CONSTANTS = (1, 2, 5, 10, 20, 40, 60)  # of reciprocal ranks; 60 is the usual one

Values = NDArray[np.float64]
Parameters = tuple[float, ...]


def best_scaled(by_vectors: Floats, by_words: Floats, weight: float) -> Floats:
    """The sum that a store computes: both scores over the best one of the query."""
    scores = by_vectors.copy()
    for row, words in zip(scores, by_words, strict=True):
        row += share_of_words(float(row.max()), words, float(words.max()), weight)
    return scores


def range_scaled(by_vectors: Floats, by_words: Floats, weight: float) -> Floats:
    """The sum of both scores, each from 0 for the worst page of the query to 1 for its best."""
    return (1 - weight) * _to_unit_range(by_vectors) + weight * _to_unit_range(by_words)


def reciprocal_ranks(
    by_vectors: Floats, by_words: Floats, weight: float, constant: float
) -> Floats:
    """(1 - w) / (constant + rank by vectors) + w / (constant + rank by words); 0 for a page without a word."""
    of_vectors = 1 / (constant + _ranks(by_vectors))
    of_words = 1 / (constant + _ranks(by_words))
    of_words[by_words == 0] = 0
    return ((1 - weight) * of_vectors + weight * of_words).astype(np.float32)


def _to_unit_range(scores: Floats) -> Floats:
    worst = scores.min(axis=1, keepdims=True)
    reach = scores.max(axis=1, keepdims=True) - worst
    reach[reach == 0] = 1  # no page has a word of the query
    return (scores - worst) / reach


def _ranks(scores: Floats) -> Values:
    """The rank of each page for each query, from 1; of equal scores the first page comes first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.argsort(order, axis=1) + 1.0


FUSIONS: dict[str, tuple[Callable[..., Floats], list[Parameters]]] = {
    "sum, over the best": (best_scaled, list(product(WEIGHTS))),
    "sum, over the range": (range_scaled, list(product(WEIGHTS))),
    "reciprocal ranks": (reciprocal_ranks, list(product(WEIGHTS, CONSTANTS))),
}


class Scores(NamedTuple):
    """The scores of every query on every page of a book, (queries, pages) each."""

    dataset: Dataset
    by_words: Floats
    by_vectors: dict[str, Floats]


def score_book(data: Path, vectors: Path, book: str, workers: int) -> Scores:
    """The scores of a book by words, and by the vectors of every method."""
    dataset = evaluate.load_dataset(book, data)
    folders = cache_folders(vectors, "minilm", book)
    queries = stack_queries(read_cached(folders.queries, list(dataset.queries)))
    pages = read_cached(folders.pages, dataset.page_ids)

    by_vectors = {}
    for method in METHODS:
        small = compress_pages(pages, parse_method(method), workers)
        by_vectors[method] = score_pages(queries, small, workers)
    return Scores(dataset, bm25_scores(dataset, dataset.texts()), by_vectors)


def measure(dataset: Dataset, scores: Floats) -> Values:
    """nDCG@5 of every query."""
    queries = list(dataset.queries)
    return measure_queries(scores, queries, dataset.page_ids, dataset.judgements)[MEASURE]


def compare(books: dict[str, Scores], method: str) -> dict[str, Any]:
    """Words, vectors, and each way of putting them together with parameters of the other books."""
    words = {name: measure(book.dataset, book.by_words) for name, book in books.items()}
    vectors = {name: measure(book.dataset, book.by_vectors[method]) for name, book in books.items()}
    found: dict[str, Any] = {"bm25": _means(words), "vectors": _means(vectors)}

    for name, (fuse, tried) in FUSIONS.items():
        values = {}
        for parameters in tried:
            values[parameters] = _fused(books, method, fuse, parameters)
        found[name] = _left_out(values, vectors)
    return found


def _fused(
    books: dict[str, Scores], method: str, fuse: Callable[..., Floats], parameters: Parameters
) -> dict[str, Values]:
    """nDCG@5 of every query of every book, with the same parameters for all."""
    found = {}
    for name, book in books.items():
        scores = fuse(book.by_vectors[method], book.by_words, *parameters)
        found[name] = measure(book.dataset, scores)
    return found


def _left_out(
    values: dict[Parameters, dict[str, Values]], vectors: dict[str, Values]
) -> list[dict[str, Any]]:
    """A row for each book, with the parameters that are best on the others; and one for the queries of all books."""
    rows = []
    gains = []
    for book in vectors:
        others = [other for other in vectors if other != book]
        chosen = _best_on(others, values)
        gain = values[chosen][book] - vectors[book]
        gains.append(gain)
        mean = round(float(values[chosen][book].mean()), 4)
        rows.append({"book": book, "parameters": chosen, MEASURE: mean} | _gain(gain))
    return [*rows, {"book": "all queries"} | _gain(np.concatenate(gains))]


def _best_on(books: list[str], values: dict[Parameters, dict[str, Values]]) -> Parameters:
    """The parameters with the best mean over some books."""

    def mean(parameters: Parameters) -> float:
        return float(np.mean([values[parameters][book].mean() for book in books]))

    return max(values, key=mean)


def _gain(differences: Values) -> dict[str, float]:
    low, high = bootstrap(differences)
    gain = float(differences.mean())
    return {"gain": round(gain, 4), "low": round(low, 4), "high": round(high, 4)}


def _means(values: dict[str, Values]) -> dict[str, float]:
    return {book: round(float(of_book.mean()), 4) for book, of_book in values.items()}


def main() -> None:
    """Score the books, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()

    books = {}
    for book in BOOKS:
        books[book] = score_book(given.data, given.vectors, book, given.workers)
    found = {method: compare(books, method) for method in METHODS}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
