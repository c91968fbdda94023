"""What a Ray cluster costs beside the work itself: processor time, memory of the driver, start-up.

python benchmarks/scale.py            three minutes
python benchmarks/scale.py --quick    a smoke run

The cluster is `--ray local`: all its processes run on this machine, so their processor time can be summed. Pages have
300 to 750 patches of 128 dimensions. Each measurement is a process of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from pages import page
from timing import budget, say_missed

import adamerge as am
from adamerge import scale
from adamerge.compress import parse_method
from adamerge.scale.compress import CompressJob
from adamerge.scale.connect import connected
from adamerge.scale.driver import Driver
from adamerge.scale.head import asking_head
from adamerge.scale.pool import Attempt, Done, TaskPool
from adamerge.scale.user_code import UserFile
from adamerge.threads import cores
from adamerge.vectors import Manifest, Writer, open_shards
from adamerge.vectors.compress_folder import compress_folder
from adamerge.vectors.planned import PlannedFolder, UnitOutput
from adamerge.vectors.units import FilePages, Unit

METHOD = "adamerge"
LOCAL = scale.Cluster("local")
MADE = 64  # different pages; the others are these again, under other ids
WARM_UP = 256  # pages that start the workers before they are measured
FEW_UNITS = 1000
OWN_FILE = 10_000  # bytes of a Python file of the user, which goes with each task


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    pages: int
    units: int
    rounds: int


WHOLE = Sizes(pages=12_800, units=100_000, rounds=3)
QUICK = Sizes(pages=640, units=2000, rounds=1)


def write_pages(folder: Path, count: int) -> None:
    """A folder of made-up pages, 64 to a shard, as `encode` plans them."""
    made = [page(300 + 450 * i // MADE, seed=i) for i in range(MADE)]
    with Writer(folder) as out:
        for number in range(count):
            this = made[number % MADE]
            out.add(am.MultiVector(this.vectors, this.attention, id=f"page {number}"))
            if (number + 1) % MADE == 0:
                out.end_shard()


def processor_time(sizes: Sizes) -> None:
    """CPU seconds of every process of the cluster against those of one machine without Ray, on the same pages."""
    print(f"## Compressing {sizes.pages:,} pages\n")
    with TemporaryDirectory() as place:
        few, many = Path(place, "few"), Path(place, "many")
        write_pages(few, WARM_UP)
        write_pages(many, sizes.pages)
        plain, cluster = [], []
        for round in range(sizes.rounds):
            out = Path(place, str(round))
            plain.append(measured("plain", many, f"{out}-plain"))
            cluster.append(measured("cluster", few, many, f"{out}-cluster"))

    plain_cpu = min(run["cpu"] for run in plain)
    cluster_cpu = min(run["cpu"] for run in cluster)
    workers = min(run["workers"] for run in cluster)
    ms = plain_cpu / sizes.pages * 1e3
    print(f"one machine: {plain_cpu:.2f} s of CPU, {ms:.2f} ms a page")
    print(f"cluster: {cluster_cpu:.2f} s of CPU, {workers:.2f} of them in units of work")
    print(
        budget("CPU of the whole cluster against one machine", cluster_cpu / plain_cpu, at_most=1.3)
    )


def plain(source: str, out: str) -> dict[str, float]:
    """Compress on one machine."""
    before = cpu_of_all()
    compress_folder(open_shards(source), out, parse_method(METHOD))
    return {"cpu": cpu_of_all() - before}


def cluster(few: str, many: str, out: str) -> dict[str, float]:
    """Compress on a cluster whose workers run already."""
    with connected(LOCAL):
        scale.compress_folder(few, f"{out}-few", METHOD, LOCAL)
        before = cpu_of_all()
        summary = scale.compress_folder(many, out, METHOD, LOCAL)
        return {"cpu": cpu_of_all() - before, "workers": summary.cpu_seconds}


def cpu_of_all() -> float:
    """CPU seconds of this process and of all that it has started, also of those that have ended."""
    this = psutil.Process()
    total = 0.0
    for process in [this, *this.children(recursive=True)]:
        times = process.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
    return total


def driver_memory(sizes: Sizes) -> None:
    """Peak memory of the driver, and how many units a second it gives out, for few units and for many."""
    print(f"\n## The driver, {FEW_UNITS:,} and {sizes.units:,} units that do nothing\n")
    few, many = (measured("units", str(count)) for count in (FEW_UNITS, sizes.units))
    print(f"peak memory {few['megabytes']:.0f} MB and {many['megabytes']:.0f} MB")
    print(f"{many['rate']:.0f} units a second, {many['cpu'] * 1e3:.2f} ms of the driver's CPU each")
    ratio = many["megabytes"] / few["megabytes"]
    print(budget("memory of the driver, many units against few", ratio, at_most=1.25))


def units(count: str) -> dict[str, float]:
    """Run so many units that do nothing, planned and noted as those of a folder are."""
    own_file = UserFile("own.py", "#" * OWN_FILE)
    with TemporaryDirectory() as place, connected(LOCAL) as ray, asking_head(ray) as head:
        job = CompressJob(Path(place, "out"), Manifest(), (own_file,))
        pool = TaskPool(ray, head, do_nothing, job)
        driver = Driver(ray, head, pool, lambda unit: unit.title)
        start, cpu = time.monotonic(), time.process_time()
        with PlannedFolder(Path(place, "out"), Manifest(), lambda: planned(int(count))) as folder:
            for unit, done in driver.run(folder.missing()):
                folder.note(unit, UnitOutput(done.pages))
        seconds = time.monotonic() - start
        each = (time.process_time() - cpu) / int(count)
    return {"megabytes": peak_memory(), "rate": int(count) / seconds, "cpu": each}


def planned(count: int) -> Iterator[Unit]:
    """Units of a large file."""
    for number in range(count):
        yield Unit(
            number, (FilePages("/shared/scans/report.pdf", "report.pdf", 64 * number + 1, 64),)
        )


def do_nothing(job: CompressJob, attempt: Attempt) -> Done:
    """A unit that is done at once."""
    return Done(attempt.unit.pages)


def peak_memory() -> float:
    """Most megabytes that this process has held."""
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "VmHWM":
            return int(value.split()[0]) / 1024
    raise OSError("this system does not say how much memory a process has held")


def start_up(rounds: int) -> None:
    """Seconds of the command on four pages, without a cluster and with one that it starts itself."""
    print("\n## `adamerge compress` of four pages, from a cold start\n")
    with TemporaryDirectory() as place:
        write_pages(Path(place, "vectors"), 4)
        words = [Path(sys.executable).with_name("adamerge"), "compress", f"{place}/vectors", "-o"]
        times: dict[str, list[float]] = {"one machine": [], "--ray local": []}
        for round in range(rounds):
            for name, options in (("one machine", []), ("--ray local", ["--ray", "local"])):
                out = f"{place}/{name} {round}"
                start = time.monotonic()
                subprocess.run([*words, out, *options], check=True, capture_output=True)
                times[name].append(time.monotonic() - start)
    for name, seconds in times.items():
        print(f"{name}: {min(seconds):.1f} s")


def measured(*words: object) -> dict[str, float]:
    """What a function of MEASUREMENTS gives in a process of its own."""
    command = [sys.executable, __file__, "--measure", *map(str, words)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return figures


MEASUREMENTS = {"plain": plain, "cluster": cluster, "units": units}


def main() -> None:
    """Run it all; exit 1 if a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, *words = options.measure
        print(json.dumps(MEASUREMENTS[name](*words)))
        return

    sizes = QUICK if options.quick else WHOLE
    print(f"{cores()} cores, load {os.getloadavg()[0]:.1f}\n")
    processor_time(sizes)
    driver_memory(sizes)
    start_up(sizes.rounds)
    say_missed()


if __name__ == "__main__":
    main()
