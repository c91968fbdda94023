"""A cell: what one method did to the pages of one dataset, and what that cost every query."""

import json
from dataclasses import dataclass
from math import isnan
from statistics import fmean
from typing import Any

import numpy as np

from adamerge.arrays import ArrayLike
from adamerge.codes import bytes_per_row
from adamerge.compress.names import read_name
from adamerge.evaluate.experiment.measures import MEASURE

Values = list[float | None]


@dataclass(frozen=True)
class Cell:
    """One method on one dataset as one encoder sees it.

    measures             name -> a value per query, in the order of the dataset's file; empty where only sizes are asked
    pages, patches       before
    stored, extra        vectors after: groups, and rows that are stored untouched
    dimensions           of a vector, d
    theta, gap           a value per page where a method found its own cut, in the dataset's order; else empty
    ms                   of one thread of the CPU per page; None for a control that looks at all pages first
    versions, machine    what made it; "encoder" is the revision of its weights, "options" what it was given
    """

    encoder: str
    dataset: str
    method: str
    measures: dict[str, Values]
    pages: int
    patches: int
    stored: int
    extra: int
    dimensions: int
    theta: Values
    gap: Values
    ms: float | None
    versions: dict[str, str]
    machine: str

    @property
    def made_by(self) -> dict[str, Any]:
        """The weights of the encoder, and the options it was given."""
        options = json.loads(self.versions.get("options", "{}"))
        return {"weights": self.versions.get("encoder"), "options": options}

    @property
    def compression(self) -> float:
        """Share of patches that are not stored any more, as in the paper."""
        if not self.patches:
            return 0.0
        return 1 - self.stored / self.patches

    @property
    def compression_of_all(self) -> float:
        """The same with extra rows counted on both sides."""
        if not self.patches:
            return 0.0
        return 1 - (self.stored + self.extra) / (self.patches + self.extra)

    @property
    def bytes(self) -> int:
        """Bytes of all stored vectors in the dtype that the method's name says, with scales; else in float16."""
        dtype = read_name(self.method).dtype or "float16"
        return (self.stored + self.extra) * bytes_per_row(self.dimensions, dtype)

    @property
    def thetas(self) -> list[float]:
        """The theta of every page that has one."""
        return [theta for theta in self.theta if theta is not None]

    def mean(self, measure: str = MEASURE) -> float:
        """The mean of a measure over the queries."""
        return fmean(value for value in self.measures[measure] if value is not None)


def rounded(values: ArrayLike, digits: int = 4) -> Values:
    """Numbers as JSON writes them shortest: rounded, 0 and 1 without a point, nan as null."""
    numbers = np.asarray(values, np.float64).tolist()
    return [_shortest(round(number, digits)) for number in numbers]


def _shortest(number: float) -> float | None:
    if isnan(number):
        return None
    if number == int(number):
        return int(number)
    return number
