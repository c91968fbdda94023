"""MaxSim against NumPy, torch and maxsim-cpu: pages of 50 to 150 vectors, one thread unless it says two.

python benchmarks/maxsim.py            a minute or two
python benchmarks/maxsim.py --quick    a smoke run
"""

import argparse
import os
from collections.abc import Callable

os.environ["RAYON_NUM_THREADS"] = "1"  # maxsim-cpu reads it when it is loaded

import maxsim_cpu
import numpy as np
import torch
from threadpoolctl import threadpool_limits
from timing import budget, fastest, say_missed

from adamerge import codes, kernels
from adamerge.codes.levels import LEVELS
from adamerge.codes.maxsim import QUERY_STEPS
from adamerge.codes.rotation import rotate
from adamerge.kernels import _native

SHAPES = [
    (1, 128),
    (10, 128),
    (20, 128),
    (40, 128),
    (200, 128),
    (20, 96),
    (20, 320),
    (20, 384),
    (20, 2048),
]
RATIOS = {  # and their budgets
    ("NumPy fp16", "fp16"): 5,
    ("maxsim-cpu", "fp32"): 2,
    ("torch", "fp32"): 2,
    ("fp16", "int8"): 2,
    ("fp16", "two threads"): 1.8,
    ("int8", "4 bits"): 1,
    ("int8", "2 bits"): 1,
    ("int8", "1 bit"): 2.5,
}
ROUNDED_QUERY = {
    4: 0.01,
    2: 0.1,
    1: 0.2,
}  # what it may change in a score, for each vector of the query
BLOCK = 16  # pages that NumPy turns into float32 at a time: 0.8 MB, and faster than blocks that leave the cache


class Pages:
    """Made-up pages of unit vectors in every dtype, and one query of q vectors."""

    def __init__(self, pages: int, q: int, d: int) -> None:
        """Rows lie in the order of the pages."""
        rng = np.random.default_rng(0)
        self.sizes = rng.integers(50, 151, pages)
        self.offsets = np.r_[0, np.cumsum(self.sizes)].astype(np.int64)
        self.vectors, self.query = unit(rng, self.offsets[-1], d), unit(rng, q, d)
        self.halves = self.vectors.astype(np.float16)
        self.bytes, self.scales = kernels.quantise(self.vectors)
        self.rotated = rotate(self.query)
        self.codes = {bits: codes.encode(self.vectors, bits) for bits in (4, 2, 1)}

    def ours(self, vectors: np.ndarray, threads: int = 1, isa: str | None = None) -> np.ndarray:
        """Scores by our kernel."""
        scales = self.scales if vectors.dtype == np.int8 else None
        begins, ends = self.offsets[:-1], self.offsets[1:]
        offsets = np.array([0, len(self.query)])
        return _native.maxsim(self.query, offsets, vectors, scales, begins, ends, threads, isa=isa)[
            0
        ]

    def of_codes(self, bits: int, isa: str | None = None) -> np.ndarray:
        """Scores by our kernel of pages in few bits; the query is rotated already."""
        pages = self.codes[bits]
        return _native.maxsim_planes(
            self.rotated,
            np.array([0, len(self.query)]),
            list(pages.planes),
            LEVELS[bits].values.astype(np.int8),
            pages.scales,
            self.offsets[:-1],
            self.offsets[1:],
            QUERY_STEPS[bits],
            1,
            isa=isa,
        )[0]

    def numpy(self) -> np.ndarray:
        """Scores of the float16 pages by NumPy."""
        out = []
        for at in range(0, len(self.sizes), BLOCK):
            offsets = self.offsets[at : at + BLOCK + 1]
            block = self.halves[offsets[0] : offsets[-1]].astype(np.float32)
            out.append(
                np.maximum.reduceat(self.query @ block.T, offsets[:-1] - offsets[0], axis=1).sum(
                    axis=0
                )
            )
        return np.concatenate(out)

    def agrees(self, name: str, scores: np.ndarray) -> bool:
        """Whether these are the scores of the float32 pages, but for the rounding of int8.

        Scores of codes are compared with those of the decoded pages, but for the rounding of the query.
        """
        vectors, error = self.vectors, 0.01
        if name.endswith(("bits", "bit")):
            bits = int(name[0])
            vectors, error = codes.decode(self.codes[bits]), ROUNDED_QUERY[bits]
        return np.allclose(scores, self.ours(vectors), atol=error * len(self.query) ** 0.5)

    def peers(self) -> dict[str, Callable[[], np.ndarray]]:
        """Everything that is compared."""
        vectors, query = torch.from_numpy(self.vectors), torch.from_numpy(self.query)
        lengths = torch.from_numpy(self.sizes)
        lists = np.split(self.vectors, self.offsets[1:-1])
        peers = {
            "fp32": lambda: self.ours(self.vectors),
            "fp16": lambda: self.ours(self.halves),
            "int8": lambda: self.ours(self.bytes),
            "4 bits": lambda: self.of_codes(4),
            "2 bits": lambda: self.of_codes(2),
            "1 bit": lambda: self.of_codes(1),
            "two threads": lambda: self.ours(self.halves, threads=2),
            "NumPy fp16": self.numpy,
            "torch": lambda: (
                torch.segment_reduce(vectors @ query.T, "max", lengths=lengths).sum(1).numpy()
            ),
        }
        if (
            len(self.query) <= 32 and self.query.shape[1] <= 128
        ):  # maxsim-cpu 0.1.0 is wrong at q = 33 and d = 320
            peers["maxsim-cpu"] = lambda: maxsim_cpu.maxsim_scores_variable(self.query, lists)
        return peers


