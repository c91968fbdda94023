"""The figures of the evaluation, by name, fit for print: colours that the colour-blind can tell apart, names on curves.

Text stays text in SVG, and the same results make the same bytes. Needs the extra `paper`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np

from adamerge.compress.names import Name
from adamerge.errors import BadInput, missing_extra
from adamerge.evaluate.frontier import READINGS, Point, Series, curve, drawn
from adamerge.evaluate.points import Results
from adamerge.evaluate.tables import FLOOR, controlled_by_gaussian

WIDTH = 7.0  # inches: both columns of a page
DPI = 200
# Okabe and Ito; what is not named takes the rest in turn
COLOURS = {
    "docpruner": "#0072B2",
    "sem-cluster": "#009E73",
    "ptm": "#E69F00",
    "adamerge": "#D55E00",
}
UNPRUNED = "#CC79A7"
OTHERS = ("#56B4E9", "#000000", "#F0E442")
GREY = "#777777"
MARKERS = {"docpruner": "s", "sem-cluster": "^", "ptm": "D"}
STYLE = {
    "font.size": 8,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.titlesize": 8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "adamerge",
}
KINDS = ("svg", "png")
TITLES = {"shared": "one configuration for all", "per dataset": "one per dataset"}


def frontier(results: Results, unit: bool = False) -> Any:
    """Measure against compression: a row per encoder, a panel per reading of the envelope."""
    with _plotting() as plt:
        rows = len(results.encoders)
        figure, axes = plt.subplots(
            rows, 2, figsize=(WIDTH, 0.3 + 2.7 * rows), sharex=True, sharey="row", squeeze=False
        )
        for line, encoder in zip(axes, results.encoders, strict=True):
            every = drawn(results, encoder, unit)
            chosen = [one for one in every if one.shared.method != "identity"]
            for axis, reading in zip(line, READINGS, strict=True):
                ends = _curves(axis, results, encoder, chosen, reading)
                axis.set_title(f"{encoder}: {TITLES[reading]}", loc="left")
            _name_ends(line[-1], ends)
            line[0].set_ylabel(f"{results.measure}, mean of {len(results.datasets)} datasets")
        for axis in axes[-1]:
            axis.set_xlabel("compression")
            axis.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
        figure.tight_layout(w_pad=1.5)
        return figure


def cliff(results: Results, methods: Sequence[str] = ()) -> Any:
    """Where pages are cut, per dataset: median, quartiles and 5 to 95 %, beside pages without structure."""
    panels = [(e, m) for e in results.encoders for m in methods or _shown(results, e)]
    if not panels:
        raise BadInput("no method has its gaussian(METHOD) beside it: run both")
    with _plotting() as plt:
        names = ["all", *reversed(results.datasets)]
        lines = -(-len(panels) // 2)
        size = (WIDTH, lines * (1.1 + 0.27 * len(names)))
        figure, axes = plt.subplots(
            lines, min(2, len(panels)), figsize=size, sharey=True, squeeze=False
        )
        for axis, (encoder, method) in zip(axes.flat, panels, strict=False):
            _boxes(axis, results, encoder, method, names)
            axis.set_title(
                f"{encoder}\n{method}" if len(results.encoders) > 1 else method, loc="left", pad=14
            )
            axis.set_xlabel("theta")
        figure.tight_layout(w_pad=2)
        return figure


FIGURES: dict[str, Callable[[Results], Any]] = {
    "frontier": frontier,
    "frontier-unit": lambda results: frontier(results, unit=True),
    "cliff": cliff,
}


def render(figure: Any, kind: str) -> bytes:
    """A figure as the bytes of an SVG or PNG file."""
    out = BytesIO()
    with _plotting() as plt:
        stamp = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(
            out, format=kind, dpi=DPI, bbox_inches="tight", pad_inches=0.03, metadata=stamp
        )
        plt.close(figure)
    return out.getvalue()


@contextmanager
def _plotting() -> Iterator[Any]:
    try:
        import matplotlib
    except ImportError:
        raise missing_extra("drawing", "paper") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):  # type: ignore[arg-type]
        yield plt


def _curves(
    axis: Any, results: Results, encoder: str, chosen: Sequence[Series], reading: str
) -> list[tuple[str, str, Point]]:
    """Draw the curves; name, colour and end of each."""
    ends = []
    others = iter(OTHERS * len(chosen))
    for one in chosen:
        colour, dashes = _line(one.shared, others)
        points = curve(results, encoder, one, reading)
        marker = MARKERS.get(one.shared.method, "o")
        xs, ys = zip(*points, strict=True)
        marks = {
            "marker": marker,
            "ms": 3 if reading == "shared" or len(xs) == 1 else 0,
            "markevery": slice(1, None),
        }
        axis.plot(
            [0, *xs], [ys[0], *ys], dashes, color=colour, lw=1.1, drawstyle="steps-pre", **marks
        )
        ends.append((str(one.shared), colour, points[-1]))
    if results.has(encoder, "identity"):
        height = results.mean(encoder, "identity")
        axis.axhline(height, color=GREY, lw=0.8, ls=(0, (4, 3)))
        ends.append(("identity", GREY, (1.0, height)))
    axis.set_xlim(0, 1)
    return ends


def _line(shared: Name, others: Iterator[str]) -> tuple[str, str]:
    """Colour and dashes of a series; those that have no colour of their own take the next of `others`."""
    if shared.options.get("k") == "none":
        return UNPRUNED, "--"
    colour = COLOURS[shared.method] if shared.method in COLOURS else next(others)
    dashes = "-" if shared.options.get("c_min", FLOOR) == FLOOR else ":"
    return colour, dashes


def _name_ends(axis: Any, ends: Sequence[tuple[str, str, Point]]) -> None:
    """Names at the right edge, in the order of the ends and apart, each tied to its curve's end."""
    low, high = axis.get_ylim()
    gap = (high - low) * 0.068
    ordered = sorted(ends, key=lambda end: end[2][1])
    heights = [end[2][1] for end in ordered]
    for i in range(1, len(heights)):
        heights[i] = max(heights[i], heights[i - 1] + gap)
    over = max(0.0, heights[-1] - high) if heights else 0.0
    for (name, colour, (x, y)), height in zip(ordered, heights, strict=True):
        axis.annotate(
            name.replace(":", " ").replace("unit=true", "unit").replace(",", " "),
            (x, y),
            (1.04, height - over),
            color=colour if colour != "#F0E442" else "#000000",
            va="center",
            fontsize=7,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "lw": 0.4,
                "alpha": 0.6,
                "shrinkA": 0,
                "shrinkB": 2,
            },
        )


