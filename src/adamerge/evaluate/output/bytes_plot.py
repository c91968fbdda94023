"""Figure: the measure against the bytes of a page, a line for each dtype and the frontier of all."""

from typing import Any

from adamerge.errors import BadInput
from adamerge.evaluate.analysis import (
    WRITTEN_DTYPES,
    Results,
    SizedMethod,
    on_frontier,
    sized_methods,
)
from adamerge.evaluate.output.plotting import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    WIDTH,
    plotting,
    short_encoder,
)

COLOURS = dict(zip(WRITTEN_DTYPES, (BLUE, GREEN, ORANGE, RED, PURPLE), strict=True))
SERIES = "height"  # the method whose points of one dtype are joined by a line
WHOLE = "identity"


def in_bytes(results: Results) -> Any:
    """Measure against kB a page, on a logarithmic scale: a panel for each encoder."""
    with plotting() as plt:
        rows = len(results.encoders)
        figure, axes = plt.subplots(rows, 1, figsize=(WIDTH, 3.2 * rows), squeeze=False)
        for axis, encoder in zip(axes[:, 0], results.encoders, strict=True):
            _draw(axis, results, encoder)
        axes[-1, 0].set_xlabel("kB a page (vectors, extra rows and scales)")
        figure.tight_layout()
        return figure


def _draw(axis: Any, results: Results, encoder: str) -> None:
    methods = sized_methods(results, encoder)
    if not methods:
        raise BadInput(
            'these results have no method in fewer bits: run some with dtype = ["int4"] in the experiment'
        )

    for dtype in WRITTEN_DTYPES:
        of_dtype = [one for one in methods if one.dtype == dtype]
        _draw_dtype(axis, of_dtype, dtype)
    frontier = on_frontier(methods)
    axis.plot(
        _kilobytes(frontier),
        [one.value for one in frontier],
        color=GREY,
        lw=3,
        alpha=0.35,
        drawstyle="steps-post",
        zorder=0,
        label="frontier",
    )
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axis.set_title(short_encoder(encoder), loc="left")
    axis.set_ylabel(f"{results.measure}, mean of {len(results.datasets)} datasets")
    axis.legend(frameon=False, fontsize=7, loc="lower right")


def _draw_dtype(axis: Any, methods: list[SizedMethod], dtype: str) -> None:
    """The heights of a dtype as a line, other methods as points, whole pages as a star."""
    colour = COLOURS[dtype]
    for one in methods:
        if one.merging == WHOLE:
            axis.plot(one.bytes / 1000, one.value, marker="*", ms=8, color=colour, ls="")
        elif not one.merging.startswith(SERIES):
            axis.plot(one.bytes / 1000, one.value, marker="x", ms=4, color=colour, ls="")
    heights = [one for one in methods if one.merging.startswith(SERIES)]
    values = [one.value for one in heights]
    axis.plot(_kilobytes(heights), values, marker="o", ms=3, lw=1.1, color=colour, label=dtype)


def _kilobytes(methods: list[SizedMethod]) -> list[float]:
    return [one.bytes / 1000 for one in methods]
