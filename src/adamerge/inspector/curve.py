"""The merge-cosine curve of one page as an SVG: raw cosines, the sequence, the floor, the cut and the gaps."""

from collections.abc import Iterable
from html import escape
from math import isnan

import numpy as np

from adamerge.arrays import Doubles
from adamerge.compress import AdaMerge
from adamerge.inspector.steps import Step
from adamerge.types import Cut

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 64, 48  # margins
STYLE = """
.bg{fill:#fff}text{font:12px system-ui,sans-serif;fill:#5c6066}.title{font-size:15px;font-weight:600;fill:#1c1d1f}
.axis,.grid{stroke:#d9d9d4;fill:none}.raw{fill:#9aa0a6}.line{fill:none;stroke:#2457d6;stroke-width:2}
.floor{stroke:#5c6066;stroke-dasharray:4 4}.made{fill:#2457d6;fill-opacity:.07}.cut{stroke:#b93c0a;stroke-width:2}
.gap{stroke:#b93c0a;stroke-width:4}.next{stroke:#8a6d00;stroke-width:4}.warm{fill:#b93c0a}.dull{fill:#7a6000}
"""


def runner_up(sequence: Doubles, stop: Cut, c_min: float) -> Cut:
    """The second widest drop that starts at or above the floor: where the page would be cut if not at `stop`."""
    if len(sequence) < 2:
        return Cut()
    drops = np.where(sequence[:-1] >= c_min, sequence[:-1] - sequence[1:], -np.inf)
    if stop.merges:
        drops[stop.merges - 1] = -np.inf
    at = int(drops.argmax())
    return Cut(at + 1, float(sequence[at]), float(drops[at])) if np.isfinite(drops[at]) else Cut()


def draw(step: Step, name: str) -> str:
    """The figure of one page; a page without a tree, or with less than two survivors, has none."""
    sequence, raw = step.sequence, step.tree.cosines if step.tree else np.zeros(0)
    low = min(0.0, float(np.floor(raw.min() * 10) / 10)) if len(raw) else 0.0
    x = _scale(0, max(len(sequence), 1), LEFT, WIDTH - RIGHT)
    y = _scale(low, 1, HEIGHT - BOTTOM, TOP)
    cliff = (
        step.method if isinstance(step.method, AdaMerge) and step.method.cut == "cliff" else None
    )
    floor = step.method.c_min if isinstance(step.method, AdaMerge) else None
    second = runner_up(sequence, step.small.cut, cliff.c_min) if cliff else Cut()
    parts = [
        f'<rect class="bg" width="{WIDTH}" height="{HEIGHT}"/><style>{STYLE}</style>',
        f'<text class="title" x="{LEFT}" y="24">{escape(name)}</text>',
        f'<text x="{LEFT}" y="44">{escape(_caption(step))}</text>',
        *_axes(len(sequence), low, x, y),
        f'<rect class="made" x="{x(0):.1f}" y="{TOP}" width="{x(step.small.cut.merges) - x(0):.1f}" '
        f'height="{HEIGHT - TOP - BOTTOM}"/>',
        *(
            f'<circle class="raw" cx="{x(t + 1):.1f}" cy="{y(c):.1f}" r="1.5"/>'
            for t, c in enumerate(raw.tolist())
        ),
        f'<path class="line" d="{_path(sequence, x, y)}"/>',
        *_floor(floor, y),
        *_gap("next", "dull", "runner-up", second, x, y),
        *_gap("gap", "warm", "gap", step.small.cut, x, y),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape(f"{name}: {_caption(step)}", quote=True)}">{"".join(parts)}</svg>\n'
    )


class _scale:
    """A line from one interval to another."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.start, self.slope = low, start, (end - start) / (high - low)

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) * self.slope


def _caption(step: Step) -> str:
    stop, small = step.small.cut, step.small
    where = (
        "no merge made"
        if isnan(stop.theta)
        else f"cut after {stop.merges} merges, theta {stop.theta:.3f}"
    )
    gap = "" if isnan(stop.gap) else f", gap {stop.gap:.3f}"
    return f"{step.method}: {where}{gap}; {len(small)} of {len(small.groups)} vectors kept"


def _axes(merges: int, low: float, x: _scale, y: _scale) -> Iterable[str]:
    for tick in np.arange(low, 1.01, 0.2):
        yield f'<path class="grid" d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick + 0.0:.1f}</text>'
    for at in sorted({0, merges // 2, merges}):
        yield f'<text x="{x(at):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{at}</text>'
    yield f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 10}" text-anchor="end">merges made</text>'
    yield f'<text x="8" y="{TOP - 8}">cosine</text>'


def _path(sequence: Doubles, x: _scale, y: _scale) -> str:
    points = [f"{x(t + 1):.1f} {y(c):.1f}" for t, c in enumerate(sequence.tolist())]
    return f"M{'L'.join(points)}" if points else ""


def _floor(floor: float | None, y: _scale) -> Iterable[str]:
    if floor is not None and y(floor) <= HEIGHT - BOTTOM:
        yield f'<path class="floor" d="M{LEFT} {y(floor):.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{WIDTH - RIGHT}" y="{y(floor) - 5:.1f}" text-anchor="end">floor c_min {floor:g}</text>'


def _gap(line: str, ink: str, word: str, stop: Cut, x: _scale, y: _scale) -> Iterable[str]:
    """A bar from theta down to the similarity after it, and a line at the cut."""
    if isnan(stop.theta):
        return
    at = x(stop.merges)
    if line == "gap":
        yield f'<path class="cut" d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}"/>'
    if not isnan(stop.gap):
        top, bottom = y(stop.theta), y(stop.theta - stop.gap)
        side = (-8, "end") if at > WIDTH / 2 else (8, "start")
        yield f'<path class="{line}" d="M{at:.1f} {top:.1f}V{bottom:.1f}"/>'
        yield (
            f'<text class="{ink}" x="{at + side[0]:.1f}" y="{(top + bottom) / 2 + 4:.1f}" '
            f'text-anchor="{side[1]}">{word} {stop.gap:.3f}</text>'
        )