def _shown(results: Results, encoder: str) -> list[str]:
    """Methods at the paper's floor with the default sequence, as printed; else the first there is."""
    every = controlled_by_gaussian(results, encoder)
    names = {method: results.names[method] for method in every}
    floored = [method for method in every if names[method].options.get("c_min") == FLOOR]
    chosen = [method for method in floored if not names[method].words().keys() - {"k"}]
    return chosen or every[:1]


def _boxes(axis: Any, results: Results, encoder: str, method: str, names: Sequence[str]) -> None:
    both = [(method, "#D55E00", 0.14, "page"), (f"gaussian({method})", GREY, -0.14, "Gaussian")]
    for name, colour, shift, said in both:
        cells = {cell.dataset: cell for cell in results.cells[encoder, name]}
        found = {d: [t for t in cell.theta if t is not None] for d, cell in cells.items()}
        found["all"] = [t for some in found.values() for t in some]
        for y, dataset in enumerate(names):
            if found[dataset]:
                _box(axis, y + shift, found[dataset], colour)
        axis.text(
            0.58 if shift > 0 else 0.71,
            1.01,
            said,
            transform=axis.transAxes,
            color=colour,
            fontsize=7,
        )
    _sizes(axis, results, encoder, method, names)
    floor = results.names[method].number("c_min")
    if floor is not None:
        axis.axvline(floor, color="#000000", lw=0.6, ls=":")
        axis.text(floor, len(names) - 0.3, "c_min", fontsize=7, ha="center", va="bottom")
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(-0.6, len(names) - 0.2)


def _box(axis: Any, y: float, values: Sequence[float], colour: str) -> None:
    low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    axis.plot([low, high], [y, y], color=colour, lw=0.8, solid_capstyle="butt")
    axis.plot([first, third], [y, y], color=colour, lw=4, solid_capstyle="butt", alpha=0.75)
    axis.plot([middle], [y], "o", color="white", mec=colour, ms=3.5, mew=0.9)


def _sizes(axis: Any, results: Results, encoder: str, method: str, names: Sequence[str]) -> None:
    """What the cuts come to: the compression of pages, and of those without structure, at the right."""
    side = axis.get_yaxis_transform()
    for name, colour, x in ((method, "#D55E00", 1.04), (f"gaussian({method})", GREY, 1.19)):
        cells = {cell.dataset: cell.compression for cell in results.cells[encoder, name]}
        cells["all"] = float(np.mean(list(cells.values())))
        for y, dataset in enumerate(names):
            axis.text(
                x, y, f"{cells[dataset]:.0%}", transform=side, color=colour, fontsize=7, va="center"
            )
    axis.text(1.04, len(names) - 0.45, "compression", transform=side, fontsize=7, va="center")