def unit(rng: np.random.Generator, rows: int, d: int) -> np.ndarray:
    """Rows of unit length."""
    vectors = rng.normal(size=(rows, d)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def compare(pages: int, seconds: float) -> None:
    """A row per query length and dimension, then the budgets at q = 20, d = 128."""
    print(f"## MaxSim: {pages:,} pages of 50 to 150 vectors (fewer above d = 384)\n")
    print(
        f"| q | d | fp32, ms | fp16, ms | int8, ms | {' | '.join(f'{a} / {b}' for a, b in RATIOS)} |"
    )
    print("|" + "---|" * (5 + len(RATIOS)))
    kept = {}
    for q, d in SHAPES:
        these = Pages(pages if d <= 384 else pages * 384 // d, q, d)
        peers = these.peers()
        for name, scores in peers.items():
            assert these.agrees(name, scores()), f"{name} scores otherwise"
        ms = fastest(peers, seconds)
        kept[q, d] = {(a, b): ms[a] / ms[b] for a, b in RATIOS if a in ms}
        cells = [f"{kept[q, d][pair]:.1f}" if pair in kept[q, d] else "" for pair in RATIOS]
        times = [f"{ms[name]:.2f}" for name in ("fp32", "fp16", "int8")]
        print(f"| {q} | {d} | {' | '.join(times + cells)} |", flush=True)
    print()
    for (a, b), at_least in RATIOS.items():
        print(budget(f"MaxSim, q=20, d=128, {a} / {b}", kept[20, 128][a, b], at_least))


def instruction_sets(pages: int, seconds: float) -> None:
    """Milliseconds of every instruction set at q = 20, d = 128."""
    these = Pages(pages, 20, 128)
    print("\n| instruction set | fp32, ms | fp16 | int8 | 4 bits | 2 bits | 1 bit |")
    print("|" + "---|" * 7)
    for isa in _native.instruction_sets():
        kinds = {"fp32": these.vectors, "fp16": these.halves, "int8": these.bytes}
        works = {name: lambda x=x, isa=isa: these.ours(x, isa=isa) for name, x in kinds.items()}
        for bits in these.codes:
            works[f"{bits} bits"] = lambda bits=bits, isa=isa: these.of_codes(bits, isa)
        ms = fastest(works, seconds)
        print(f"| {isa} | {' | '.join(f'{time:.2f}' for time in ms.values())} |", flush=True)


def main() -> None:
    """Run it all; exit 1 if a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    pages, seconds = (200, 0.02) if quick else (2000, 1.0)
    torch.set_num_threads(1)
    with threadpool_limits(1):
        compare(pages, seconds)
        instruction_sets(pages, seconds)
    say_missed()


if __name__ == "__main__":
    main()
