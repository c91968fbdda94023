"""Speed as ratios: what is compared runs in one process, one after the other, on one thread unless it says two.

python benchmarks/run.py            all of it, a few minutes
python benchmarks/run.py --quick    a smoke run
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from pages import page
from peers import LINKAGES, POOLERS, adamerge_with
from threadpoolctl import threadpool_limits
from timing import best, budget, say_missed

import adamerge as am
from adamerge.kernels import _native

METHOD = am.AdaMerge(k=None)
SHAPES = [(128, 128), (280, 128), (370, 128), (747, 128), (1500, 128), (370, 2048)]

# A process counts what its parent held when it was forked, so a small one must start it.
LAUNCH = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def compare(seconds: float) -> dict[tuple[int, int], float]:
    """Full AdaMerge without pruning, against the same with other linkages; whole poolers against Sem-Cluster."""
    print(
        "## One page, one thread: milliseconds of ours, and how many times longer the others take\n"
    )
    heads = [*LINKAGES, *(f"{name} pooler" for name in POOLERS)]
    print(f"| n' | d | AdaMerge, ms | {' | '.join(heads)} |")
    print("|" + "---|" * (3 + len(heads)))
    ours, ratios = {}, {}
    for n, d in SHAPES:
        this, x = page(n, d), np.array(page(n, d).vectors)
        ours[n, d] = best(lambda this=this: METHOD(this), seconds)
        cells = []
        for name, linkage in LINKAGES.items():
            assert (adamerge_with(linkage, this).groups == METHOD(this).groups).all(), (
                f"{name} cuts otherwise"
            )
            ratios[name, n, d] = (
                best(lambda f=linkage, p=this: adamerge_with(f, p), seconds) / ours[n, d]
            )
            cells.append(f"{ratios[name, n, d]:.1f}")
        merge = best(lambda this=this: am.SemCluster(m=4)(this), seconds)
        for name, pooler in POOLERS.items():
            ratios[name, n, d] = best(lambda f=pooler, x=x: f(x), seconds) / merge
            cells.append(f"{ratios[name, n, d]:.1f}")
        print(f"| {n} | {d} | {ours[n, d]:.3f} | {' | '.join(cells)} |", flush=True)
    print()
    print(budget("AdaMerge, n'=370, d=128, against SciPy", ratios["SciPy", 370, 128], at_least=8))
    print(
        budget(
            "AdaMerge, n'=370, d=128, against fastcluster",
            ratios["fastcluster", 370, 128],
            at_least=5,
        )
    )
    if "colpali-engine" in POOLERS:
        print(
            budget(
                "Sem-Cluster, n=747, against colpali-engine",
                ratios["colpali-engine", 747, 128],
                at_least=30,
            )
        )
    if "sentence-transformers" in POOLERS:
        print(
            budget(
                "Sem-Cluster, n=747, against sentence-transformers",
                ratios["sentence-transformers", 747, 128],
                at_least=3.5,
            )
        )
    return ours


def kernel(seconds: float) -> None:
    """The linkage against the matrix product it starts with, and its growth with n."""
    print("\n## The linkage kernel\n")
    x = np.array(page(370).vectors)
    y = x.copy()  # NumPy halves the work of x @ x.T; y makes it the full product
    link = best(lambda: _native.ward(x), seconds)
    print(
        budget(
            "link / matrix product, n'=370, d=128",
            link / best(lambda: x @ y.T, seconds),
            at_most=2.5,
        )
    )
    print(
        f"link / NumPy's symmetric product, half the work: {link / best(lambda: x @ x.T, seconds):.2f}"
    )
    sizes = [128, 180, 256, 370, 512, 747, 1024, 1500]
    pages = [np.array(page(n).vectors) for n in sizes]
    times = [best(lambda x=x: _native.ward(x), seconds / 2) for x in pages]
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    print(budget("growth of the linkage from n'=128 to 1500, exponent", slope, at_most=2.3))
    for isa in _native.instruction_sets():
        print(
            f"{isa}: {best(lambda isa=isa: _native.ward(x, isa=isa), seconds):.3f} ms at n'=370, d=128"
        )


def threads(seconds: float) -> None:
    """Pages per second of the stream on two threads against one."""
    print("\n## Two threads\n")
    pages = [page(747, seed=i) for i in range(20)] * 10

    def rate(workers: int) -> float:
        return best(
            lambda: sum(1 for _ in am.compress_pages(pages, "adamerge:k=none", workers)), seconds
        )

    print(budget("compress_pages on two threads against one", rate(1) / rate(2), at_least=1.85))


def disk(pages: int) -> None:
    """`adamerge compress` from disk to disk against a plain copy of the folder."""
    print(f"\n## Disk to disk: {pages:,} pages of 747 x 128 in float16\n")
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "in"), Path(folder, "out")
        write(source, pages)
        start = time.perf_counter()
        shutil.copytree(source, Path(folder, "copy"))
        copy = time.perf_counter() - start
        took, peak = compress(source, out)
        facts = json.loads(
            subprocess.check_output([sys.executable, "-m", "adamerge", "info", out, "--json"])
        )
        print(
            f"adamerge compress: {took:.1f} s, {pages / took:,.0f} pages/s, peak memory {peak:.0f} MB"
        )
        print(f"copy of the folder: {copy:.2f} s; compress / copy: {took / copy:.1f}")
        print(f"compression {facts['compression']:.1%}, bytes on disk {facts['bytes on disk']:,}")


def memory(sizes: list[int]) -> None:
    """Peak memory of `adamerge compress` does not grow with the number of pages."""
    print("\n## Peak memory\n")
    peaks = []
    for pages in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder, "in"), pages)
            peaks.append(compress(Path(folder, "in"), Path(folder, "out"))[1])
            print(f"{pages:,} pages: {peaks[-1]:.0f} MB", flush=True)
    print(
        budget(
            f"peak memory, {sizes[-1]:,} pages against {sizes[0]:,}",
            peaks[-1] / peaks[0],
            at_most=1.25,
        )
    )


def write(folder: Path, pages: int) -> None:
    """A folder of pages; twenty different ones, over and over."""
    kinds = [page(747, seed=i) for i in range(20)]
    vectors = ((kinds[i % 20].vectors, kinds[i % 20].attention) for i in range(pages))
    am.write_vectors(folder, (am.MultiVector(x, a, id=f"p{i}") for i, (x, a) in enumerate(vectors)))


def compress(source: Path, out: Path) -> tuple[float, float]:
    """Seconds and peak megabytes of one run of the command line."""
    words = [sys.executable, "-m", "adamerge", "compress", str(source), "-o", str(out)]
    start = time.perf_counter()
    peak = subprocess.check_output([sys.executable, "-c", LAUNCH, *words])
    return time.perf_counter() - start, int(peak) / (1024 if sys.platform == "linux" else 1024**2)


def main() -> None:
    """Run it all; exit 1 if a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    seconds = 0.05 if quick else 0.6
    processor = platform.processor() or platform.machine()
    print(f"{processor}, {os.cpu_count()} cores, kernels {_native.instruction_sets()[0]}\n")
    with threadpool_limits(1):
        compare(seconds)
        kernel(seconds)
    threads(seconds)
    disk(100 if quick else 2000)
    memory([200, 400] if quick else [2000, 8000])
    say_missed()


if __name__ == "__main__":
    main()
