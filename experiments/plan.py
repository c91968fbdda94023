"""How agreement goes with loss, on the judged books: vectors and results -> the map of `adamerge plan`.

    python experiments/plan.py measure VECTORS     agreement of methods on a sample of each book -> results/plan
    python experiments/plan.py fit                 results/plan and results/books -> src/adamerge/plan/loss_map.json

VECTORS has a folder for each book, with `pages` and `queries`, as `adamerge evaluate run experiments/books.toml`
leaves them in vectors/minilm. A book that is measured already is passed over.
"""

import argparse
import gzip
import json
import logging
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adamerge.compress import compress_pages, parse_method
from adamerge.fidelity import Drawing, draw_queries, measures
from adamerge.fidelity.queries import given_queries
from adamerge.plan import spread
from adamerge.plan.measured import name_in_dtype, score_in_dtype
from adamerge.vectors import open_shards

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "results" / "plan"
JUDGED = ROOT / "results" / "books" / "minilm"
LOSS_MAP = ROOT / "src" / "adamerge" / "plan" / "loss_map.json"

PAGES = 100  # of a book
DRAWN = 200  # queries
ASKED = 100
TOP = 10

MEASURE = "nDCG@5"
KNOTS = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.975, 1.0)
COVERED = 90  # percent of the true losses of a book that the interval has to hold
NARROWEST = 0.2  # the interval is as wide as this plus 1 - agreement, times a constant

Values = NDArray[np.float64]

ALL = ("float16", "int8", "int4", "int2", "int1")
SOME = ("float16", "int2")
FLOAT = ("float16",)
ASKED_METHODS = {  # name -> dtypes that are measured by the questions of a book too
    "identity": ALL,
    "height:h=0.6": FLOAT,
    "height:h=0.8": ALL,
    "height:h=1": FLOAT,
    "height:h=1.2": ALL,
    "height:h=1.4": SOME,
    "height:h=1.7": ALL,
    "height:h=2": SOME,
    "height:h=2.5": FLOAT,
    "height:h=1.2,k=-0.25": FLOAT,
    "height:h=1.2,k=-0.75": FLOAT,
    "adamerge:k=none,c_min=0.7,unit=true": SOME,
    "adamerge:k=-0.25,c_min=0.7": FLOAT,
    "ptm:k=-0.75,m=1.5,unit=true": SOME,
    "ptm:k=-0.75,m=6,unit=true": SOME,
    "docpruner:k=-0.5": FLOAT,
    "docpruner:k=0.5": FLOAT,
    "sem-cluster:m=4": FLOAT,
    "sem-cluster:m=4,unit=true": FLOAT,
}
OFFERED = ("identity", "height:")  # what `adamerge plan` chooses from
OTHERS = 3  # of the other methods that were judged in float16 only, every third is measured
HALVES = 50  # times that the questions of a book are split in two


def measured_methods(book: str) -> dict[str, list[str]]:
    """Methods of a book and their dtypes: all that `plan` offers, all in several dtypes, and every third of the rest.

    Those of ASKED_METHODS are always among them.
    Controls and searches without vectors have no pages to compare. The identity in float16 comes first.
    """
    dtypes: dict[str, list[str]] = {"identity": ["float16"]}
    for name in _read_values(JUDGED / f"{book}.jsonl.gz"):
        method, _, dtype = name.partition("+")
        if "(" not in method and method not in ("bm25", "mean-vector") and name != "identity":
            dtypes.setdefault(method, []).append(dtype or "float16")

    chosen, others = {}, []
    for method, of_method in dtypes.items():
        if method.startswith(OFFERED) or len(of_method) > 1:
            chosen[method] = of_method
        else:
            others.append(method)
    asked = [method for method in others if method in ASKED_METHODS]
    for method in others[::OTHERS] + asked:
        chosen[method] = dtypes[method]
    return chosen


