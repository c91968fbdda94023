"""Points of a method -> the curve that the paper draws: the best measure at each compression.

The paper's sentences on it have three readings, and all are here by name:

    shared       a configuration is one point, averaged over datasets; the curve is the envelope of those points
    per dataset  each dataset has its own envelope, so its own best configuration; the curve is their mean
    budget       k is shared and each dataset has its own m: every choice of them is one point, averaged over datasets;
                 what the paper says of PtM. Without an m it is the same as shared

Each curve is a step: its height at a compression is the best of all points with at least that compression; line_at()
reads the line between the points instead, as one would in a plot. With "per dataset" every dataset must reach a
compression itself, else their average must, so that reading may be the lower one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from adamerge.compress.names import Name, read_name
from adamerge.evaluate.analysis.budgets import average_choices
from adamerge.evaluate.analysis.points import Point, envelope
from adamerge.evaluate.analysis.results import Results
from adamerge.evaluate.analysis.table import Row, Table, columns, make_table
from adamerge.evaluate.experiment import ALONE

READINGS = ("shared", "per dataset")  # of every series
BUDGET = "budget"  # of series with a k to share and an m to choose
COMPRESSIONS = (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)  # columns of the table
PERCENTS = range(100)  # where the mean of envelopes is computed
NEAR = 0.005  # of a compression: m=2 leaves a little more than half, for n is odd
FLOORS = ("0.7", "0.8")  # of AdaMerge's curves, as in the paper
PAPER = ("docpruner", "sem-cluster", "ptm", "adamerge")  # drawn in the paper, as it draws them
ABLATIONS = ("ptm-attn", "adamerge-mean")
VARIES = "any"  # stands in the name of a series where its methods differ


@dataclass(frozen=True)
class Series:
    """The configurations of one method that make a curve.

    shared   the part of their names that they share: words, and numbers that are constants of a series
    methods  their names
    """

    shared: Name
    methods: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of its methods, with `any` where they differ; of a single one, its own name."""
        names = [read_name(method) for method in self.methods]
        options: dict[str, str] = {}
        for name in names:
            options |= name.options

        for option, text in options.items():
            if any(name.options.get(option) != text for name in names):
                options[option] = VARIES
        return str(Name(self.shared.method, options))


def all_series(results: Results, encoder: str, fixed: tuple[str, ...] = ("c_min",)) -> list[Series]:
    """All series of an encoder: words of a name say which series, numbers are points of it.

    c_min is a constant of the series where k sweeps, as in the paper, and sweeps itself where k=none.
    """
    found: dict[Name, list[str]] = {}
    for method, name in results.methods(encoder):
        if not name.control and name.method not in ALONE:
            found.setdefault(shared_name(name, fixed), []).append(method)

    every = [Series(shared, tuple(methods)) for shared, methods in found.items()]
    return sorted(every, key=lambda one: str(one.shared))


def shared_name(name: Name, fixed: tuple[str, ...] = ("c_min",)) -> Name:
    """The part of a name that its series shares: adamerge:c_min=0.7,unit=true of adamerge:k=0,c_min=0.7,unit=true."""
    kept = set(name.words())
    if name.number("k") is not None:
        kept |= set(fixed)
    options = {option: text for option, text in name.options.items() if option in kept}
    return Name(name.method, options)


def drawn_series(results: Results, encoder: str, unit: bool = False) -> list[Series]:
    """The series of the paper's figure and any that is new, as printed or, where there are such, of unit length.

    Left out of ours: other readings and cuts, the ablations, and floors that the paper does not show.
    """
    shown = [one for one in all_series(results, encoder) if _is_shown(one.shared)]
    chosen = {one.shared: one for one in shown if not results.is_unit(one.shared)}
    if unit:
        for one in shown:
            if results.is_unit(one.shared):
                as_printed = results.with_unit(one.shared, False)
                chosen[as_printed] = one
    return list(chosen.values())


def curve(results: Results, encoder: str, one: Series, reading: str) -> list[Point]:
    """The curve of a series: its envelope of averages, or the average of its envelopes at every percent."""
    points = _point_sets(results, encoder, one, reading)
    if reading != "per dataset":
        return envelope(points[0])

    steps: list[Point] = []
    for percent in PERCENTS:
        compression = percent * 0.01
        value = _height(points, compression)
        if value is not None:
            steps.append((compression, value))
    return _corners(steps)


