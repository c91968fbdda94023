"""How agreement goes with loss, on the judged books: vectors and results -> the map of `adamerge plan`.

    python experiments/plan.py measure VECTORS     agreement of methods on a sample of each book -> results/plan
    python experiments/plan.py fit                 results/plan and results/books -> src/adamerge/plans/loss_map.json,
                                                   and how far it holds -> results/plan/left_out.json

VECTORS has a folder for each book, with `pages` and `queries`, as `adamerge evaluate run experiments/books.toml`
leaves them in vectors/minilm. A method that is measured already is passed over.
"""

import argparse
import gzip
import json
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from adamerge.arrays import Floats, Longs
from adamerge.compress import Identity, compress_pages, parse_method
from adamerge.fidelities import Drawing, Queries, draw_queries, measures
from adamerge.fidelities.queries import given_queries
from adamerge.plans import spread
from adamerge.plans.loss_map import VERSION
from adamerge.plans.measured import name_in_dtype, score_in_dtype
from adamerge.types import MultiVector
from adamerge.vectors import open_shards

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "results" / "plan"
JUDGED = ROOT / "results" / "books" / "minilm"
LOSS_MAP = ROOT / "src" / "adamerge" / "plan" / "loss_map.json"
VALIDATION = MEASURED / "left_out.json"

PAGES = 100  # of a book
DRAWN = 200  # queries
ASKED = 100
TOP = 10
RIVALS = 5  # pages that a margin is measured against

SIGNALS = ("drawn", "asked", "reciprocal_rank", "margin")
MEASURE = "nDCG@5"
KNOTS = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.975, 1.0)
COVERED = 97  # percent of the losses of each known book that the interval holds, so that it holds 90 % of a new one
NARROWEST = 0.02  # the interval reaches as far as this plus u, times a constant

Values = NDArray[np.float64]

# What `plan` chooses from.
OFFERED = re.compile(r"(identity|height:h=[0-9.]+(,k=-0\.25)?)(\+int[1-8])?")
WITHOUT_VECTORS = ("bm25", "mean-vector")
CERTAIN = 2  # standard errors
HALVES = 50  # times that the questions of a book are split in two


def judged_methods(book: str) -> dict[str, list[str]]:
    """Every method that was judged on a book, and its dtypes.

    Controls, as random(height:h=1), are left out: `parse_method` does not know them.
    """
    dtypes: dict[str, list[str]] = {}
    for name in _read_values(JUDGED / f"{book}.jsonl.gz"):
        method, _, dtype = name.partition("+")
        if "(" not in method and method not in WITHOUT_VECTORS:
            dtypes.setdefault(method, []).append(dtype or "float16")
    return dtypes


class Sample(NamedTuple):
    """Pages of a book, and two kinds of queries on them with their scores on uncompressed pages (queries, pages)."""

    pages: list[MultiVector]
    drawn: Queries
    asked: Queries
    drawn_before: Floats
    asked_before: Floats


def measure(folders: Iterable[Path], workers: int) -> None:
    """Measure every method of every book that is not measured yet; a line of results/plan/BOOK.jsonl each."""
    MEASURED.mkdir(parents=True, exist_ok=True)
    for folder in folders:
        path = MEASURED / f"{folder.name}.jsonl"
        measured = {row["method"] for row in _read_rows(path)}
        sample = take_sample(folder, workers)
        with path.open("a") as lines:
            for method, dtypes in judged_methods(folder.name).items():
                missing = []
                for dtype in dtypes:
                    if name_in_dtype(method, dtype) not in measured:
                        missing.append(dtype)
                for row in measure_method(sample, method, missing, workers):
                    lines.write(json.dumps(row) + "\n")
                    lines.flush()
                    logging.info("%s %s", folder.name, row)


def take_sample(folder: Path, workers: int) -> Sample:
    """PAGES pages of a book at equal distances, as `plan` takes them, and the queries."""
    shards = open_shards(folder / "pages")
    wanted = set(spread(len(shards), PAGES))
    pages = [page for number, page in enumerate(shards.pages()) if number in wanted]
    drawn = draw_queries(pages, Drawing(most=DRAWN))
    asked = given_queries(islice(open_shards(folder / "queries").pages(), ASKED))

    whole = [Identity()(page) for page in pages]
    return Sample(
        pages,
        drawn,
        asked,
        score_in_dtype(drawn, whole, "float16", workers),
        score_in_dtype(asked, whole, "float16", workers),
    )


