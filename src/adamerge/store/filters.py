"""Filters of pages, as every store has them: comparisons of columns with values, joined by AND and OR.

filter_parser.py makes them from the SQL of a user. `to_sql` writes them for Lance, qdrant/filters.py for Qdrant.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

OWN_COLUMNS = {"id": "text", "source": "text", "number": "int"}  # of every store, beside metadata


@dataclass(frozen=True)
class Comparison:
    """A column compared with values, or the opposite of that. A page without a value passes neither, as in SQL.

    operator  IN (equal to one of the values), < <= > >= LIKE (with the one value), IS NULL (no value)
    """

    column: str
    operator: str
    values: tuple[Any, ...] = ()
    negated: bool = False


@dataclass(frozen=True)
class Combination:
    """Several filters: a page must pass all of them, or at least one."""

    all: bool
    parts: tuple["Filter", ...]


Filter = Comparison | Combination


def to_sql(filter: Filter | None) -> str:
    """A filter in SQL. Columns were checked and values are quoted, so it holds nothing that a user wrote as it was."""
    if filter is None:
        return ""
    if isinstance(filter, Combination):
        joint = " AND " if filter.all else " OR "
        return f"({joint.join(map(to_sql, filter.parts))})"
    return _comparison_to_sql(filter)


def _comparison_to_sql(comparison: Comparison) -> str:
    column = f"`{comparison.column}`"
    negation = "NOT " if comparison.negated else ""
    if comparison.operator == "IS NULL":
        return f"{column} IS {negation}NULL"

    if any(isinstance(value, float) for value in comparison.values):
        column = f"CAST({column} AS DOUBLE)"
    values = ", ".join(map(_literal, comparison.values))
    if comparison.operator == "IN":
        return f"{column} {negation}IN ({values})"
    return f"{column} {negation}{comparison.operator} {values}"


def _literal(value: Any) -> str:
    """A value as SQL writes it."""
    if isinstance(value, datetime):
        return f"timestamp '{value.isoformat()}'"
    if isinstance(value, date):
        return f"date '{value.isoformat()}'"
    if isinstance(value, str):
        return quoted(value)
    return str(value).lower()  # true, false and numbers


def quoted(text: str) -> str:
    """A text as SQL writes it: in single quotes, those inside it doubled."""
    return "'" + text.replace("'", "''") + "'"
