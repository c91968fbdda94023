"""How much of the exact top ten is left when pages are stored as int8: on your own vectors, with real queries.

adamerge encode books/*.pdf -o vectors
python benchmarks/int8.py vectors books/*.pdf

Queries are sentences of the same files, encoded by the encoder that made the folder.
"""

import argparse
import re
import sys
from collections.abc import Iterable

import numpy as np
from timing import MISSED, budget

import adamerge as am
from adamerge import kernels
from adamerge.vectors.shards import open_shards

METHODS = ["identity", "adamerge:k=none", "adamerge:k=none,c_min=0.6,unit=true", "adamerge"]
TOP = 10


def sentences(files: Iterable[str], count: int) -> list[str]:
    """Sentences of 4 to 14 words, at most one of a page, drawn by chance."""
    rng = np.random.default_rng(0)
    found = []
    for page in am.read_pages(files, dpi=10):  # the words are wanted, not the picture
        text = " ".join(word.text for word in page.words)
        fit = [s for s in re.split(r"(?<=[.?!])\s", text) if 4 <= len(s.split()) <= 14]
        found += [str(rng.choice(fit))] if fit else []
    return [found[i] for i in rng.permutation(len(found))[:count]]


def best(scores: np.ndarray) -> np.ndarray:
    """The first TOP pages of every query."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :TOP]


def measure(folder: str, method: str, query: np.ndarray, offsets: np.ndarray) -> float:
    """Print a row for one method; the share of the exact top ten that int8 keeps."""
    small = [page.stored for page in am.compress_pages(am.read_vectors(folder), method, workers=2)]
    vectors, ends = np.concatenate(small), np.cumsum([len(page) for page in small])
    begins = np.r_[0, ends[:-1]]
    exact = kernels.maxsim(query, offsets, vectors, None, begins, ends, 2)
    bytes_, scales = kernels.quantise(vectors)
    rounded = kernels.maxsim(query, offsets, bytes_, scales, begins, ends, 2)
    pairs = list(zip(best(exact), best(rounded), strict=True))
    kept = float(np.mean([len(np.intersect1d(a, b)) / len(a) for a, b in pairs]))
    first = float(np.mean([a[0] == b[0] for a, b in pairs]))
    error = np.abs(rounded - exact).max()
    print(
        f"| `{method}` | {len(small):,} | {len(vectors):,} | {kept:.4f} | {first:.4f} | {error:.3f} |",
        flush=True,
    )
    return kept


def main() -> None:
    """A row per method; exit 1 if int8 keeps less than 0.99 of a top ten."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vectors", help="a folder that `adamerge encode` wrote")
    parser.add_argument(
        "files", nargs="+", help="what it was made of: sentences are drawn from their text"
    )
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--method", action="append", help=f"default: {' '.join(METHODS)}")
    asked = parser.parse_args()
    texts = sentences(asked.files, asked.queries)
    encoder = am.load_encoder(open_shards(asked.vectors).manifest.encoder["name"])
    queries = encoder.encode_queries(texts)
    offsets = np.r_[0, np.cumsum([len(query) for query in queries])]
    print(f"{len(queries)} queries of {offsets[-1] / len(queries):.0f} vectors on average\n")
    print("| method | pages | vectors | of the top ten | of the first | largest error of a score |")
    print("|---|---|---|---|---|---|")
    methods = asked.method or METHODS
    kept = [measure(asked.vectors, method, np.concatenate(queries), offsets) for method in methods]
    print(
        "\n"
        + budget("int8 pages keep of the exact top ten, at the least", min(kept), at_least=0.99)
    )
    if MISSED:
        sys.exit("missed: " + "; ".join(MISSED))


if __name__ == "__main__":
    main()