def measure_method(
    sample: Sample, name: str, dtypes: Sequence[str], workers: int
) -> Iterator[dict[str, Any]]:
    """What a method in each of some dtypes keeps of a sample.

    drawn, asked     agreement by drawn queries, and by those that people asked
    reciprocal_rank  of the page that a query was drawn from, the mean
    margin           of that page, the mean
    """
    if not dtypes:
        return
    small = list(compress_pages(sample.pages, parse_method(name), workers))
    for dtype in dtypes:
        drawn = score_in_dtype(sample.drawn, small, dtype, workers)
        asked = score_in_dtype(sample.asked, small, dtype, workers)
        values = {
            "drawn": measures.agreement(sample.drawn_before, drawn, TOP),
            "asked": measures.agreement(sample.asked_before, asked, TOP),
            "reciprocal_rank": measures.reciprocal_rank(drawn, sample.drawn.pages),
            "margin": margin(drawn, sample.drawn.pages),
        }
        row: dict[str, Any] = {"method": name_in_dtype(name, dtype)}
        for key, by_query in values.items():
            row[key] = round(float(by_query.mean()), 4)
        yield row


def margin(scores: Floats, pages: Longs) -> Values:
    """How far the page of each query stands above the best others: (queries,).

    scores  (queries, pages)
    pages   (queries,)  the page that each query was drawn from

    It is the score of that page minus the mean of the RIVALS best others, in standard deviations of the query's scores.
    """
    numbers = np.arange(len(scores))
    others = scores.astype(np.float64)
    own = others[numbers, pages]
    others[numbers, pages] = -np.inf
    best = np.sort(others, axis=1)[:, -RIVALS:].mean(axis=1)
    return np.asarray((own - best) / scores.std(axis=1))


