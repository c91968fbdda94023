"""What a piece of work costs when nobody else is on the machine, and whether a ratio meets its budget."""

import math
import sys
import time
from collections.abc import Callable, Mapping

MISSED: list[str] = []


def best(work: Callable[[], object], seconds: float = 1.0) -> float:
    """The shortest of many runs, in milliseconds."""
    return fastest({"": work}, seconds)[""]


def fastest(works: Mapping[str, Callable[[], object]], seconds: float = 1.0) -> dict[str, float]:
    """The shortest of many runs of each, in milliseconds; they take turns, so that a busy machine is busy for all."""
    for work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    end, turns = time.perf_counter() + seconds * len(works), 0
    while turns < 5 or time.perf_counter() < end:
        turns += 1
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - start)
    return {name: min(runs) * 1e3 for name, runs in times.items()}


def say_missed() -> None:
    """End the process: with exit code 1 if a budget was missed, saying which."""
    if MISSED:
        sys.exit("missed: " + "; ".join(MISSED))


def budget(what: str, ratio: float, at_least: float = -math.inf, at_most: float = math.inf) -> str:
    """A ratio and whether it meets its budget."""
    met = at_least <= ratio <= at_most
    if not met:
        MISSED.append(what)
    limit = f">= {at_least:g}" if at_most == math.inf else f"<= {at_most:g}"
    return f"{what}: {ratio:.2f} (budget {limit}, {'met' if met else 'MISSED'})"
