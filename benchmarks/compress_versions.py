"""`adamerge compress` from disk to disk, as it is here and in another environment, in turns on the same pages.

git worktree add --detach /tmp/before 169298d && python3 -m venv /tmp/before/.venv
/tmp/before/.venv/bin/pip install /tmp/before
python benchmarks/compress_versions.py /tmp/before/.venv/bin/python

169298d is the last commit that read every shard by one thread. The whole command is timed, the start of Python too;
the best of some runs counts.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from run import write
from timing import budget, say_missed

PAGES = 3000
ROUNDS = 10


def seconds(python: str, source: Path, out: Path) -> tuple[float, float]:
    """The seconds that a run of the command line took, and those of CPU."""
    shutil.rmtree(out, ignore_errors=True)
    before = os.times()
    start = time.perf_counter()
    words = [python, "-m", "adamerge", "compress", str(source), "-o", str(out)]
    subprocess.run(words, check=True, capture_output=True)
    took = time.perf_counter() - start
    after = os.times()
    user = after.children_user - before.children_user
    system = after.children_system - before.children_system
    return took, user + system


def main() -> None:
    """Compress the same folder by both, in turns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", help="the Python of another environment that has adamerge")
    parser.add_argument("--pages", type=int, default=PAGES)
    given = parser.parse_args()
    pythons = {"before": given.other, "now": sys.executable}
    wall: dict[str, list[float]] = {name: [] for name in pythons}
    cpu: dict[str, list[float]] = {name: [] for name in pythons}

    with TemporaryDirectory() as folder:
        source, out = Path(folder, "in"), Path(folder, "out")
        write(source, given.pages)
        for _ in range(ROUNDS):
            for name, python in pythons.items():
                took, of_cpu = seconds(python, source, out)
                wall[name].append(took)
                cpu[name].append(of_cpu)

    print(f"{given.pages:,} pages of 747 x 128, load {os.getloadavg()[0]:.1f}")
    for name in pythons:
        took, of_cpu = min(wall[name]), min(cpu[name])
        print(f"{name}: {took:.2f} s, {given.pages / took:,.0f} pages/s; {of_cpu:.2f} s of CPU")
    ratio = min(wall["before"]) / min(wall["now"])
    print(budget("adamerge compress against before", ratio, at_least=1.8))
    say_missed()


if __name__ == "__main__":
    main()
