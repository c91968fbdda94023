"""The constants of `adamerge plan`: how long this machine takes to link, to store, to search and to encode.

python benchmarks/speeds.py            two minutes; writes src/adamerge/plans/speeds.json
python benchmarks/speeds.py --quick    a smoke run; writes nothing

Each store is built twice, with pages of few and of many rows: two sizes give the line of time by numbers. All cores
work, as they do in `index` and `search`. Of searches and of links the best of many runs counts.
"""

import argparse
import json
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pages import page
from timing import best

import adamerge as am
from adamerge.evaluate.experiment.compute_cell import machine
from adamerge.plans import DTYPES
from adamerge.plans.sources import sample_files
from adamerge.plans.speeds import VERSION
from adamerge.store import base
from adamerge.threads import cores

ROOT = Path(__file__).parent.parent
SPEEDS = ROOT / "src" / "adamerge" / "plan" / "speeds.json"
REPORT = ROOT / "examples" / "report.pdf"

D = 128
QUERY = 20  # vectors
FEW_ROWS, MANY_ROWS = 20, 200  # of a page
PAGES = 6_000  # as many as sign planes are used for, and more
WORDS = 20_000
FORM_NOISE = 0.6  # of a form of a word, as a share of the length of the word
LINKED = (370, 747)  # patches of pages that are merged


def link_ps(seconds: float) -> float:
    """Picoseconds to merge a page of n patches, by n x n x d: the mean of two sizes."""
    found = []
    for n in LINKED:
        pages = [page(n, D, seed) for seed in range(16)]
        ms = best(lambda pages=pages: list(am.compress_pages(pages, "height")), seconds)
        found.append(ms * 1e9 / (len(pages) * n * n * D))
    return float(np.mean(found))


def made_up_pages(count: int, rows: int) -> Iterator[am.Compressed]:
    """Pages of words, common ones more often than rare ones, each word in a form of its own."""
    rng = np.random.default_rng(0)
    for number in range(count):
        vectors = _forms(_words(number, rows), rng)
        yield am.compress(am.MultiVector(vectors, id=f"page {number}"), method="identity")


def made_up_query(rows: int) -> np.ndarray:
    """The words of the first page in other forms; a query of random rows would never settle."""
    words = np.resize(_words(0, rows), QUERY)
    return _forms(words, np.random.default_rng(1))


def _words(number: int, rows: int) -> np.ndarray:
    draws = np.random.default_rng([2, number]).random(rows)
    return (WORDS * draws**2).astype(np.int64)


def _forms(words: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    vectors = VOCABULARY[words] + FORM_NOISE * _unit(rng.normal(size=(len(words), D)))
    return _unit(vectors).astype(np.float32)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def store_and_search(folder: Path, dtype: str, count: int, rows: int, runs: int) -> dict[str, Any]:
    """Seconds to store pages of so many rows, and the milliseconds of a search among them."""
    pages = list(made_up_pages(count, rows))
    query = made_up_query(rows)
    start = time.perf_counter()
    with am.open_store(folder, dtype=dtype) as store:
        store.add(pages)
        stored = time.perf_counter() - start

        times = []
        for _ in range(runs):
            start = time.perf_counter()
            store.search(query, why=False)
            times.append(time.perf_counter() - start)
    return {"numbers": rows * D, "store": stored / count, "search": min(times)}


def lines(dtype: str, count: int, runs: int) -> tuple[dict[str, float], dict[str, float]]:
    """The lines of a search and of storing a page, through stores of two sizes."""
    found = []
    for rows in (FEW_ROWS, MANY_ROWS):
        with TemporaryDirectory() as folder:
            found.append(store_and_search(Path(folder) / "store", dtype, count, rows, runs))
    few, many = found
    more = many["numbers"] - few["numbers"]

    search_slope = max(0.0, (many["search"] - few["search"]) / (more * count))
    search_fixed = max(0.0, few["search"] - search_slope * few["numbers"] * count)
    store_slope = max(0.0, (many["store"] - few["store"]) / more)
    store_fixed = max(0.0, few["store"] - store_slope * few["numbers"])
    search = {"ms": _short(search_fixed * 1e3), "ns_per_number": _short(search_slope * 1e9)}
    store = {"us_per_page": _short(store_fixed * 1e6), "ns_per_number": _short(store_slope * 1e9)}
    return search, store


def encode_seconds() -> dict[str, float]:
    """Seconds to read and encode a page of a PDF with the encoder that needs no GPU."""
    encoder = am.load_encoder("minilm")
    sample_files([REPORT], encoder, 1)  # loads what is loaded once
    start = time.perf_counter()
    pages = sample_files([REPORT], encoder, 100)
    return {"minilm": _short((time.perf_counter() - start) / len(pages))}


def measure(count: int, runs: int, seconds: float) -> dict[str, Any]:
    """All constants, as speeds.json has them."""
    base.PAGES_PER_WRITE = 4096  # many commits of 32 pages are another matter
    search, store = {}, {}
    for dtype in DTYPES:
        search[dtype], store[dtype] = lines(dtype, count, runs)
        print(f"{dtype}: search {search[dtype]}, store {store[dtype]}", flush=True)
    return {
        "version": VERSION,
        "date": date.today().isoformat(),
        "machine": machine(),
        "cores": cores(),
        "query_vectors": QUERY,
        "link_ps_per_number": _short(link_ps(seconds)),
        "search": search,
        "store": store,
        "encode_seconds_per_page": encode_seconds(),
    }


def _short(value: float) -> float:
    """Three digits: more would say nothing."""
    return float(f"{value:.3g}")


VOCABULARY = _unit(np.random.default_rng(3).normal(size=(WORDS, D)))


def main() -> None:
    """Measure, print, and write the file that plans read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    if parser.parse_args().quick:
        print(json.dumps(measure(count=200, runs=3, seconds=0.1)))
        return
    found = measure(PAGES, runs=30, seconds=1.0)
    SPEEDS.write_text(json.dumps(found, indent=1) + "\n")
    print(f"link {found['link_ps_per_number']} ps, encode {found['encode_seconds_per_page']} s")


if __name__ == "__main__":
    main()
