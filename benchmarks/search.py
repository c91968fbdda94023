"""What a search costs and what it keeps: bytes, latency and the top ten, of stores of your own pages.

adamerge encode books/*.pdf -o vectors
python benchmarks/search.py vectors --files books/*.pdf

Queries are sentences of the same files, encoded by the encoder that made the folder. "of identity" is the share of the
exact top ten of uncompressed pages that a search finds; "of exact" the same against all pages of the same store.
"""

import argparse
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from int8 import TOP, sentences

import adamerge as am
from adamerge.vectors.shards import open_shards

STORES = [
    ("identity", "float16"),
    ("adamerge:k=none", "float16"),
    ("adamerge:k=none", "int8"),
    ("adamerge", "float16"),
]
STORES += [("adamerge", "int8")]
HEAD = "| method | dtype | vectors | vectors, MB | store, MB | search | p50, ms | p95, ms | of identity | of exact |"

Tops = list[set[str]]


def pages(folders: list[str], method: str) -> Iterator[am.Compressed]:
    """The pages of all folders, compressed."""
    return am.compress_pages(chain.from_iterable(map(am.read_vectors, folders)), method)


def ask(
    store: am.Store, queries: list[np.ndarray], exact: bool
) -> tuple[Tops, list[float], list[int]]:
    """Top ten, milliseconds and candidates of every query; the first one is asked twice, since it reads the vectors."""
    store.search(queries[0], TOP, exact=exact, why=False)
    tops, times, candidates = [], [], []
    for query in queries:
        start = time.perf_counter()
        found = store.search(query, TOP, exact=exact, why=False)
        times.append(1e3 * (time.perf_counter() - start))
        tops.append({hit.id for hit in found})
        candidates.append(found.candidates)
    return tops, times, candidates


def agreement(tops: Tops, truth: Tops) -> float:
    """The share of a top ten that another has."""
    return float(np.mean([len(a & b) / len(b) for a, b in zip(tops, truth, strict=True)]))


def measure(
    place: Path, name: str, dtype: str, queries: list[np.ndarray], truth: Tops | None
) -> Tops:
    """Print a row for the exact and one for the two-stage search of a store; the exact top tens."""
    with am.open_store(place, memory="100GB") as store:
        facts = store.facts()
        tops, times, _ = ask(store, queries, exact=False)
    with am.open_store(place, memory=0) as store:
        proposed, two, candidates = ask(store, queries, exact=False)
    size = f"{facts['stored']:,} | {facts['bytes of vectors'] / 1e6:.0f} | {facts['bytes in all'] / 1e6:.0f}"
    ways = {
        "exact": (tops, times),
        f"two-stage, {np.median(candidates):.0f} candidates": (proposed, two),
    }
    for way, (found, spent) in ways.items():
        latency = " | ".join(f"{np.percentile(spent, p):.0f}" for p in (50, 95))
        kept = f"{agreement(found, truth or tops):.3f} | {agreement(found, tops):.3f}"
        print(f"| `{name}` | {dtype} | {size} | {way} | {latency} | {kept} |", flush=True)
    return tops


def main() -> None:
    """Two rows per store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vectors", nargs="+", help="folders that `adamerge encode` wrote")
    parser.add_argument(
        "--files",
        nargs="+",
        required=True,
        help="what they were made of: queries are drawn from it",
    )
    parser.add_argument("--queries", type=int, default=100)
    asked = parser.parse_args()
    encoder = am.load_encoder(open_shards(asked.vectors[0]).manifest.encoder["name"])
    queries = encoder.encode_queries(sentences(asked.files, asked.queries))
    lengths = [len(query) for query in queries]
    print(
        f"{sum(len(open_shards(f)) for f in asked.vectors):,} pages, {len(queries)} queries",
        end=" ",
    )
    print(f"of {np.mean(lengths):.0f} vectors on average\n\n{HEAD}\n|{'---|' * 10}")
    truth = None
    with TemporaryDirectory() as folder:
        for i, (name, dtype) in enumerate(STORES):
            with am.open_store(Path(folder) / str(i), dtype=dtype) as store:
                store.add(pages(asked.vectors, name))
            tops = measure(Path(folder) / str(i), name, dtype, queries, truth)
            truth = truth or tops


if __name__ == "__main__":
    main()
