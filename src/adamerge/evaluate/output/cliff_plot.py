"""Figure: where pages are cut, beside pages without structure."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from adamerge.errors import BadInput
from adamerge.evaluate.analysis import FLOOR, Results, controlled_by_gaussian
from adamerge.evaluate.output.plotting import (
    BLACK,
    GREY,
    RED,
    WIDTH,
    plotting,
    short_dataset,
    short_encoder,
)

USUAL_LETTERS = 20  # of a dataset's name; longer ones make the figure wider
ALL = "all"  # the row of all datasets together


def cliff(results: Results, methods: Sequence[str] = ()) -> Any:
    """Where pages are cut, per dataset: median, quartiles and 5 to 95 %, beside pages without structure.

    methods  to draw, each with its gaussian(METHOD); else those at the paper's floor
    """
    panels = []
    for encoder in results.encoders:
        for method in methods or _default_methods(results, encoder):
            panels.append((encoder, method))
    if not panels:
        raise BadInput("no method has its gaussian(METHOD) beside it: run both")

    with plotting() as plt:
        rows = [ALL, *reversed(results.datasets)]
        lines = (len(panels) + 1) // 2
        longest = max(len(short_dataset(row)) for row in rows)
        width = WIDTH + 0.1 * max(0, longest - USUAL_LETTERS)
        size = (width, lines * (1.1 + 0.27 * len(rows)))
        figure, axes = plt.subplots(
            lines, min(2, len(panels)), figsize=size, sharey=True, squeeze=False
        )
        for axis, (encoder, method) in zip(axes.flat, panels, strict=False):
            _draw_method(axis, results, encoder, method, rows)
            title = method
            if len(results.encoders) > 1:
                title = f"{short_encoder(encoder)}\n{method}"
            axis.set_title(title, loc="left", pad=14)
            axis.set_xlabel("theta")
        figure.tight_layout(w_pad=2)
        return figure


def _default_methods(results: Results, encoder: str) -> list[str]:
    """Methods at the paper's floor with the default sequence, as printed; else the first there is."""
    every = controlled_by_gaussian(results, encoder)
    chosen = []
    for method in every:
        name = results.names[method]
        other_words = name.words().keys() - {"k"}
        if name.options.get("c_min") == FLOOR and not other_words:
            chosen.append(method)
    return chosen or every[:1]


def _draw_method(
    axis: Any, results: Results, encoder: str, method: str, rows: Sequence[str]
) -> None:
    """The boxes of the pages and, a little below, of pages without structure."""
    _draw_boxes(axis, results, encoder, method, rows, RED, 0.14)
    _draw_boxes(axis, results, encoder, f"gaussian({method})", rows, GREY, -0.14)
    legend = {"transform": axis.transAxes, "fontsize": 7}
    axis.text(0.58, 1.01, "page", color=RED, **legend)
    axis.text(0.71, 1.01, "Gaussian", color=GREY, **legend)
    _write_compressions(axis, results, encoder, method, rows)

    floor = results.names[method].number("c_min")
    if floor is not None:
        axis.axvline(floor, color=BLACK, lw=0.6, ls=":")
        axis.text(floor, len(rows) - 0.3, "c_min", fontsize=7, ha="center", va="bottom")
    axis.set_yticks(range(len(rows)), [short_dataset(row) for row in rows])
    axis.set_ylim(-0.6, len(rows) - 0.2)


def _draw_boxes(
    axis: Any,
    results: Results,
    encoder: str,
    method: str,
    rows: Sequence[str],
    colour: str,
    shift: float,
) -> None:
    thetas = {cell.dataset: cell.thetas for cell in results.cells[encoder, method]}
    thetas[ALL] = results.thetas(encoder, method)
    for y, row in enumerate(rows):
        if thetas[row]:
            _draw_box(axis, y + shift, thetas[row], colour)


def _draw_box(axis: Any, y: float, values: Sequence[float], colour: str) -> None:
    """A thin line from 5 to 95 %, a thick one between the quartiles, a circle at the median."""
    low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    axis.plot([low, high], [y, y], color=colour, lw=0.8, solid_capstyle="butt")
    axis.plot([first, third], [y, y], color=colour, lw=4, solid_capstyle="butt", alpha=0.75)
    axis.plot([middle], [y], "o", color="white", mec=colour, ms=3.5, mew=0.9)


def _write_compressions(
    axis: Any, results: Results, encoder: str, method: str, rows: Sequence[str]
) -> None:
    """At the right edge the compression that the cuts give, of pages and of pages without structure."""
    side = axis.get_yaxis_transform()
    for name, colour, x in ((method, RED, 1.04), (f"gaussian({method})", GREY, 1.19)):
        cells = results.cells[encoder, name]
        compressions = {cell.dataset: cell.compression for cell in cells}
        compressions[ALL] = float(np.mean(list(compressions.values())))
        for y, row in enumerate(rows):
            text = f"{compressions[row]:.0%}"
            axis.text(x, y, text, transform=side, color=colour, fontsize=7, va="center")
    axis.text(1.04, len(rows) - 0.45, "compression", transform=side, fontsize=7, va="center")
