"""Figure: measure against compression, a step for every method, with its name at its end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from adamerge.compress.names import Name
from adamerge.evaluate.analysis import (
    FLOOR,
    READINGS,
    Point,
    Results,
    Series,
    curve,
    drawn_series,
)
from adamerge.evaluate.output.plotting import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    WIDTH,
    YELLOW,
    plotting,
    short_encoder,
)

COLOURS = {"docpruner": BLUE, "sem-cluster": GREEN, "ptm": ORANGE, "adamerge": RED}
UNPRUNED = PURPLE
OTHERS = (SKY, BLACK, YELLOW)  # of methods without a colour of their own, in turn
MARKERS = {"docpruner": "s", "sem-cluster": "^", "ptm": "D"}
LETTERS = 40  # in one line above a panel
TITLES = {"shared": "one configuration for all", "per dataset": "one per dataset"}


@dataclass(frozen=True)
class CurveEnd:
    """Where a curve ends, and the name that is written there."""

    name: str
    colour: str
    point: Point


def frontier(results: Results, unit: bool = False) -> Any:
    """Measure against compression: a row per encoder, a panel per reading of the envelope."""
    with plotting() as plt:
        rows = len(results.encoders)
        height = 0.3
        for encoder in results.encoders:
            lines = _title(encoder, READINGS[0]).count("\n")
            height += 2.7 + 0.5 * lines  # so that the names below a longer title stay apart
        size = (WIDTH, height)
        figure, axes = plt.subplots(rows, 2, figsize=size, sharex=True, sharey="row", squeeze=False)
        for panels, encoder in zip(axes, results.encoders, strict=True):
            _draw_encoder(panels, results, encoder, unit)
        for axis in axes[-1]:
            axis.set_xlabel("compression")
            axis.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
        figure.tight_layout(w_pad=1.5)
        return figure


def _draw_encoder(panels: Sequence[Any], results: Results, encoder: str, unit: bool) -> None:
    """A panel for each reading."""
    every = drawn_series(results, encoder, unit)
    shown = [one for one in every if one.shared.method != "identity"]
    ends: list[CurveEnd] = []
    for axis, reading in zip(panels, READINGS, strict=True):
        ends = _draw_curves(axis, results, encoder, shown, reading)
        axis.set_title(_title(encoder, reading), loc="left")
    _write_names(panels[-1], ends)
    panels[0].set_ylabel(f"{results.measure}, mean of {len(results.datasets)} datasets")


def _title(encoder: str, reading: str) -> str:
    """Encoder and reading in one line, or in two where one is too long for a panel."""
    short = short_encoder(encoder)
    longest = max(map(len, TITLES.values()))
    if len(short) + longest <= LETTERS:
        return f"{short}: {TITLES[reading]}"
    return f"{short}\n{TITLES[reading]}"


def _draw_curves(
    axis: Any, results: Results, encoder: str, shown: Sequence[Series], reading: str
) -> list[CurveEnd]:
    """Draw the curves of a panel, and the height of uncompressed pages."""
    ends = []
    other_colours = iter(OTHERS * len(shown))
    for one in shown:
        style = line_style(one.shared, other_colours)
        ends.append(draw_curve(axis, results, encoder, one, reading, style))

    if results.has(encoder, "identity"):
        height = results.mean(encoder, "identity")
        axis.axhline(height, color=GREY, lw=0.8, ls=(0, (4, 3)))
        ends.append(CurveEnd("identity", GREY, (1.0, height)))
    axis.set_xlim(0, 1)
    return ends


def draw_curve(
    axis: Any,
    results: Results,
    encoder: str,
    one: Series,
    reading: str,
    style: tuple[str, str],
    label: str | None = None,
) -> CurveEnd:
    """Draw the curve of a series as the steps that it is, in a colour and dashes."""
    colour, dashes = style
    points = curve(results, encoder, one, reading)
    xs = [x for x, _ in points]
    ys = [y for _, y in points]
    has_markers = reading == "shared" or len(points) == 1
    axis.plot(
        [0, *xs],
        [ys[0], *ys],
        dashes,
        color=colour,
        lw=1.1,
        drawstyle="steps-pre",
        marker=MARKERS.get(one.shared.method, "o"),
        ms=3 if has_markers else 0,
        markevery=slice(1, None),
        label=label,
    )
    return CurveEnd(str(one.shared), colour, points[-1])


def line_label(one: Series) -> str:
    """The name of a series as a legend has it: ptm k=any m=any."""
    return one.name.replace(":", " ").replace("unit=true", "unit").replace(",", " ")


def line_style(shared: Name, other_colours: Iterator[str]) -> tuple[str, str]:
    """Colour and dashes of a series; a method without a colour of its own takes the next of the others."""
    if shared.options.get("k") == "none":
        return UNPRUNED, "--"
    colour = COLOURS.get(shared.method) or next(other_colours)
    is_papers_floor = shared.options.get("c_min", FLOOR) == FLOOR
    return colour, "-" if is_papers_floor else ":"


def _write_names(axis: Any, ends: Sequence[CurveEnd]) -> None:
    """Names at the right edge, in the order of the ends and apart, each tied to its curve's end."""
    low, high = axis.get_ylim()
    gap = (high - low) * 0.068
    ordered = sorted(ends, key=lambda end: end.point[1])

    heights: list[float] = []
    for end in ordered:
        height = end.point[1]
        if heights:
            height = max(height, heights[-1] + gap)
        heights.append(height)
    too_high = max(0.0, heights[-1] - high) if heights else 0.0

    for end, height in zip(ordered, heights, strict=True):
        axis.annotate(
            end.name.replace(":", " ").replace("unit=true", "unit").replace(",", " "),
            end.point,
            (1.04, height - too_high),
            color=BLACK if end.colour == YELLOW else end.colour,  # yellow cannot be read
            va="center",
            fontsize=7,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": end.colour,
                "lw": 0.4,
                "alpha": 0.6,
                "shrinkA": 0,
                "shrinkB": 2,
            },
        )
