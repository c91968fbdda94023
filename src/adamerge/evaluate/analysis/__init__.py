"""What is concluded from results: means, curves, tests and tables. Nothing here needs torch or a compiled kernel.

results             a folder of cells -> Results: what tables and figures ask of it
table               a table as data
frontier            the best measure at each compression, as a curve and as a table
statistical_tests   Wilcoxon's signed-rank test, Holm's correction, bootstrap intervals
paired_tests        the tests of pairs of methods, per encoder and pooled
significance        tables: AdaMerge against PtM, any methods, every method against its controls
ablation            table: the two parts of AdaMerge
cuts                table: theta, where pages are cut
costs               table: efficiency, in time and bytes
variants            tables: unit length, and the readings of the sequence
provenance          tables: the datasets, and what made the results
tables              every table by the name that the command line has for it
"""

from adamerge.evaluate.analysis import tables
from adamerge.evaluate.analysis.ablation import FLOOR
from adamerge.evaluate.analysis.cuts import controlled_by_gaussian
from adamerge.evaluate.analysis.frontier import (
    READINGS,
    Point,
    Series,
    all_series,
    curve,
    drawn_series,
    value_at,
)
from adamerge.evaluate.analysis.results import Results, load_results
from adamerge.evaluate.analysis.table import Row, Table, columns, make_table

__all__ = [
    "FLOOR",
    "READINGS",
    "Point",
    "Results",
    "Row",
    "Series",
    "Table",
    "all_series",
    "columns",
    "controlled_by_gaussian",
    "curve",
    "drawn_series",
    "load_results",
    "make_table",
    "tables",
    "value_at",
]
