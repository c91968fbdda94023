"""Table: efficiency, what a method costs in time and bytes."""

from collections.abc import Sequence
from statistics import fmean

from adamerge.evaluate.analysis.frontier import all_series
from adamerge.evaluate.analysis.results import Results, pick
from adamerge.evaluate.analysis.table import Row, Table, columns, make_table
from adamerge.evaluate.analysis.tables.ablation import COMPRESSION, nearest


def efficiency(
    results: Results, compression: float = COMPRESSION, methods: Sequence[str] = ()
) -> Table:
    """What methods cost: time, bytes, and the measure.

    Without `methods`, those of each series that are nearest to a compression.
    """
    rows: list[Row] = []
    for encoder in results.encoders:
        there = [method for method, _ in results.methods(encoder)]
        asked = pick(methods, there, "cells of")
        for method in asked or _nearest_of_each_series(results, encoder, compression):
            rows.append([encoder, method, *_costs(results, encoder, method)])

    machines = set()
    for cells in results.cells.values():
        for cell in cells:
            machines.add(cell.machine)
    listed = ", ".join(sorted(machines))
    chosen = f"The configuration of each series nearest to {compression:.0%}. "
    if methods:
        chosen = ""
    note = (
        f"{chosen}Bytes in float16, extra rows included; time of one thread, without encoding ({listed}). "
        "Means over datasets; bytes and time over pages."
    )
    head = columns(
        "encoder",
        "method",
        ("compression", ".1%"),
        ("with extra", ".1%"),
        ("bytes a page", ",.0f"),
        ("ms a page", ".2f"),
        (results.measure, ".4f"),
    )
    return make_table("What compression costs", note, head, rows)


def _nearest_of_each_series(results: Results, encoder: str, compression: float) -> list[str]:
    found = []
    for one in all_series(results, encoder, fixed=()):  # all floors are one series
        method = nearest(results, encoder, one.methods, compression)
        if method:
            found.append(method)
    return found


def _costs(results: Results, encoder: str, method: str) -> Row:
    cells = results.cells[encoder, method]
    pages = 0
    stored_bytes = 0
    ms: float | None = 0.0
    for cell in cells:
        pages += cell.pages
        stored_bytes += cell.bytes
        if ms is not None and cell.ms is not None:
            ms += cell.ms * cell.pages
        else:  # a control has no time of its own
            ms = None
    return [
        fmean(cell.compression for cell in cells),
        fmean(cell.compression_of_all for cell in cells),
        stored_bytes / pages,
        None if ms is None else ms / pages,
        results.mean(encoder, method),
    ]
