"""Filters of searches: SQL of strangers."""

from adamerge.store.filter_parser import parse_filter
from adamerge.store.filters import to_sql
from fuzz.mutators import text_mutator
from fuzz.target import text_target

COLUMNS = {
    "year": "int",
    "price": "float",
    "language": "text",
    "draft": "bool",
    "day": "date",
    "at": "time",
}
WORDS = (
    *COLUMNS,
    *(
        "id",
        "source",
        "number",
        "AND",
        "OR",
        "NOT",
        "IN",
        "BETWEEN",
        "LIKE",
        "IS",
        "NULL",
        "TRUE",
        "CAST(",
        "AS INT",
    ),
    *(
        "(",
        ")",
        "[",
        "{",
        ",",
        "=",
        "!=",
        "<>",
        "<",
        "<=",
        ">",
        ">=",
        "+",
        "-",
        "*",
        "/",
        "||",
        "::",
        ";",
        "--",
        "/*",
    ),
    *(
        "'en'",
        "'2026-01-01'",
        "'2026-01-01T00:00:00Z'",
        "2020",
        "1.5",
        "SELECT",
        "CASE WHEN",
        "date",
        "timestamp",
        "x'",
    ),
)


def read(where: str) -> None:
    """Parse a filter and write it again, as a store does."""
    to_sql(parse_filter(where, COLUMNS))


TARGET = text_target("filters", read, text_mutator(WORDS), share=2, short_run=1000)
