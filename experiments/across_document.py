"""What repeats on the pages of a document, stored once: bytes and nDCG@5 on the judged books, against `height`.

    python experiments/across_document.py books VECTORS --data DATA    -> results/across/BOOK.json.gz
    python experiments/across_document.py images VECTORS               -> results/across/images.json
    python experiments/across_document.py table                        prints the tables of docs/results.md

Of books, DATA has their judgements, and VECTORS a folder for each book with `pages` and `queries`, as `adamerge
evaluate run experiments/books.toml` leaves them in vectors/minilm. A book that is measured already is passed over. Of
image patches, VECTORS has the sets of experiments/images.py. They have no judgements, so agreement is measured, by
drawn queries.

Every page is merged by `height`. Rows that many pages of a document have are then taken out of the pages and stored
once:

1. Two rows are alike where Ward would merge them below the height `alike`: where their distance is no larger.
2. Leaders are rows of a sample of pages, those that most pages have a row alike to come first, no two leaders alike.
3. Every row of every page goes to its nearest leader, if it is alike. A leader with rows on the wanted share of all
   pages becomes a shared row: the mean of its rows, of unit length. The other rows stay with their pages.

A page is scored by its own rows and by shared ones: those that were taken out of it ("its own", which costs two bytes
for each reference), or all of its document ("all"). The control is `height` at the height that leaves no more bytes.
"""

import argparse
import gzip
import json
import logging
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from adamerge.arrays import Bools, Doubles, Floats, Longs
from adamerge.compress import Identity
from adamerge.evaluate import load_dataset
from adamerge.evaluate.analysis.statistical_tests import bootstrap
from adamerge.evaluate.data import Dataset
from adamerge.evaluate.experiment.measures import MEASURE, measure_queries
from adamerge.fidelities import Drawing, draw_queries, measures
from adamerge.fidelities.bootstrap import mean_by_page
from adamerge.plans import spread
from adamerge.plans.linked_pages import LinkedPages, link_pages
from adamerge.search.score_matrix import StackedQueries, score_pages, stack_queries
from adamerge.types import Compressed
from adamerge.vectors import open_shards, read_vectors

MEASURED = Path(__file__).parent.parent / "results" / "across"
SAMPLE = 60  # pages of a document in which leaders are looked for
REFERENCE_BYTES = 2  # of a page to a shared row
FLOAT16_BYTES = 2
TOP = 5  # of the 14 to 20 pages of an image set
KINDS = ("its own", "all")
RULE_HEAD = ("h", "share of pages", "alike")
RESULT_HEAD = ("`height`", "difference")
BOOK_HEAD = (*RULE_HEAD, "shared rows", "scored by", "bytes saved", "nDCG@5", *RESULT_HEAD)
IMAGE_HEAD = ("set", *RULE_HEAD, "shared rows", "bytes saved", "agreement", *RESULT_HEAD)


@dataclass(frozen=True)
class Rule:
    """What counts as repeated.

    h      Ward height up to which each page is merged
    share  of the pages of the document that have a row like it
    alike  largest distance of two rows that are alike
    """

    h: float
    share: float
    alike: float


RULES = (
    Rule(h=1.0, share=0.5, alike=0.6),
    Rule(h=1.0, share=0.2, alike=0.6),
    Rule(h=1.0, share=0.05, alike=0.6),
    Rule(h=1.0, share=0.2, alike=0.8),
    Rule(h=1.0, share=0.05, alike=0.8),
    Rule(h=1.4, share=0.05, alike=0.6),
)

IMAGE_RULES = (
    Rule(h=1.0, share=0.5, alike=0.6),
    Rule(h=1.0, share=0.2, alike=0.6),
    Rule(h=1.0, share=0.2, alike=0.8),
    Rule(h=1.4, share=0.2, alike=0.8),
)


