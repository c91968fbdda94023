"""Table: theta, the cosine of the last merge made, beside the same on pages without structure."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from adamerge.evaluate.analysis.results import Results, pick
from adamerge.evaluate.analysis.table import Row, Table, columns, make_table
from adamerge.evaluate.experiment import Cell


def theta(results: Results, methods: Sequence[str] = ()) -> Table:
    """Where pages are cut, beside the same on structureless pages: median and spread per dataset, and over all."""
    rows: list[Row] = []
    for encoder in results.encoders:
        there = controlled_by_gaussian(results, encoder)
        asked = pick(methods, there, "gaussian(M) beside M of")
        for method in asked or there:
            rows += _rows_of_method(results, encoder, method)

    measured = (("pages cut", ".0%"), ("median", ".3f"), ("sd", ".3f"), ("compression", ".1%"))
    of_gaussian = [(f"Gaussian {name}", form) for name, form in measured]
    head = columns("encoder", "method", "dataset", ("pages", ",d"), *measured, *of_gaussian)
    note = (
        "Theta is the cosine of the last merge made. Gaussian: each page's patches replaced by a draw with the same "
        "mean and covariance, so without structure; its attention is the page's own."
    )
    title = "Where pages are cut, and where pages without structure are"
    return make_table(title, note, head, rows)


def controlled_by_gaussian(results: Results, encoder: str) -> list[str]:
    """Methods whose cuts were also made on structureless pages."""
    found = []
    for one, control in results.cells:
        name = results.names[control]
        if one == encoder and name.control == "gaussian":
            method = results.find(encoder, replace(name, control=""))
            if method:
                found.append(method)
    return sorted(found)


def _rows_of_method(results: Results, encoder: str, method: str) -> list[Row]:
    real = results.cells[encoder, method]
    gaussian = results.cells[encoder, f"gaussian({method})"]

    rows: list[Row] = []
    for dataset, page, other in zip(results.datasets, real, gaussian, strict=True):
        row: Row = [encoder, method, dataset, page.pages]
        rows.append([*row, *_summary([page]), *_summary([other])])
    if len(real) > 1:  # of one dataset the last row would say the same again
        pages = sum(cell.pages for cell in real)
        rows.append([encoder, method, "all", pages, *_summary(real), *_summary(gaussian)])
    return rows


def _summary(cells: Sequence[Cell]) -> Row:
    """Share of pages with a cut, median and standard deviation of their theta, and mean compression."""
    compression = fmean(cell.compression for cell in cells)
    pages = sum(len(cell.theta) for cell in cells)
    thetas: list[float] = []
    for cell in cells:
        thetas += cell.thetas
    if not thetas:
        return [0.0, None, None, compression]

    spread = float(np.std(thetas, ddof=1)) if len(thetas) > 1 else None
    return [len(thetas) / pages, float(np.median(thetas)), spread, compression]
