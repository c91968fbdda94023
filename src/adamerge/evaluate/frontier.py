"""Points of a method -> the curve that the paper draws: the best measure at each compression.

The paper's sentence on it has two readings, and both are here by name:

    shared       a configuration is one point, averaged over datasets; the curve is the envelope of those points
    per dataset  each dataset has its own envelope, so its own best configuration; the curve is their mean

Only the second lets a dataset choose its own m. Each is a step, and drawn as one: the best of all with at least that
compression. In the second every dataset must reach a compression itself, in the first their average must, so the second
may be the lower one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from adamerge.evaluate.controls import ALONE
from adamerge.evaluate.points import Parts, Results, put_together, take_apart
from adamerge.evaluate.table import Table, columns, table

READINGS = ("shared", "per dataset")
AT = (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
STEP = 0.01
NEAR = 0.005  # of a compression: m=2 leaves a little more than half, for n is odd
FLOORS = ("0.7", "0.8")  # of AdaMerge's curves, as in the paper
PAPER = ("docpruner", "sem-cluster", "ptm", "adamerge")  # drawn in the paper, as it draws them
ABLATIONS = ("ptm-attn", "adamerge-mean")
Point = tuple[float, float]  # compression, measure


@dataclass(frozen=True)
class Series:
    """The configurations of one method that make a curve."""

    name: str
    methods: tuple[str, ...]


def series(results: Results, encoder: str, fixed: tuple[str, ...] = ("c_min",)) -> list[Series]:
    """All series of an encoder: words of a name say which series, numbers are points of it.

    c_min is a constant of the series where k sweeps, as in the paper, and sweeps itself where k=none.
    """
    found: dict[str, list[str]] = {}
    for method, parts in results.methods(encoder):
        if not parts.control and parts.name not in ALONE:
            found.setdefault(series_name(parts, fixed), []).append(method)
    return [Series(name, tuple(methods)) for name, methods in sorted(found.items())]


def series_name(parts: Parts, fixed: tuple[str, ...] = ("c_min",)) -> str:
    """The series that a method is of: adamerge:k=0,c_min=0.7,unit=true is of adamerge:c_min=0.7,unit=true."""
    kept = {*parts.words(), *(fixed if parts.number("k") is not None else ())}
    return put_together(parts.name, {k: v for k, v in parts.options.items() if k in kept})


def drawn(all_series: Iterable[Series], unit: bool = False) -> list[Series]:
    """The series of the paper's figure and any that is new, as printed or, where there are such, of unit length.

    Left out of ours: other readings and cuts, the ablations, and floors that the paper does not show.
    """
    some = [(take_apart(one.name), one) for one in all_series]
    found = {parts.key: one for parts, one in some if _is_shown(parts) and not parts.unit}
    if unit:
        found |= {
            parts.but(unit=None).key: one for parts, one in some if _is_shown(parts) and parts.unit
        }
    return list(found.values())


def envelope(points: Iterable[Point]) -> list[Point]:
    """The points that no other beats in both, by compression."""
    best: list[Point] = []
    for point in sorted(points, reverse=True):
        if not best or point[1] > best[-1][1]:
            best.append(point)
    return best[::-1]


def at_least(points: Iterable[Point], compression: float) -> float | None:
    """The best measure of the points with at least that compression (to half a percent), None where there is none."""
    return max((measure for there, measure in points if there >= compression - NEAR), default=None)


def curve(results: Results, encoder: str, one: Series, reading: str) -> list[Point]:
    """The curve of a series: its envelope of averages, or the average of its envelopes at every percent."""
    points = _points(results, encoder, one, reading)
    if reading == "shared":
        return envelope(points[0])
    values = [(i * STEP, height(points, i * STEP)) for i in range(round(1 / STEP))]
    return _corners([(x, value) for x, value in values if value is not None])


def value_at(
    results: Results, encoder: str, one: Series, reading: str, compression: float
) -> float | None:
    """The height of a series' curve at a compression; None where it does not reach that far."""
    return height(_points(results, encoder, one, reading), compression)


def height(points: Sequence[Sequence[Point]], compression: float) -> float | None:
    """The mean over sets of points of the best with at least that compression; None where a set has none."""
    found = [at_least(some, compression) for some in points]
    there = [value for value in found if value is not None]
    return fmean(there) if len(there) == len(found) else None


def frontier(results: Results, at: Sequence[float] = AT) -> Table:
    """The height of every drawn series at round compressions, in both readings."""
    rows = []
    for encoder in results.encoders:
        every = series(results, encoder)
        chosen = {one.name: one for unit in (False, True) for one in drawn(every, unit)}
        for one in chosen.values():
            for reading in READINGS:
                values = [value_at(results, encoder, one, reading, x) for x in at]
                rows.append([encoder, one.name, len(one.methods), reading, *values])
    head = columns(
        "encoder", "series", ("configurations", "d"), "envelope", *((f"{x:.0%}", ".3f") for x in at)
    )
    note = (
        f"{results.measure} at each compression or more, averaged over {len(results.datasets)} datasets. "
        "Shared: one configuration for all datasets. Per dataset: each chooses its own, and must reach the "
        "compression itself, not on average; so this may be the lower of the two."
    )
    return table("The frontier in both readings of its envelope", note, head, rows)


def _points(results: Results, encoder: str, one: Series, reading: str) -> list[list[Point]]:
    """The points of a series: of averages, or of each dataset."""
    if reading == "shared":
        return [[results.point(encoder, method) for method in one.methods]]
    rows = zip(*(results.cells[encoder, method] for method in one.methods), strict=True)
    return [[(cell.compression, cell.mean(results.measure)) for cell in row] for row in rows]


def _corners(points: list[Point]) -> list[Point]:
    """The points of a step where its value falls next, and the last: the rest says nothing more."""
    return [
        p for p, after in zip(points, [*points[1:], (2.0, -1.0)], strict=True) if after[1] != p[1]
    ]


def _is_shown(parts: Parts) -> bool:
    if parts.name not in PAPER:
        return parts.name not in ABLATIONS
    words = parts.words().items() - {("k", "none"), ("unit", "true")}
    return not words and parts.options.get("c_min", FLOORS[0]) in FLOORS