@dataclass(frozen=True, eq=False)
class Shared:
    """The shared rows of a document (s, d), and for each page the shared row of each of its rows; -1 for none."""

    vectors: Floats
    of_rows: list[Longs]

    def references(self) -> int:
        """How many pairs of a page and a shared row there are."""
        return sum(len(self.of_page(number)) for number in range(len(self.of_rows)))

    def of_page(self, number: int) -> Longs:
        """The shared rows that a page had, each once."""
        found = np.unique(self.of_rows[number])
        return found[found >= 0]


# ----------------------------------------------------------------------------------------------- repeated rows


def find_shared(pages: Sequence[Compressed], rule: Rule) -> Shared:
    """The rows that the wanted share of pages have."""
    leaders = _find_leaders(pages, rule)
    nearest = [_nearest_leader(page.vectors, leaders, rule.alike) for page in pages]

    pages_of = np.zeros(len(leaders), np.int64)
    sums = np.zeros(leaders.shape)
    for page, of_rows in zip(pages, nearest, strict=True):
        has_leader = of_rows >= 0
        pages_of[np.unique(of_rows[has_leader])] += 1
        np.add.at(sums, of_rows[has_leader], page.vectors[has_leader])

    is_shared = pages_of >= rule.share * len(pages)
    number_of = np.full(len(leaders) + 1, -1)  # the last entry answers for "no leader"
    number_of[np.flatnonzero(is_shared)] = np.arange(is_shared.sum())
    return Shared(_unit(sums[is_shared]), [number_of[of_rows] for of_rows in nearest])


def _find_leaders(pages: Sequence[Compressed], rule: Rule) -> Floats:
    """Rows of a sample to which the wanted share of its pages have a row alike, no two of them alike: (leaders, d)."""
    sample = [pages[number].vectors for number in spread(len(pages), SAMPLE)]
    rows = _unit(np.concatenate(sample))
    similar = _cosine_at(rule.alike)

    pages_of = np.zeros(len(rows), np.int64)
    for vectors in sample:
        best = (rows @ _unit(vectors).T).max(axis=1)
        pages_of += best >= similar

    is_free: Bools = pages_of >= rule.share * len(sample)
    leaders = []
    for row in np.argsort(-pages_of, kind="stable"):
        if is_free[row]:
            leaders.append(rows[row])
            is_free &= rows @ rows[row] < similar
    return np.reshape(leaders, (-1, rows.shape[1])).astype(np.float32)


def _nearest_leader(vectors: Floats, leaders: Floats, alike: float) -> Longs:
    """The nearest leader of each row, -1 where even that is not alike: (m,)."""
    if not len(leaders):
        return np.full(len(vectors), -1)
    cosines = _unit(vectors) @ leaders.T
    nearest = cosines.argmax(axis=1)
    return np.where(cosines.max(axis=1) >= _cosine_at(alike), nearest, -1)


def _cosine_at(distance: float) -> float:
    """The cosine of two vectors of length 1 at a distance."""
    return 1 - distance**2 / 2


def _unit(vectors: Floats | Doubles) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)


def with_shared(pages: Sequence[Compressed], shared: Shared, kind: str) -> Iterator[Compressed]:
    """Every page as it is scored: the rows that it keeps, and shared ones."""
    for number, page in enumerate(pages):
        own = page.vectors[shared.of_rows[number] < 0]
        added = shared.vectors
        if kind == "its own":
            added = shared.vectors[shared.of_page(number)]
        yield replace(page, vectors=np.concatenate([own, added]), groups=np.empty(0, np.int64))


def shared_bytes(pages: Sequence[Compressed], shared: Shared, kind: str) -> float:
    """Bytes a page in float16: the rows that pages keep, shared rows once, and references to them."""
    rows = len(shared.vectors)
    for page, of_rows in zip(pages, shared.of_rows, strict=True):
        rows += int((of_rows < 0).sum()) + page.extra_rows
    total = rows * FLOAT16_BYTES * pages[0].vectors.shape[1]
    if kind == "its own":
        total += REFERENCE_BYTES * shared.references()
    return total / len(pages)