def value_at(
    results: Results, encoder: str, one: Series, reading: str, compression: float
) -> float | None:
    """The height of a series' curve at a compression; None where it does not reach that far."""
    return _height(_point_sets(results, encoder, one, reading), compression)


def line_at(
    results: Results, encoder: str, one: Series, reading: str, compression: float
) -> float | None:
    """The height of the line between the points of a series' curve; None where it does not reach that far."""
    points = curve(results, encoder, one, reading)
    there = [point[0] for point in points]
    if not there or compression > there[-1] + NEAR:
        return None
    return float(np.interp(compression, there, [point[1] for point in points]))


def has_budget(one: Series) -> bool:
    """Whether a series has a k to share and an m to choose, so that the reading "budget" says something of its own."""
    name = read_name(one.name)
    return name.options.get("k") == VARIES and name.options.get("m") == VARIES


def frontier(results: Results) -> Table:
    """The height of every drawn series at round compressions, in all readings."""
    rows: list[Row] = []
    for encoder in results.encoders:
        as_printed = drawn_series(results, encoder, unit=False)
        of_unit_length = drawn_series(results, encoder, unit=True)
        for one in dict.fromkeys([*as_printed, *of_unit_length]):  # each once
            readings = [*READINGS, BUDGET] if has_budget(one) else READINGS
            for reading in readings:
                row: Row = [encoder, one.name, len(one.methods), reading]
                for compression in COMPRESSIONS:
                    row.append(value_at(results, encoder, one, reading, compression))
                rows.append(row)

    heights = [(f"{compression:.0%}", ".3f") for compression in COMPRESSIONS]
    head = columns("encoder", "series", ("configurations", "d"), "envelope", *heights)
    note = (
        f"{results.measure} at each compression or more, averaged over {len(results.datasets)} datasets. "
        f"A series is all configurations of its name, and chooses where that says '{VARIES}'. "
        "Shared: one configuration for all datasets. Per dataset: each chooses its own, and must reach the "
        "compression itself, not on average; so this may be the lower of the two. Budget: one k for all, and each "
        "dataset chooses its own m, as the paper tunes PtM."
    )
    return make_table("The frontier in all readings of its envelope", note, head, rows)


def _point_sets(results: Results, encoder: str, one: Series, reading: str) -> list[list[Point]]:
    """The points of a series: one set of averages, or a set for each dataset."""
    if reading == "shared":
        return [[results.point(encoder, method) for method in one.methods]]
    if reading == BUDGET:
        return [_budget_points(results, encoder, one)]

    sets: list[list[Point]] = [[] for _ in results.datasets]
    for method in one.methods:
        for points, cell in zip(sets, results.cells[encoder, method], strict=True):
            points.append((cell.compression, cell.mean(results.measure)))
    return sets


def _budget_points(results: Results, encoder: str, one: Series) -> list[Point]:
    """Averages over datasets of every choice of an m for each, with one k for all; those that are beaten left out."""
    with_same_k: dict[Name, list[list[Point]]] = {}
    for method in one.methods:
        shared = results.names[method].but(m=None)
        sets = with_same_k.setdefault(shared, [[] for _ in results.datasets])
        for points, cell in zip(sets, results.cells[encoder, method], strict=True):
            points.append((cell.compression, cell.mean(results.measure)))

    found: list[Point] = []
    for sets in with_same_k.values():
        found += average_choices(sets)
    return found


def _height(point_sets: Sequence[Sequence[Point]], compression: float) -> float | None:
    """The mean over sets of the best point with at least that compression; None where a set has none."""
    best = []
    for points in point_sets:
        measures = [measure for there, measure in points if there >= compression - NEAR]
        if not measures:
            return None
        best.append(max(measures))
    return fmean(best)


def _corners(steps: Sequence[Point]) -> list[Point]:
    """The points of a step function where its value falls next, and the last."""
    corners: list[Point] = []
    for point in steps:
        if corners and corners[-1][1] == point[1]:
            corners[-1] = point
        else:
            corners.append(point)
    return corners


def _is_shown(shared: Name) -> bool:
    if shared.method not in PAPER:
        return shared.method not in ABLATIONS
    other_words = shared.words().items() - {("k", "none"), ("unit", "true")}
    return not other_words and shared.options.get("c_min", FLOORS[0]) in FLOORS