def _read_rows(path: Path) -> list[dict[str, Any]]:
    """What is measured of a book: a row a method, as measure_method gives it."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


class Book(NamedTuple):
    """The methods of a book: what a signal says is lost, u (methods,), and the true losses (methods, questions).

    u       1 - what is kept, as 1 - agreement; of the other signals, as a share of what the uncompressed pages have
    losses  of nDCG@5, by question
    """

    name: str
    methods: list[str]
    u: Values
    losses: Values

    @property
    def loss(self) -> Values:
        """The true loss of each method: (methods,)."""
        return np.asarray(self.losses.mean(axis=1))

    @property
    def standard_error(self) -> Values:
        """How far the true loss of each method may be off by chance: (methods,)."""
        questions = self.losses.shape[1]
        return np.asarray(self.losses.std(axis=1, ddof=1) / np.sqrt(questions))

    def offered(self) -> "Book":
        """The same with those methods only that `plan` offers."""
        numbers = []
        for number, method in enumerate(self.methods):
            if OFFERED.fullmatch(method):
                numbers.append(number)
        methods = [self.methods[number] for number in numbers]
        return Book(self.name, methods, self.u[numbers], self.losses[numbers])


class LossCurve(NamedTuple):
    """loss = a u + b u |u| with a, b >= 0, and an interval of width (NARROWEST + |u|) either way."""

    a: float
    b: float
    width: float = 0.0

    def expected(self, u: Values) -> Values:
        """The loss at each u."""
        return self.a * u + self.b * u * np.abs(u)

    def reach(self, u: Values) -> Values:
        """Half of the interval at each u."""
        return self.width * (NARROWEST + np.abs(u))


def fit() -> dict[str, Any]:
    """The map that goes into the package: of drawn queries, and of queries that people asked."""
    found: dict[str, Any] = {"version": VERSION, "measure": MEASURE, "encoder": "minilm"}
    for signal in ("drawn", "asked"):
        found[signal] = _knots(fit_curve(read_books(signal)))
    return found


def validate(signal: str) -> list[dict[str, Any]]:
    """What the other books predict of each book by a signal; nothing of the book goes into the curve or its width."""
    books = read_books(signal)
    found = []
    for book in books:
        curve = fit_curve([other for other in books if other is not book])
        row: dict[str, Any] = {"book": book.name, "questions": book.losses.shape[1]}
        row["all"] = compare(book, curve)
        row["offered"] = compare(book.offered(), curve)
        found.append(row)
    return found


def read_books(signal: str) -> list[Book]:
    """Every book, with the methods that are both measured and judged."""
    books = []
    for path in sorted(MEASURED.glob("*.jsonl")):
        kept = {row["method"]: row[signal] for row in _read_rows(path)}
        values = _read_values(JUDGED / f"{path.stem}.jsonl.gz")
        methods = [method for method in kept if method in values]
        u = 1 - np.array([kept[method] for method in methods]) / kept["identity"]
        losses = np.stack([values["identity"] - values[method] for method in methods])
        books.append(Book(path.stem, methods, u, losses))
    return books


@lru_cache
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


def _knots(curve: LossCurve) -> dict[str, list[float]]:
    u = 1 - np.array(KNOTS)
    expected = curve.expected(u)
    reach = curve.reach(u)
    return {
        "agreement": list(KNOTS),
        "expected": expected.round(4).tolist(),
        "low": (expected - reach).round(4).tolist(),
        "high": (expected + reach).round(4).tolist(),
    }


def fit_curve(books: list[Book]) -> LossCurve:
    """The curve of all books. Its width holds COVERED % of the losses of each book, predicted from the others."""
    widths = []
    for book in books:
        others = [other for other in books if other is not book]
        errors = np.abs(book.loss - _least_squares(others).expected(book.u))
        widths.append(np.percentile(errors / (NARROWEST + np.abs(book.u)), COVERED))
    return _least_squares(books)._replace(width=float(max(widths)))


def _least_squares(books: list[Book]) -> LossCurve:
    """The curve without a width; every book has the same weight."""
    rows, losses = [], []
    for book in books:
        weight = 1 / np.sqrt(len(book.u))
        rows.append(np.stack([book.u, book.u * np.abs(book.u)], axis=1) * weight)
        losses.append(book.loss * weight)
    a, b = nnls(np.concatenate(rows), np.concatenate(losses))[0]
    return LossCurve(float(a), float(b))


def compare(book: Book, curve: LossCurve) -> dict[str, Any]:
    """How well a curve that does not know a book predicts its losses, and how well they are known.

    beyond_noise      methods whose true loss is more than CERTAIN standard errors from 0
    pairs_told_apart  share of the pairs of methods whose true losses differ by more than CERTAIN standard errors of
                      their difference; by chance alone it would be about 0.05
    pairs_in_order    share of those pairs that are predicted in their true order
    """
    predicted = curve.expected(book.u)
    error = book.loss - predicted
    is_inside = np.abs(error) <= curve.reach(book.u)
    is_beyond_noise = np.abs(book.loss) > CERTAIN * book.standard_error
    told_apart, in_order = _pairs(book, predicted)
    return {
        "methods": len(book.methods),
        "spearman": round(_spearman(predicted, book.loss), 3),
        "ceiling": round(_ceiling(book), 3),
        "inside": round(float(is_inside.mean()), 3),
        "mean_error": round(float(error.mean()), 4),
        "mean_absolute_error": round(float(np.abs(error).mean()), 4),
        "spread_of_losses": round(float(book.loss.std()), 4),
        "standard_error": round(float(np.median(book.standard_error)), 4),
        "beyond_noise": int(is_beyond_noise.sum()),
        "pairs_told_apart": round(told_apart, 3),
        "pairs_in_order": round(in_order, 3),
    }


def _pairs(book: Book, predicted: Values) -> tuple[float, float]:
    """The share of the pairs of methods that the questions tell apart, and of these, of those predicted in order."""
    count = len(book.methods)
    questions = book.losses.shape[1]
    told_apart = 0
    in_order = 0
    for number in range(1, count):
        differences = book.losses[:number] - book.losses[number]
        mean = differences.mean(axis=1)
        standard_error = differences.std(axis=1, ddof=1) / np.sqrt(questions)
        is_told_apart = np.abs(mean) > CERTAIN * standard_error
        is_in_order = np.sign(mean) == np.sign(predicted[:number] - predicted[number])
        told_apart += int(is_told_apart.sum())
        in_order += int((is_told_apart & is_in_order).sum())
    return told_apart / (count * (count - 1) / 2), in_order / max(1, told_apart)


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
        return
    LOSS_MAP.write_text(json.dumps(fit(), indent=1) + "\n")
    found = {signal: validate(signal) for signal in SIGNALS}
    VALIDATION.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
