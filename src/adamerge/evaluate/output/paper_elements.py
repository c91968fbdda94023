"""Every figure and table of the paper by its number, from results on its datasets.

| element    | is                                                                                  | of                |
|------------|-------------------------------------------------------------------------------------|-------------------|
| figure-1   | measure against compression, an encoder a panel                                     | ViDoRe v2         |
| table-1    | AdaMerge against PtM at the same k, pooled over encoders; at every k, for none is printed | ViDoRe v2   |
| figure-2   | as figure 1                                                                         | ViDoRe v1         |
| figure-3   | how theta is distributed over pages                                                 | both              |
| theta      | the numbers of figure 3, per dataset                                                | both              |
| table-2    | the two parts of AdaMerge at 81 %, with one m for both rows of PtM                  | ViDoRe v2         |
| efficiency | milliseconds and bytes a page (Section 4.5)                                         | ViDoRe v2         |
| published  | every number that the paper prints, and ours                                        | both              |

An element whose datasets are not all in the results is left out.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from adamerge.errors import BadInput
from adamerge.evaluate.analysis import Results, Table, tables
from adamerge.evaluate.data import dataset_names
from adamerge.evaluate.output.compare import compare
from adamerge.evaluate.output.paper_figures import draw_frontiers, draw_theta
from adamerge.evaluate.output.published import CLIFF_METHOD, read_published

V1, V2 = "vidore-v1", "vidore-v2"
POOLED = "pooled"


def paper_figures(results: Results) -> dict[str, Callable[[], Any]]:
    """The figures of the paper that these results are enough for, by number; each is drawn when it is called."""
    found: dict[str, Callable[[], Any]] = {}
    for name, suite, title in (("figure-1", V2, "ViDoRe v2"), ("figure-2", V1, "ViDoRe v1")):
        some = _on(results, suite)
        if some:
            found[name] = partial(draw_frontiers, some, title)
    both = _on(results, V1, V2)
    if both and _encoders_with_theta(both):
        found["figure-3"] = partial(draw_theta, both, _encoders_with_theta(both), CLIFF_METHOD)
    return found


def paper_tables(results: Results) -> dict[str, Table]:
    """The tables of the paper that these results are enough for, by number, and what else it prints."""
    found: dict[str, Table] = {}
    long_pages = _on(results, V2)
    if long_pages:
        found["table-1"] = _table_1(long_pages)
        found["table-2"] = _table_2(long_pages)
        found["efficiency"] = tables.efficiency(long_pages)
    both = _on(results, V1, V2)
    if both and _encoders_with_theta(both):
        found["theta"] = tables.theta(both, [CLIFF_METHOD])
    found["published"] = compare(results)
    return {name: table for name, table in found.items() if table.rows}


def require_paper(results: Results) -> None:
    """Refuse results of which no element of the paper can be made."""
    if not _on(results, V1) and not _on(results, V2):
        raise BadInput(
            "the paper is on ViDoRe v1 and v2, and these results have neither whole: "
            "run experiments/paper.toml, or leave out --paper"
        )


def _on(results: Results, *suites: str) -> Results | None:
    """The results on all datasets of some suites; None where one is missing."""
    names: list[str] = []
    for suite in suites:
        names += dataset_names(suite)
    if not set(names) <= set(results.datasets):
        return None
    return _in_order(results.on(tuple(names)))


def _in_order(results: Results) -> Results:
    """The same results with the encoders in the order of the paper, others behind them."""
    wanted = [*read_published().encoders, *results.encoders]
    cells = sorted(results.cells.items(), key=lambda item: wanted.index(item[0][0]))
    return replace(results, cells=dict(cells))


def _encoders_with_theta(results: Results) -> list[str]:
    """Encoders with the cuts of the paper's method, also on pages without structure."""
    found = []
    for encoder in results.encoders:
        cells = results.cells.get((encoder, CLIFF_METHOD), ())
        has_gaussian = (encoder, f"gaussian({CLIFF_METHOD})") in results.cells
        if has_gaussian and any(cell.thetas for cell in cells):
            found.append(encoder)
    return found


def _table_1(results: Results) -> Table:
    """The pooled rows, or of one encoder its own; as printed, without unit length."""
    table = tables.significance(results)
    encoder = POOLED if len(results.encoders) > 1 else results.encoders[0]
    return _rows_with(table, {"encoder": encoder, "unit": "no"})


def _table_2(results: Results) -> Table:
    table = tables.ablation(results, any_ratio=False)
    return _rows_with(table, {"unit": "no"})


def _rows_with(table: Table, wanted: dict[str, str]) -> Table:
    """A table with only the rows that have some values; a column that the table has not got is not asked."""
    places = {table.place(name): value for name, value in wanted.items() if name in table.names()}
    rows = []
    for row in table.rows:
        if all(row[place] == value for place, value in places.items()):
            rows.append(row)
    return replace(table, rows=tuple(rows))
