"""What is concluded from results: means, curves, tests and tables. Nothing here needs torch or a compiled kernel.

results             a folder of cells -> Results: what tables and figures ask of it
table               a table as data
points, budgets     points and their envelope; every choice of a point for each dataset
frontier            the best measure at each compression, as a curve and as a table
bytes_frontier      methods in several dtypes: bytes a page against the measure
statistical_tests   Wilcoxon's signed-rank test, Holm's correction, bootstrap intervals
paired_tests        the tests of pairs of methods, per encoder and pooled
tables              a module for each table, and all of them by their names
"""

from adamerge.evaluate.analysis import tables
from adamerge.evaluate.analysis.bytes_frontier import (
    WRITTEN_DTYPES,
    SizedMethod,
    on_frontier,
    sized_methods,
)
from adamerge.evaluate.analysis.frontier import (
    BUDGET,
    FLOORS,
    READINGS,
    Series,
    all_series,
    curve,
    drawn_series,
    line_at,
    value_at,
)
from adamerge.evaluate.analysis.points import Point
from adamerge.evaluate.analysis.results import Results, load_results
from adamerge.evaluate.analysis.table import Row, Table, columns, make_table
from adamerge.evaluate.analysis.tables.ablation import FLOOR
from adamerge.evaluate.analysis.tables.cuts import controlled_by_gaussian

__all__ = [
    "BUDGET",
    "FLOOR",
    "FLOORS",
    "READINGS",
    "WRITTEN_DTYPES",
    "Point",
    "Results",
    "Row",
    "Series",
    "SizedMethod",
    "Table",
    "all_series",
    "columns",
    "controlled_by_gaussian",
    "curve",
    "drawn_series",
    "line_at",
    "load_results",
    "make_table",
    "on_frontier",
    "sized_methods",
    "tables",
    "value_at",
]