def mean_rows(pages: Sequence[Compressed]) -> float:
    """Rows of a page on average, extra included."""
    return float(np.mean([len(page) + page.extra_rows for page in pages]))


# ------------------------------------------------------------------------------------------------------- books


@dataclass(frozen=True, eq=False)
class Book:
    """A judged book as an encoder sees it, every page linked once."""

    dataset: Dataset
    linked: LinkedPages
    queries: StackedQueries
    workers: int

    def measure(self, pages: Sequence[Compressed] | Iterator[Compressed]) -> Doubles:
        """The nDCG@5 of every query."""
        scores = score_pages(self.queries, pages, self.workers)
        names = list(self.dataset.queries)
        values = measure_queries(scores, names, self.dataset.page_ids, self.dataset.judgements)
        return values[MEASURE]


def read_book(data: Path, folder: Path, workers: int) -> Book:
    """A book with its vectors."""
    dataset = load_dataset(folder.name, data)
    pages = {page.id: page for page in open_shards(folder / "pages").pages()}
    queries = {query.id: query for query in open_shards(folder / "queries").pages()}
    in_order = [pages[id] for id in dataset.page_ids]
    asked = stack_queries(queries[name] for name in dataset.queries)
    return Book(dataset, link_pages(in_order, None, workers), asked, workers)


def measure_rule(book: Book, rule: Rule) -> list[dict[str, Any]]:
    """Both kinds of shared rows and their controls: bytes, and the nDCG@5 of every query."""
    pages = book.linked.compress(rule.h, book.workers)
    shared = find_shared(pages, rule)
    row_bytes = FLOAT16_BYTES * pages[0].vectors.shape[1]
    found = []
    for kind in KINDS:
        size = shared_bytes(pages, shared, kind)
        h = book.linked.height_for(size / row_bytes)
        if h is None:
            raise ValueError(f"no height leaves {size:,.0f} bytes a page")
        control = book.linked.compress(h, book.workers)
        found.append(
            {
                **asdict(rule),
                "kind": kind,
                "shared_rows": len(shared.vectors),
                "bytes_before": round(mean_rows(pages) * row_bytes),
                "bytes": round(size),
                "values": book.measure(with_shared(pages, shared, kind)).round(4).tolist(),
                "control_h": h,
                "control_bytes": round(mean_rows(control) * row_bytes),
                "control_values": book.measure(control).round(4).tolist(),
            }
        )
        logging.info("%s %s: %s", book.dataset.name, rule, " | ".join(_book_cells(found[-1:])))
    return found


def measure_books(data: Path, vectors: Path, workers: int) -> None:
    """Measure every book that is not measured yet."""
    MEASURED.mkdir(parents=True, exist_ok=True)
    for folder in sorted(vectors.iterdir()):
        path = MEASURED / f"{folder.name}.json.gz"
        if path.exists():
            continue
        book = read_book(data, folder, workers)
        found = [one for rule in RULES for one in measure_rule(book, rule)]
        with gzip.GzipFile(path, "wb", mtime=0) as file:
            file.write(json.dumps(found).encode())


# ------------------------------------------------------------------------------------------------------ images