def measure_book(folder: Path, workers: int) -> dict[str, Any]:
    """The agreement of every method on a sample of a book, by drawn queries and by those that people asked."""
    shards = open_shards(folder / "pages")
    wanted = set(spread(len(shards), PAGES))
    pages = [page for number, page in enumerate(shards.pages()) if number in wanted]
    kinds = {
        "drawn": draw_queries(pages, Drawing(most=DRAWN)),
        "asked": given_queries(islice(open_shards(folder / "queries").pages(), ASKED)),
    }

    whole: dict[str, Any] = {}
    agreement: dict[str, dict[str, float]] = defaultdict(dict)
    for method, dtypes in measured_methods(folder.name).items():
        small = list(compress_pages(pages, parse_method(method), workers))
        for dtype in dtypes:
            name = name_in_dtype(parse_method(method), dtype)
            for kind, queries in kinds.items():
                if kind == "asked" and dtype not in ASKED_METHODS.get(method, ()):
                    continue
                scores = score_in_dtype(queries, small, dtype, workers)
                whole.setdefault(kind, scores)  # identity in float16 comes first
                kept = measures.agreement(whole[kind], scores, TOP).mean()
                agreement[name][kind] = round(float(kept), 4)
        logging.info("%s %s %s", folder.name, method, agreement[method])
    return {
        "book": folder.name,
        "pages": len(pages),
        "pages_of_the_book": len(shards),
        "queries": {kind: len(queries) for kind, queries in kinds.items()},
        "agreement": agreement,
    }


def measure(folders: Iterable[Path], workers: int) -> None:
    """Measure every book that is not measured yet."""
    MEASURED.mkdir(parents=True, exist_ok=True)
    for folder in folders:
        path = MEASURED / f"{folder.name}.json"
        if not path.exists():
            found = measure_book(folder, workers)
            path.write_text(json.dumps(found, indent=1) + "\n")


class Book(NamedTuple):
    """The methods of a book: u = 1 - agreement (methods,), and the loss of nDCG@5 by question (methods, questions)."""

    name: str
    methods: list[str]
    u: Values
    losses: Values

    @property
    def loss(self) -> Values:
        """The true loss of each method: (methods,)."""
        return np.asarray(self.losses.mean(axis=1))

    def offered(self) -> "Book":
        """The same with those methods only that `plan` offers."""
        is_offered = np.array([method.startswith(OFFERED) for method in self.methods])
        methods = [method for method in self.methods if method.startswith(OFFERED)]
        return Book(self.name, methods, self.u[is_offered], self.losses[is_offered])


class Fit(NamedTuple):
    """loss = a u + b u² with u = 1 - agreement; a, b >= 0."""

    a: float
    b: float

    def predict(self, u: Values) -> Values:
        """The loss at each u."""
        return self.a * u + self.b * u**2


def fit() -> dict[str, Any]:
    """The map that goes into the package, and how well it does on each book that is left out."""
    found: dict[str, Any] = {"version": 1, "measure": MEASURE, "encoder": "minilm"}
    for kind in ("drawn", "asked"):
        books = [_read_book(path, kind) for path in sorted(MEASURED.glob("*.json"))]
        found[kind] = _knots(books) | {"left_out": [_left_out(books, book) for book in books]}
    return found


def _read_book(path: Path, kind: str) -> Book:
    """The methods of a book that are both measured and judged."""
    measured = json.loads(path.read_text())
    values = _read_values(JUDGED / f"{measured['book']}.jsonl.gz")
    methods = [name for name, by in measured["agreement"].items() if kind in by and name in values]
    agreement = np.array([measured["agreement"][method][kind] for method in methods])
    losses = np.stack([values["identity"] - values[method] for method in methods])
    return Book(measured["book"], methods, 1 - agreement, losses)


def _read_values(path: Path) -> dict[str, Values]:
    """The nDCG@5 of every method on a book, by question: (questions,) each."""
    found = {}
    with gzip.open(path, "rt") as cells:
        for line in cells:
            cell = json.loads(line)
            values = cell["measures"].get(MEASURE)
            if values:
                found[cell["method"]] = np.array(values)
    return found


