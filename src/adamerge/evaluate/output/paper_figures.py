"""The figures of the paper: two frontiers side by side, and the distribution of theta."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from adamerge.evaluate.analysis import BUDGET, READINGS, Results, Series, drawn_series
from adamerge.evaluate.output.frontier_plot import draw_curve, line_label, line_style
from adamerge.evaluate.output.plotting import (
    BLACK,
    GREY,
    RED,
    WIDTH,
    plotting,
    short_dataset,
    short_encoder,
)

SHARED = READINGS[0]
METHODS = ("docpruner", "sem-cluster", "ptm", "adamerge")  # that the paper draws
BINS = np.linspace(0.6, 1.0, 81)


def draw_frontiers(results: Results, title: str) -> Any:
    """Measure against compression, a panel for each encoder, as printed: without unit length.

    PtM takes one k for all datasets and an m for each, the others one configuration for all.
    """
    with plotting() as plt:
        count = len(results.encoders)
        figure, axes = plt.subplots(1, count, figsize=(WIDTH, 3.4), squeeze=False)
        for axis, encoder in zip(axes[0], results.encoders, strict=True):
            _draw_encoder(axis, results, encoder)
            axis.set_title(f"{title}, {short_encoder(encoder)}", loc="left")
        axes[0][0].set_ylabel(f"{results.measure}, mean of {len(results.datasets)} datasets")
        lines, labels = axes[0][0].get_legend_handles_labels()
        figure.tight_layout(w_pad=2, rect=(0, 0.14, 1, 1))
        figure.legend(lines, labels, loc="lower center", ncol=3, frameon=False, fontsize=7)
        return figure


def _draw_encoder(axis: Any, results: Results, encoder: str) -> None:
    for one in drawn_series(results, encoder):
        if one.shared.method not in METHODS or one.shared.options.get("k") == "none":
            continue
        style = line_style(one.shared, iter(()))
        draw_curve(axis, results, encoder, one, _reading(one), style, line_label(one))
    if results.has(encoder, "identity"):
        height = results.mean(encoder, "identity")
        axis.axhline(height, color=GREY, lw=0.8, ls=(0, (4, 3)), label="identity")
    axis.set_xlim(0, 1)
    axis.set_xlabel("compression")
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")


def _reading(one: Series) -> str:
    return BUDGET if one.shared.method == "ptm" else SHARED


def draw_theta(results: Results, encoders: Sequence[str], method: str) -> Any:
    """The share of pages by their theta, and the median of every dataset below it; a panel for each encoder."""
    with plotting() as plt:
        height = 2.0 + 0.17 * len(results.datasets)
        figure, axes = plt.subplots(
            2,
            len(encoders),
            figsize=(WIDTH, height),
            squeeze=False,
            sharex="col",
            sharey="row",
            height_ratios=[1.6, 0.17 * len(results.datasets)],
        )
        for (above, below), encoder in zip(axes.T, encoders, strict=True):
            _draw_histogram(above, results, encoder, method)
            _draw_medians(below, results, encoder, method)
        axes[0][0].set_ylabel("share of pages")
        figure.tight_layout(w_pad=2)
        return figure


def _draw_histogram(axis: Any, results: Results, encoder: str, method: str) -> None:
    thetas = results.thetas(encoder, method)
    weights = np.full(len(thetas), 1 / len(thetas))
    axis.hist(np.clip(thetas, BINS[0], BINS[-1]), BINS, weights=weights, color=RED, alpha=0.75)
    median = float(np.median(thetas))
    axis.axvline(median, color=BLACK, lw=0.8)
    axis.set_title(
        f"{short_encoder(encoder)}\n{len(thetas):,} pages, median {median:.2f}", loc="left"
    )


def _draw_medians(axis: Any, results: Results, encoder: str, method: str) -> None:
    cells = results.cells[encoder, method]
    for y, cell in enumerate(reversed(cells)):
        if cell.thetas:
            axis.plot([float(np.median(cell.thetas))], [y], "o", color=RED, ms=3)
    axis.set_yticks(range(len(cells)), [short_dataset(cell.dataset) for cell in reversed(cells)])
    axis.set_ylim(-0.7, len(cells) - 0.3)
    axis.set_xlabel("theta; below, the median of each dataset")
