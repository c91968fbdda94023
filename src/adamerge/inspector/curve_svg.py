"""The merge-cosine curve of one page as an SVG: raw cosines, the sequence, the floor, the cut and the gaps."""

from collections.abc import Callable, Iterator
from html import escape
from math import isnan

import numpy as np

from adamerge.arrays import Doubles
from adamerge.compress import AdaMerge
from adamerge.inspector.k_sweep import Step, stop_rule
from adamerge.types import Cut

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 64, 48  # margins
STYLE = """
.bg{fill:#fff}text{font:12px system-ui,sans-serif;fill:#5c6066}.title{font-size:15px;font-weight:600;fill:#1c1d1f}
.axis,.grid{stroke:#d9d9d4;fill:none}.raw{fill:#9aa0a6}.line{fill:none;stroke:#2457d6;stroke-width:2}
.floor{stroke:#5c6066;stroke-dasharray:4 4}.made{fill:#2457d6;fill-opacity:.07}.cut{stroke:#b93c0a;stroke-width:2}
.gap{stroke:#b93c0a;stroke-width:4}.next{stroke:#8a6d00;stroke-width:4}.warm{fill:#b93c0a}.dull{fill:#7a6000}
"""
Scale = Callable[[float], float]


def runner_up(sequence: Doubles, stop: Cut, c_min: float) -> Cut:
    """The second widest drop that starts at or above the floor: where the page would be cut if not at `stop`."""
    if len(sequence) < 2:
        return Cut()
    drops = np.where(sequence[:-1] >= c_min, sequence[:-1] - sequence[1:], -np.inf)
    if stop.merges:
        drops[stop.merges - 1] = -np.inf
    widest = int(drops.argmax())
    if not np.isfinite(drops[widest]):
        return Cut()
    return Cut(widest + 1, float(sequence[widest]), float(drops[widest]))


def draw(step: Step, name: str) -> str:
    """The figure of one page. The step must have a tree with a merge."""
    label = escape(f"{name}: {_caption(step)}", quote=True)
    parts = "".join(_parts(step, name))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{label}">{parts}</svg>\n'
    )


def _parts(step: Step, name: str) -> Iterator[str]:
    """The elements of the figure, the lowest first."""
    sequence, stop = step.sequence, step.small.cut
    low = _lowest_tick(step.cosines)
    x = _scale(0, max(len(sequence), 1), LEFT, WIDTH - RIGHT)
    y = _scale(low, 1, HEIGHT - BOTTOM, TOP)

    yield f'<rect class="bg" width="{WIDTH}" height="{HEIGHT}"/><style>{STYLE}</style>'
    yield f'<text class="title" x="{LEFT}" y="24">{escape(name)}</text>'
    yield f'<text x="{LEFT}" y="44">{escape(_caption(step))}</text>'
    yield from _axes(len(sequence), low, x, y)
    yield from _merges_made(stop, x)
    yield from _dots(step.cosines, x, y)
    yield f'<path class="line" d="{_path(sequence, x, y)}"/>'

    if isinstance(step.method, AdaMerge):
        c_min = step.method.c_min
        yield from _floor(c_min, low, y)
        if stop_rule(step) == "cliff":
            yield from _gap("next", "dull", "runner-up", runner_up(sequence, stop, c_min), x, y)
    yield from _cut_line(stop, x)
    yield from _gap("gap", "warm", "gap", stop, x, y)


def _lowest_tick(cosines: Doubles) -> float:
    """Where the axis of cosines begins: at 0, or at the tenth below the lowest cosine."""
    lowest = float(np.min(cosines, initial=0.0))
    return float(np.floor(lowest * 10) / 10)


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    """The line that maps low to start and high to end; what is below low is drawn at low.

    The sequence of `height` is 1 - h^2 / 2, which falls far below every cosine.
    """
    slope = (end - start) / (high - low)
    return lambda value: start + (max(value, low) - low) * slope


def _caption(step: Step) -> str:
    stop, small = step.small.cut, step.small
    where = "no merge made"
    if not isnan(stop.theta):
        where = f"cut after {stop.merges} merges, theta {stop.theta:.3f}"
    if not isnan(stop.gap):
        where += f", gap {stop.gap:.3f}"
    return f"{step.name}: {where}; {len(small)} of {len(small.groups)} vectors kept"


def _axes(merges: int, low: float, x: Scale, y: Scale) -> Iterator[str]:
    for tick in np.arange(low, 1.01, 0.2):
        text = f"{tick + 0.0:.1f}"
        yield f'<path class="grid" d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{text}</text>'
    for at in sorted({0, merges // 2, merges}):
        yield f'<text x="{x(at):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{at}</text>'
    yield f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 10}" text-anchor="end">merges made</text>'
    yield f'<text x="8" y="{TOP - 8}">cosine</text>'


def _merges_made(stop: Cut, x: Scale) -> Iterator[str]:
    """The background of the merges that were made."""
    width = x(stop.merges) - x(0)
    height = HEIGHT - TOP - BOTTOM
    yield f'<rect class="made" x="{x(0):.1f}" y="{TOP}" width="{width:.1f}" height="{height}"/>'


def _dots(cosines: Doubles, x: Scale, y: Scale) -> Iterator[str]:
    for t, cosine in enumerate(cosines.tolist(), 1):
        yield f'<circle class="raw" cx="{x(t):.1f}" cy="{y(cosine):.1f}" r="1.5"/>'


def _path(sequence: Doubles, x: Scale, y: Scale) -> str:
    points = [f"{x(t):.1f} {y(cosine):.1f}" for t, cosine in enumerate(sequence.tolist(), 1)]
    return f"M{'L'.join(points)}"


def _floor(floor: float, low: float, y: Scale) -> Iterator[str]:
    if floor < low:
        return
    at, right = y(floor), WIDTH - RIGHT
    yield f'<path class="floor" d="M{LEFT} {at:.1f}H{right}"/>'
    yield f'<text x="{right}" y="{at - 5:.1f}" text-anchor="end">floor c_min {floor:g}</text>'


def _cut_line(stop: Cut, x: Scale) -> Iterator[str]:
    if not isnan(stop.theta):
        yield f'<path class="cut" d="M{x(stop.merges):.1f} {TOP}V{HEIGHT - BOTTOM}"/>'


def _gap(line: str, ink: str, word: str, stop: Cut, x: Scale, y: Scale) -> Iterator[str]:
    """A bar from theta down to the cosine after it, and its width in words."""
    if isnan(stop.theta) or isnan(stop.gap):
        return
    at, top, bottom = x(stop.merges), y(stop.theta), y(stop.theta - stop.gap)
    offset, anchor = (-8, "end") if at > WIDTH / 2 else (8, "start")
    yield f'<path class="{line}" d="M{at:.1f} {top:.1f}V{bottom:.1f}"/>'
    yield (
        f'<text class="{ink}" x="{at + offset:.1f}" y="{(top + bottom) / 2 + 4:.1f}" '
        f'text-anchor="{anchor}">{word} {stop.gap:.3f}</text>'
    )
