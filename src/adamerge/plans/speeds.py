"""How fast one machine builds and searches: constants that benchmarks/speeds.py measures and writes to speeds.json.

A number is one coordinate of a stored row: a page of m rows of d dimensions has m d numbers. Times grow in proportion
to them, so two measured sizes give the line.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

VERSION = 1
NANO = 1e-9
PICO = 1e-12


@dataclass(frozen=True)
class Line:
    """seconds = fixed + per_number * numbers."""

    fixed: float
    per_number: float

    def seconds(self, numbers: float) -> float:
        """The time that so many numbers take."""
        return self.fixed + self.per_number * numbers


@dataclass(frozen=True)
class Speeds:
    """What one machine needs, in seconds, with all of its cores.

    date, machine, cores  when and where it was measured
    query_vectors         of the query that was searched
    search                dtype -> a search, by the numbers of all pages; int4 and int2 are searched by sign planes
    store                 dtype -> to store a page, by its numbers
    link_per_number       to link and merge a page of n patches, by n x n x d
    encode                encoder -> seconds a page; encoders that nobody measured are not in it
    """

    date: str
    machine: str
    cores: int
    query_vectors: int
    search: dict[str, Line]
    store: dict[str, Line]
    link_per_number: float
    encode: dict[str, float]

    def __str__(self) -> str:
        """Where the speeds come from."""
        return f"{self.cores} cores of {self.machine}, {self.date}"


@lru_cache
def load_speeds() -> Speeds:
    """The speeds that the package has."""
    found: dict[str, Any] = json.loads(files("adamerge.plans").joinpath("speeds.json").read_text())
    if found["version"] != VERSION:
        raise ValueError(f"speeds.json is of version {found['version']}, not {VERSION}")
    return Speeds(
        date=found["date"],
        machine=found["machine"],
        cores=found["cores"],
        query_vectors=found["query_vectors"],
        search=_lines(found["search"], "ms", 1e-3),
        store=_lines(found["store"], "us_per_page", 1e-6),
        link_per_number=found["link_ps_per_number"] * PICO,
        encode=found["encode_seconds_per_page"],
    )


def _lines(found: dict[str, dict[str, float]], fixed: str, unit: float) -> dict[str, Line]:
    """The line of each dtype; `fixed` names the fixed part, in a unit of its own."""
    lines = {}
    for dtype, constants in found.items():
        lines[dtype] = Line(constants[fixed] * unit, constants["ns_per_number"] * NANO)
    return lines
