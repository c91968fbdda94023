"""Many made-up pages in 4 bits: how long a store of them takes to build and to open, its bytes, and its searches.

python benchmarks/million.py                                  50,000 pages in int4 beside int8: some minutes
python benchmarks/million.py --pages 1000000 --folder DISK    a million more: 7.5 GB of that disk, half an hour
python benchmarks/million.py --quick                          a smoke run

A page has 100 vectors of 128 dimensions, each a form of one of 20,000 words. A query is 20 words of a page in other
forms. Pages are made as they are stored, so memory does not grow with them. Each measurement is a process of its own.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from timing import budget, say_missed

import adamerge as am
from adamerge.codes import StoredRows, to_rows, to_vectors
from adamerge.store import Store, base
from adamerge.store.lance.rank import rank_pages
from adamerge.store.lance.store import LanceStore

D = 128
ROWS = 100  # of a page
QUERY = 20  # vectors
WORDS, FORMS = 20_000, 25
NOISE = 0.6  # of a form, as a share of the length of its word
WRITE = 4096  # pages: many commits of 32 pages are another matter
COMPARED = 50_000  # pages that are held in int8 too
PUBLISHED = """
What others publish, not measured here and on other machines:
- fast-plaid: 147 queries a second on FiQA, 57,638 documents (its makers, as others quote them).
- fast-plaid on a CPU: 300 queries on SciFact, 5,183 documents, in 85.9 s, 286 ms each (by the README of lategrep).
"""


class Words:
    """The vectors of all forms of all words, and the same as rows of a dtype."""

    def __init__(self, dtype: str) -> None:
        """Word w has the rows w * FORMS .. (w + 1) * FORMS."""
        rng = np.random.default_rng(0)
        words = _unit(rng.normal(size=(WORDS, 1, D)))
        noise = _unit(rng.normal(size=(WORDS, FORMS, D)))
        self.vectors = _unit(words + NOISE * noise).reshape(-1, D).astype(np.float32)
        self.rows = to_rows(self.vectors, dtype)
        self.rounded = to_vectors(self.rows)

    def page(self, i: int) -> am.Compressed:
        """Page i: common words more often than rare ones."""
        words = words_of(i)
        forms = np.random.default_rng([2, i]).integers(0, FORMS, ROWS)
        places = words * FORMS + forms
        parts = tuple(part[places] for part in self.rows.parts)
        assert self.rows.scales is not None
        rows = StoredRows(self.rows.dtype, D, parts, self.rows.scales[places])
        groups = np.arange(ROWS, dtype=np.int32)
        return am.Compressed(
            self.rounded[places], groups, method="identity", id=f"page {i:07d}", rows=rows
        )

    def query(self, i: int) -> np.ndarray:
        """Some words of page i in other forms."""
        rng = np.random.default_rng([3, i])
        words = rng.choice(words_of(i), QUERY, replace=False)
        return self.vectors[words * FORMS + rng.integers(0, FORMS, QUERY)]


def words_of(i: int) -> np.ndarray:
    """The words of page i, the square of a uniform draw: the first of 20,000 is the most common one."""
    draws = np.random.default_rng([1, i]).random(ROWS)
    return (WORDS * draws**2).astype(np.int64)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def build(path: Path, dtype: str, pages: int) -> str:
    """Make a store, unless it is there, and say how long that took."""
    if path.exists():
        return f"{pages:,} pages in {dtype}: built before"
    words = Words(dtype)
    base.PAGES_PER_WRITE = WRITE
    start = time.perf_counter()
    with am.open_store(path, dtype=dtype) as store:
        store.add(words.page(i) for i in range(pages))
        store.compact(keep=timedelta(0))
        facts = store.facts()
    seconds = time.perf_counter() - start
    return (
        f"{pages:,} pages in {dtype}: built in {seconds:,.0f} s, {facts['bytes in all'] / 1e9:.2f} GB on disk, "
        f"{facts['bytes per page']:,} bytes a page"
    )


# ------------------------------------------------------------------- in processes of their own, with some threads


def queries(pages: int, count: int) -> Iterator[np.ndarray]:
    """The queries of a measurement."""
    words = Words("int8")
    for i in np.random.default_rng(7).integers(0, pages, count).tolist():
        yield words.query(i)


def measure(path: Path, count: int, checked: int) -> dict[str, Any]:
    """Seconds to open, milliseconds of searches, peak memory, and the share of the exact top ten."""
    with am.open_store(path) as store:
        asked = list(queries(len(store), count + 2))
    start = time.perf_counter()
    with am.open_store(path) as store:
        store.search(asked[-1], why=False)
        opened = time.perf_counter() - start
        store.search(asked[-2], why=False)  # from now on codes are in memory, if they fit
        times, candidates = [], []
        for query in asked[:count]:
            times.append(_milliseconds(store, query))
            candidates.append(store.search(query, why=False).candidates)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        shares = [_share(store, query) for query in asked[:checked]]
    return {
        "open": opened,
        "p50": float(np.percentile(times, 50)),
        "p95": float(np.percentile(times, 95)),
        "memory": memory,
        "candidates": float(np.mean(candidates)),
        "share": float(np.mean(shares or [np.nan])),
    }


def _milliseconds(store: Store, query: np.ndarray) -> float:
    start = time.perf_counter()
    store.search(query, why=False)
    return (time.perf_counter() - start) * 1e3


def _share(store: Store, query: np.ndarray) -> float:
    """The share of the exact top ten that a search finds."""
    found = {hit.id for hit in store.search(query, why=False)}
    exact = {hit.id for hit in store.search(query, why=False, exact=True)}
    return len(found & exact) / len(exact)


def compare(int4: Path, int8: Path, count: int) -> dict[str, Any]:
    """Rankings of the same pages in two dtypes, in turns: sign planes and codes, all codes, and all of int8.

    To read the pages that were found takes as long in both, and is left out.
    """
    with LanceStore(int4) as four, LanceStore(int8) as eight:
        asked = list(queries(len(four), count + 2))
        for query in asked[-2:]:
            for store in (four, eight):
                store.search(query, why=False)
        works = {"signs": (four, False), "int4 exact": (four, True), "int8 exact": (eight, True)}
        walls: dict[str, list[float]] = {name: [] for name in works}
        cpus: dict[str, list[float]] = {name: [] for name in works}
        for query in asked[:count]:
            for name, (store, exact) in works.items():
                snapshot = store._table.required()
                loaded = store._cache.update(snapshot)
                wall, cpu = time.perf_counter(), time.process_time()
                rank_pages(snapshot, loaded, "", [query], 10, exact)
                walls[name].append((time.perf_counter() - wall) * 1e3)
                cpus[name].append((time.process_time() - cpu) * 1e3)
    found: dict[str, Any] = {}
    for name, each in walls.items():
        found[name] = {"p50": float(np.percentile(each, 50)), "p95": float(np.percentile(each, 95))}
        found[name]["cpu"] = float(np.percentile(cpus[name], 50))
    return found


def in_process(threads: int, *words: object) -> dict[str, Any]:
    """What a measurement gives in a process that may use some cores."""
    command = [sys.executable, __file__, "--threads", str(threads), *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


# --------------------------------------------------------------------------------------------------------- tables


def show_comparison(folder: Path, pages: int, count: int) -> None:
    """int4 by sign planes beside exact search, on one and two threads."""
    int4, int8 = folder / f"{pages}-int4", folder / f"{pages}-int8"
    print(build(int4, "int4", pages))
    print(build(int8, "int8", pages), flush=True)
    print("\n| threads | search | p50, ms | p95, ms | p50 of CPU, ms |\n|---|---|---|---|---|")
    for threads in (1, 2):
        found = in_process(threads, "--count", count, "--compare", int4, int8)
        for name, ms in found.items():
            cells = f"{ms['p50']:.1f} | {ms['p95']:.1f} | {ms['cpu']:.1f}"
            print(f"| {threads} | {name} | {cells} |", flush=True)
    # of CPU, which other processes change less
    ratio = found["int8 exact"]["cpu"] / found["signs"]["cpu"]
    print("\n" + budget(f"{pages:,} pages, exact int8 / sign planes and int4", ratio, 3))
    share = in_process(2, "--count", 5, "--checked", count, "--measure", int4)["share"]
    print(f"share of the exact top ten of int4 (made-up pages have many near ties): {share:.2f}")


def show_many(folder: Path, pages: int, count: int, checked: int) -> None:
    """One large store: to build it, to open it, to search it."""
    path = folder / f"{pages}-int4"
    print("\n" + build(path, "int4", pages), flush=True)
    print("\n| threads | open, s | p50, ms | p95, ms | memory, GB | candidates | of the top ten |")
    print("|" + "---|" * 7)
    for threads in (1, 2):
        found = in_process(threads, "--count", count, "--checked", checked, "--measure", path)
        times = f"{found['open']:.1f} | {found['p50']:.0f} | {found['p95']:.0f}"
        rest = f"{found['memory'] / 1e9:.2f} | {found['candidates']:.0f} | {found['share']:.3f}"
        print(f"| {threads} | {times} | {rest} |", flush=True)
    print(
        "\n"
        + budget(f"{pages:,} pages, two threads, p50 in seconds", found["p50"] / 1e3, at_most=1)
    )
    print(budget(f"{pages:,} pages, memory in GB", found["memory"] / 1e9, at_most=8))


def main() -> None:
    """Run it all; exit 1 if a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=0, help="of one more store, a large one")
    parser.add_argument("--folder", type=Path, help="for the stores; they stay there")
    parser.add_argument("--count", type=int, default=40, help="searches")
    parser.add_argument(
        "--checked", type=int, default=10, help="searches that are compared with exact ones"
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--compare", type=Path, nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()

    if asked.threads:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: asked.threads])
        if asked.compare:
            print(json.dumps(compare(*asked.compare, asked.count)))
        else:
            print(json.dumps(measure(asked.measure, asked.count, asked.checked)))
        return

    compared, count = (6_000, 3) if asked.quick else (COMPARED, asked.count)
    with TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        print(f"## {ROWS} vectors of {D} a page, queries of {QUERY}\n")
        show_comparison(folder, compared, count)
        if asked.pages:
            show_many(folder, asked.pages, count, asked.checked)
    print(PUBLISHED)
    say_missed()


if __name__ == "__main__":
    main()
