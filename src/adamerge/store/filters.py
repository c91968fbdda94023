"""A filter in SQL, read once for every database: year >= 2020 AND NOT language IN ('en', 'de') OR author IS NULL.

Only comparisons of a column with values pass. Whatever else SQL has is refused before a database sees it: a filter may
come from a stranger, and a function of SQL can ask for all memory there is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from math import isfinite
from typing import Any

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError

from adamerge.errors import BadInput
from adamerge.store.metadata import as_utc
from adamerge.store.sql import quoted

OWN = {"id": "text", "source": "text", "number": "int"}  # what a filter can use besides metadata
SIGNS: dict[type, str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
OPPOSITE = {">": "<=", "<=": ">", "<": ">=", ">=": "<"}
MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
# the arguments of a node that we understand
PARTS = {"this", "expression", "expressions", "low", "high", "negate"}
MOST_PARTS = 256  # of one chain of AND or OR: databases read chains by recursion
KNOWN = "= != < <= > >= IN BETWEEN LIKE IS NULL"


@dataclass(frozen=True)
class Test:
    """A column compared with values, or the opposite of that; null passes neither, as in SQL.

    sign  IN (any of the values), < <= > >= LIKE (the one value), IS NULL (no value)
    """

    column: str
    sign: str
    values: tuple[Any, ...] = ()
    negated: bool = False


@dataclass(frozen=True)
class Group:
    """Filters that must all pass, or one of which must."""

    all: bool
    parts: tuple["Filter", ...]


Filter = Test | Group


def parse(where: str, columns: Mapping[str, str]) -> Filter | None:
    """The filter of an expression over id, source, number and metadata, the kinds of which are `columns`."""
    if not where.strip():
        return None
    try:
        return _Reader(where, dict(columns) | OWN).read(_tree(where), False)
    except RecursionError:
        raise BadInput(f"the filter {where[:40]!r}... is nested too deeply") from None


def _tree(where: str) -> Any:
    try:
        trees = Dialect.get_or_raise(None).parse_into(exp.Condition, where)
        (tree,) = (tree for tree in trees if tree is not None)
    except (SqlglotError, ValueError):
        raise BadInput(
            f"the filter {where!r} is not SQL such as year >= 2020 AND language = 'en'"
        ) from None
    return tree


def to_sql(filter: Filter | None) -> str:
    """A filter as Lance takes it; its names and values are checked and quoted, so nothing else can be in it."""
    if filter is None:
        return ""
    if isinstance(filter, Group):
        return "(" + (" AND " if filter.all else " OR ").join(map(to_sql, filter.parts)) + ")"
    no, name = "NOT " if filter.negated else "", f"`{filter.column}`"
    if filter.sign == "IS NULL":
        return f"{name} IS {no}NULL"
    values = ", ".join(map(_literal, filter.values))
    if any(isinstance(value, float) for value in filter.values):
        name = f"CAST({name} AS DOUBLE)"
    return (
        f"{name} {no}IN ({values})" if filter.sign == "IN" else f"{name} {no}{filter.sign} {values}"
    )


def _literal(value: Any) -> str:
    if isinstance(value, datetime):
        return f"timestamp '{value.isoformat()}'"
    if isinstance(value, date):
        return f"date '{value.isoformat()}'"
    return quoted(value) if isinstance(value, str) else str(value).lower()


class _Reader:
    def __init__(self, where: str, columns: Mapping[str, str]) -> None:
        self.where, self.columns = where, columns

    def read(self, node: Any, negated: bool) -> Filter:
        """The filter of a node, or of its opposite: NOT is carried down to the comparisons, where null stays null."""
        if not {name for name, part in node.args.items() if part} <= PARTS:
            raise self.unknown(node)
        negated ^= bool(node.args.get("negate"))  # how some of sqlglot's nodes have NOT
        match node:
            case exp.Paren():
                return self.read(node.this, negated)
            case exp.Not():
                return self.read(node.this, not negated)
            case exp.And() | exp.Or():
                return Group(isinstance(node, exp.And) != negated, self.chain(node, negated))
            case exp.Between(this=column, args={"low": low, "high": high}):
                inside = exp.GTE(this=column, expression=low), exp.LTE(this=column, expression=high)
                return Group(
                    not negated, (self.read(inside[0], negated), self.read(inside[1], negated))
                )
            case exp.Is(this=column, expression=exp.Null()):
                return Test(self.name(column), "IS NULL", negated=negated)
            case exp.Is(this=column, expression=exp.Boolean() as truth):
                # IS TRUE and IS FALSE have an answer for null too
                value, empty = self.value(truth, column), Test(self.name(column), "IS NULL")
                equal = Test(self.name(column), "IN", (value != negated,))
                return Group(False, (equal, empty)) if negated else equal
            case exp.In(this=column, expressions=[_, *_] as values):
                return Test(
                    self.name(column),
                    "IN",
                    tuple(self.value(value, column) for value in values),
                    negated,
                )
            case exp.Column():  # of true and false
                return Test(self.name(node), "IN", (self.value(exp.true(), node),), negated)
        return self.comparison(node, negated)

    def chain(self, node: Any, negated: bool) -> tuple[Filter, ...]:
        """The filters that AND or OR joins, however many: sqlglot nests a chain as deep as it is long."""
        parts = list(node.flatten(unnest=False))
        if len(parts) > MOST_PARTS:
            raise BadInput(
                f"a filter may join {MOST_PARTS} comparisons, got {len(parts)}: use IN for many values"
            )
        return tuple(self.read(part, negated) for part in parts)

    def comparison(self, node: Any, negated: bool) -> Test:
        if type(node) not in (exp.EQ, exp.NEQ, exp.Like, *SIGNS):
            raise self.unknown(node)
        column, value, sign = node.this, node.expression, SIGNS.get(type(node), "IN")
        if isinstance(value, exp.Column) and not isinstance(node, exp.Like):
            column, value, sign = value, column, MIRRORED.get(sign, sign)
        values = (self.value(value, column),)
        if isinstance(node, exp.Like):
            if not isinstance(values[0], str):
                raise self.unknown(node)
            return Test(self.name(column), "LIKE", values, negated)
        if sign == "IN":
            return Test(self.name(column), sign, values, negated != isinstance(node, exp.NEQ))
        return Test(self.name(column), OPPOSITE[sign] if negated else sign, values)

    def unknown(self, node: Any) -> BadInput:
        return BadInput(f"the filter {self.where!r}: {node.sql()!r} is none of {KNOWN}")

    def name(self, column: Any) -> str:
        name = column.name.lower() if isinstance(column, exp.Column) and not column.table else ""
        if name not in self.columns:
            known = ", ".join(sorted(self.columns))
            raise BadInput(
                f"the filter {self.where!r}: no column {column.sql()!r}; there are {known}"
            )
        return name

    def value(self, node: Any, column: Any) -> Any:
        """A literal as the kind of its column: a date may be written DATE '2020-01-31', a number may be negative."""
        kind = self.columns[self.name(column)]
        try:
            value = _typed(node, kind)
        except ValueError:
            value = None
        if value is None:
            raise BadInput(
                f"the filter {self.where!r}: {column.sql()} is a column of {kind}, {node.sql()} is not"
            )
        return value


def _typed(node: Any, kind: str) -> Any:
    """The value of a literal of some kind; None, or ValueError, if it is none."""
    if kind in ("date", "time"):
        return _moment(node, kind)
    if kind in ("int", "float"):
        return _number(node)
    if kind == "bool" and isinstance(node, exp.Boolean):
        return bool(node.this)
    if kind == "text" and isinstance(node, exp.Literal) and node.is_string:
        return node.name
    return None


def _moment(node: Any, kind: str) -> date | datetime | None:
    """A date or a moment: '2020-01-31', DATE '2020-01-31', TIMESTAMP '2020-01-31T12:00:00'."""
    if isinstance(node, exp.Cast):
        if not node.to.is_type(*exp.DataType.TEMPORAL_TYPES):
            return None
        node = node.this
    if not isinstance(node, exp.Literal):
        return None
    if kind == "date":
        return date.fromisoformat(node.name)
    return as_utc(datetime.fromisoformat(node.name))


def _number(node: Any) -> int | float | None:
    """A finite number; whole ones of up to 18 digits are exact."""
    sign = -1 if isinstance(node, exp.Neg) else 1
    literal = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(literal, exp.Literal) or literal.is_string:
        return None
    text = literal.name
    value = int(text) if text.isdigit() and len(text) < 19 else float(text)
    return sign * value if isfinite(value) else None