def measure_image_set(folder: Path, workers: int) -> Iterator[dict[str, Any]]:
    """What every rule keeps of the order of a set of image patches, and what its control keeps."""
    pages = list(read_vectors(folder))
    queries = draw_queries(pages, Drawing())
    linked = link_pages(pages, None, workers)
    whole = score_pages(queries, [Identity()(page) for page in pages], workers)
    row_bytes = FLOAT16_BYTES * pages[0].vectors.shape[1]

    for rule in IMAGE_RULES:
        small = linked.compress(rule.h, workers)
        shared = find_shared(small, rule)
        size = shared_bytes(small, shared, "its own")
        control_h = linked.height_for(size / row_bytes) or rule.h

        after = score_pages(queries, with_shared(small, shared, "its own"), workers)
        after_control = score_pages(queries, linked.compress(control_h, workers), workers)
        agreement = measures.agreement(whole, after, TOP)
        control_agreement = measures.agreement(whole, after_control, TOP)
        difference = mean_by_page(agreement - control_agreement, queries.pages, seed=0)
        yield {
            **asdict(rule),
            "set": folder.name,
            "pages": len(pages),
            "shared_rows": len(shared.vectors),
            "bytes_before": round(mean_rows(small) * row_bytes),
            "bytes": round(size),
            "control_h": control_h,
            "agreement": round(float(agreement.mean()), 4),
            "control_agreement": round(float(control_agreement.mean()), 4),
            "difference": round(difference.value, 4),
            "low": round(difference.low, 4),
            "high": round(difference.high, 4),
        }


def measure_images(vectors: Path, workers: int) -> None:
    """Measure every set."""
    found = []
    for folder in sorted(vectors.iterdir()):
        if folder.is_dir():
            found += measure_image_set(folder, workers)
    MEASURED.mkdir(parents=True, exist_ok=True)
    (MEASURED / "images.json").write_text(json.dumps(found, indent=1) + "\n")


# ------------------------------------------------------------------------------------------------------- table


def book_table() -> str:
    """The rules over all books, as Markdown: means over books, differences over all queries."""
    books = []
    for path in sorted(MEASURED.glob("*.json.gz")):
        books.append(json.loads(gzip.decompress(path.read_bytes())))

    rows = []
    for of_books in zip(*books, strict=True):
        rows.append([*_rule_cells(of_books[0]), *_book_cells(of_books)])
    return _markdown(BOOK_HEAD, rows)


def image_table() -> str:
    """The rules on each image set, as Markdown."""
    rows = []
    for found in json.loads((MEASURED / "images.json").read_text()):
        cells = [
            f"{found['shared_rows']}",
            f"{1 - found['bytes'] / found['bytes_before']:.1%}",
            f"{found['agreement']:.3f}",
            f"{found['control_agreement']:.3f}",
            f"{found['difference']:+.3f} [{found['low']:+.3f}, {found['high']:+.3f}]",
        ]
        rows.append([found["set"], *_rule_cells(found), *cells])
    return _markdown(IMAGE_HEAD, rows)


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _rule_cells(found: dict[str, Any]) -> list[str]:
    return [f"{found['h']:g}", f"{found['share']:.0%}", f"{found['alike']:g}"]


def _book_cells(of_books: Sequence[dict[str, Any]]) -> list[str]:
    """One rule on some books."""
    ours = [np.array(book["values"]) for book in of_books]
    theirs = [np.array(book["control_values"]) for book in of_books]
    differences = np.concatenate(ours) - np.concatenate(theirs)
    low, high = bootstrap(differences)
    saved = 1 - np.mean([book["bytes"] / book["bytes_before"] for book in of_books])
    return [
        f"{np.mean([book['shared_rows'] for book in of_books]):.0f}",
        of_books[0]["kind"],
        f"{saved:.1%}",
        f"{np.mean([values.mean() for values in ours]):.4f}",
        f"{np.mean([values.mean() for values in theirs]):.4f}",
        f"{differences.mean():+.4f} [{low:+.4f}, {high:+.4f}]",
    ]


def main() -> None:
    """Read the command line."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=["books", "images", "table"])
    parser.add_argument("vectors", type=Path, nargs="?")
    parser.add_argument("--data", type=Path, help="folder of the books")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.step == "books":
        measure_books(given.data, given.vectors, given.workers)
    elif given.step == "images":
        measure_images(given.vectors, given.workers)
    else:
        sys.stdout.write(f"{book_table()}\n{image_table()}")


if __name__ == "__main__":
    main()
