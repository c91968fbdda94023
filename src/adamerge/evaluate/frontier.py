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
from itertools import chain
from statistics import fmean

from adamerge.compress.names import Name, read_name
from adamerge.evaluate.controls import ALONE
from adamerge.evaluate.points import Results
from adamerge.evaluate.table import Table, columns, table

READINGS = ("shared", "per dataset")
AT = (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
STEP = 0.01
NEAR = 0.005  # of a compression: m=2 leaves a little more than half, for n is odd
FLOORS = ("0.7", "0.8")  # of AdaMerge's curves, as in the paper
PAPER = ("docpruner", "sem-cluster", "ptm", "adamerge")  # drawn in the paper, as it draws them
ABLATIONS = ("ptm-attn", "adamerge-mean")
VARIES = "any"  # stands in the name of a series for what its methods differ in
Point = tuple[float, float]  # compression, measure


@dataclass(frozen=True)
class Series:
    """The configurations of one method that make a curve.

    shared   what the curve is called by: the words of their names, and the numbers that are constants of a series
    methods  their names
    """

    shared: Name
    methods: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of its methods, with `any` for what they differ in; of a single one, its own name."""
        names = [read_name(method) for method in self.methods]
        written: dict[str, str] = {}
        for option in dict.fromkeys(chain.from_iterable(name.options for name in names)):
            texts = {name.options.get(option, "") for name in names}
            written[option] = texts.pop() if len(texts) == 1 else VARIES
        return str(Name(self.shared.method, written))


def series(results: Results, encoder: str, fixed: tuple[str, ...] = ("c_min",)) -> list[Series]:
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
    """What a method shares with its series: adamerge:c_min=0.7,unit=true of adamerge:k=0,c_min=0.7,unit=true."""
    constants = fixed if name.number("k") is not None else ()
    kept = {*name.words(), *constants}
    options = {option: text for option, text in name.options.items() if option in kept}
    return Name(name.method, options)


def drawn(results: Results, encoder: str, unit: bool = False) -> list[Series]:
    """The series of the paper's figure and any that is new, as printed or, where there are such, of unit length.

    Left out of ours: other readings and cuts, the ablations, and floors that the paper does not show.
    """
    shown = [one for one in series(results, encoder) if _is_shown(one.shared)]
    found = {one.shared: one for one in shown if not results.is_unit(one.shared)}
    if unit:
        of_unit_length = [one for one in shown if results.is_unit(one.shared)]
        found |= {results.with_unit(one.shared, False): one for one in of_unit_length}
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
        as_printed, of_unit_length = (drawn(results, encoder, unit) for unit in (False, True))
        chosen = dict.fromkeys([*as_printed, *of_unit_length])  # each once
        for one in chosen:
            for reading in READINGS:
                values = [value_at(results, encoder, one, reading, x) for x in at]
                rows.append([encoder, one.name, len(one.methods), reading, *values])
    head = columns(
        "encoder", "series", ("configurations", "d"), "envelope", *((f"{x:.0%}", ".3f") for x in at)
    )
    note = (
        f"{results.measure} at each compression or more, averaged over {len(results.datasets)} datasets. "
        f"A series is all configurations of its name, and chooses where that says '{VARIES}'. "
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


def _is_shown(shared: Name) -> bool:
    if shared.method not in PAPER:
        return shared.method not in ABLATIONS
    other_words = shared.words().items() - {("k", "none"), ("unit", "true")}
    return not other_words and shared.options.get("c_min", FLOORS[0]) in FLOORS