def _knots(books: list[Book]) -> dict[str, list[float]]:
    curve = _fit(books)
    width = _width(books)
    u = 1 - np.array(KNOTS)
    expected = curve.predict(u)
    reach = width * (NARROWEST + u)
    return {
        "agreement": list(KNOTS),
        "expected": expected.round(4).tolist(),
        "low": (expected - reach).round(4).tolist(),
        "high": (expected + reach).round(4).tolist(),
    }


def _fit(books: list[Book]) -> Fit:
    """Least squares, every book with the same weight; the identity has no say, since it loses nothing by definition."""
    rows, losses = [], []
    for book in books:
        weight = 1 / np.sqrt(len(book.u))
        rows.append(np.stack([book.u, book.u**2], axis=1) * weight)
        losses.append(book.loss * weight)
    a, b = np.linalg.lstsq(np.concatenate(rows), np.concatenate(losses), rcond=None)[0]
    if a < 0:  # then the curve would fall below 0: a parabola alone
        squares = np.concatenate(rows)[:, 1]
        b = squares @ np.concatenate(losses) / (squares @ squares)
        a = 0.0
    return Fit(float(a), float(b))


def _width(books: list[Book]) -> float:
    """The constant with which the interval holds 90 % of the losses of every book, each predicted from the others."""
    widths = []
    for book in books:
        others = [other for other in books if other is not book]
        errors = np.abs(book.loss - _fit(others).predict(book.u)) / (NARROWEST + book.u)
        widths.append(np.percentile(errors, COVERED))
    return float(max(widths))


def _left_out(books: list[Book], book: Book) -> dict[str, Any]:
    """What the others predict of a book: nothing of it goes into the curve or the width."""
    others = [other for other in books if other is not book]
    predicted = _fit(others).predict(book.u)
    reach = _width(others) * (NARROWEST + book.u)
    error = book.loss - predicted
    is_inside = np.abs(error) <= reach
    return {
        "book": book.name,
        "methods": len(book.methods),
        "questions": book.losses.shape[1],
        "spearman": round(_spearman(book.u, book.loss), 3),
        "ceiling": round(_ceiling(book), 3),
        "spearman_offered": round(_spearman(book.offered().u, book.offered().loss), 3),
        "ceiling_offered": round(_ceiling(book.offered()), 3),
        "inside": round(float(is_inside.mean()), 3),
        "mean_error": round(float(error.mean()), 4),
        "mean_absolute_error": round(float(np.abs(error).mean()), 4),
    }


def _ceiling(book: Book) -> float:
    """The highest Spearman correlation to hope for: that of the losses by endless questions with the measured ones.

    r is the Spearman correlation of the losses by two halves of the questions, the mean over many splits. By Spearman
    and Brown all questions have the reliability 2 r / (1 + r), and the ceiling is its square root; 0 where r <= 0.
    """
    generator = np.random.default_rng(0)
    questions = book.losses.shape[1]
    found = []
    for _ in range(HALVES):
        order = generator.permutation(questions)
        one = book.losses[:, order[: questions // 2]].mean(axis=1)
        other = book.losses[:, order[questions // 2 :]].mean(axis=1)
        found.append(_spearman(one, other))
    r = max(0.0, float(np.mean(found)))
    return float(np.sqrt(2 * r / (1 + r)))


def _spearman(x: Values, y: Values) -> float:
    """Spearman's rank correlation; equal values share the mean of their ranks."""
    return float(np.corrcoef(_ranks(x), _ranks(y))[0, 1])


def _ranks(values: Values) -> Values:
    _, group, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    mean_rank = last - (count - 1) / 2
    return np.asarray(mean_rank[group])


def main() -> None:
    """Read the command line."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["measure", "fit"])
    parser.add_argument("vectors", type=Path, nargs="?")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.step == "measure":
        measure(sorted(given.vectors.iterdir()), given.workers)
    else:
        LOSS_MAP.write_text(json.dumps(fit(), indent=1) + "\n")


if __name__ == "__main__":
    main()
