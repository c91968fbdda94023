"""The SQL of a user -> a filter: year >= 2020 AND NOT language IN ('en', 'de') OR author IS NULL.

Only comparisons of a column with values pass. Everything else in SQL is refused before a database sees it: a filter may
come from a stranger, and a function of SQL can ask for all memory there is.
"""

from collections.abc import Mapping
from datetime import date, datetime
from math import isfinite
from typing import Any

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError

from adamerge.errors import BadInput, did_you_mean
from adamerge.store.filters import OWN_COLUMNS, Combination, Comparison, Filter
from adamerge.store.metadata import as_utc

OPERATORS: dict[type, str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
OPPOSITE = {">": "<=", "<=": ">", "<": ">=", ">=": "<"}
MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
# The arguments of a node of sqlglot that the parser understands.
ARGUMENTS = {"this", "expression", "expressions", "low", "high", "negate"}
MOST_PARTS = 256  # of one chain of AND or OR: databases read chains by recursion
KNOWN = "= != < <= > >= IN BETWEEN LIKE IS NULL"


def parse_filter(where: str, columns: Mapping[str, str]) -> Filter | None:
    """The filter of an expression over id, source, number and metadata; `columns` has the kind of each metadata."""
    if not where.strip():
        return None
    parser = _Parser(where, dict(columns) | OWN_COLUMNS)
    try:
        return parser.filter_of(_syntax_tree(where), False)
    except RecursionError:
        raise BadInput(f"the filter {where[:40]!r}... is nested too deeply") from None


def _syntax_tree(where: str) -> Any:
    try:
        trees = Dialect.get_or_raise(None).parse_into(exp.Condition, where)
        (tree,) = (tree for tree in trees if tree is not None)
    except (SqlglotError, ValueError):
        raise BadInput(
            f"the filter {where!r} is not SQL such as year >= 2020 AND language = 'en'"
        ) from None
    return tree


class _Parser:
    def __init__(self, where: str, columns: Mapping[str, str]) -> None:
        self.where = where
        self.columns = columns

    def filter_of(self, node: Any, negated: bool) -> Filter:
        """The filter of a node, or of its opposite.

        NOT goes down to the comparisons: there, a page without a value passes neither a filter nor its opposite.
        """
        arguments = {name for name, argument in node.args.items() if argument}
        if not arguments <= ARGUMENTS:
            raise self.unknown(node)
        if node.args.get("negate"):  # how some nodes of sqlglot say NOT
            negated = not negated

        match node:
            case exp.Paren():
                return self.filter_of(node.this, negated)
            case exp.Not():
                return self.filter_of(node.this, not negated)
            case exp.And() | exp.Or():
                is_and = isinstance(node, exp.And)
                return Combination(is_and != negated, self.chain(node, negated))
            case exp.Between():
                return self.between(node, negated)
            case exp.Is():
                return self.is_null_or_truth(node, negated)
            case exp.In(this=column, expressions=[_, *_] as listed):
                values = tuple(self.value(value, column) for value in listed)
                return Comparison(self.name(column), "IN", values, negated)
            case exp.Column():  # a column of true and false by itself
                return Comparison(self.name(node), "IN", (self.value(exp.true(), node),), negated)
        return self.comparison(node, negated)

    def chain(self, node: Any, negated: bool) -> tuple[Filter, ...]:
        """The filters that AND or OR joins, however many: sqlglot nests a chain as deep as it is long."""
        parts = list(node.flatten(unnest=False))
        if len(parts) > MOST_PARTS:
            raise BadInput(
                f"a filter may join {MOST_PARTS} comparisons, got {len(parts)}: use IN for many values"
            )
        return tuple(self.filter_of(part, negated) for part in parts)

    def between(self, node: Any, negated: bool) -> Filter:
        """BETWEEN a AND b is >= a AND <= b."""
        low = exp.GTE(this=node.this, expression=node.args["low"])
        high = exp.LTE(this=node.this, expression=node.args["high"])
        parts = (self.filter_of(low, negated), self.filter_of(high, negated))
        return Combination(not negated, parts)

    def is_null_or_truth(self, node: Any, negated: bool) -> Filter:
        """IS NULL, IS TRUE and IS FALSE; the opposites of the last two also pass a page without a value."""
        if isinstance(node.expression, exp.Null):
            return Comparison(self.name(node.this), "IS NULL", negated=negated)
        if not isinstance(node.expression, exp.Boolean):
            raise self.unknown(node)
        name = self.name(node.this)
        value = self.value(node.expression, node.this)
        if not negated:
            return Comparison(name, "IN", (value,))
        is_other = Comparison(name, "IN", (not value,))
        is_empty = Comparison(name, "IS NULL")
        return Combination(False, (is_other, is_empty))

    def comparison(self, node: Any, negated: bool) -> Comparison:
        """One of = != < <= > >= and LIKE; `2020 < year` is read as `year > 2020`."""
        if isinstance(node, exp.Like):
            return self.like(node, negated)
        if type(node) not in (exp.EQ, exp.NEQ, *OPERATORS):
            raise self.unknown(node)

        column, literal = node.this, node.expression
        operator = OPERATORS.get(type(node), "IN")
        if isinstance(literal, exp.Column):
            column, literal = literal, column
            operator = MIRRORED.get(operator, operator)
        values = (self.value(literal, column),)

        if operator == "IN":
            is_unequal = isinstance(node, exp.NEQ)
            return Comparison(self.name(column), "IN", values, negated != is_unequal)
        if negated:
            operator = OPPOSITE[operator]
        return Comparison(self.name(column), operator, values)

    def like(self, node: Any, negated: bool) -> Comparison:
        pattern = self.value(node.expression, node.this)
        if not isinstance(pattern, str):
            raise self.unknown(node)
        return Comparison(self.name(node.this), "LIKE", (pattern,), negated)

    def unknown(self, node: Any) -> BadInput:
        return BadInput(f"the filter {self.where!r}: {node.sql()!r} is none of {KNOWN}")

    def name(self, column: Any) -> str:
        """The name of a column that the store has."""
        name = ""
        if isinstance(column, exp.Column) and not column.table:
            name = column.name.lower()
        if name not in self.columns:
            raise BadInput(f"the filter {self.where!r}: {self._no_column(column)}")
        return name

    def _no_column(self, column: Any) -> str:
        """What to say of something that is no column: it may be misspelt, or a text without its quotes."""
        text = column.sql()
        known = ", ".join(sorted(self.columns))
        if not isinstance(column, exp.Column):
            return f"no column {text!r}; there are {known}, and no functions"
        if like := did_you_mean(column.name, self.columns):
            return f"no column {text!r}{like}; there are {known}"
        if column.parent is not None and column.parent.expression is column:
            return f"no column {text!r}; a text stands in single quotes: '{column.name}'"
        return f"no column {text!r}; there are {known}"

    def value(self, node: Any, column: Any) -> Any:
        """A literal as the kind of its column: a date may be written DATE '2020-01-31', a number may be negative."""
        kind = self.columns[self.name(column)]
        try:
            value = _value_of_kind(node, kind)
        except ValueError:
            value = None
        if value is None:
            raise BadInput(
                f"the filter {self.where!r}: {column.sql()} is a column of {kind}, {node.sql()} is not"
            )
        return value


def _value_of_kind(node: Any, kind: str) -> Any:
    """The value of a literal of some kind; None, or ValueError, if it is of another kind."""
    if kind in ("date", "time"):
        return _date_or_time(node, kind)
    if kind in ("int", "float"):
        return _number(node)
    if kind == "bool" and isinstance(node, exp.Boolean):
        return bool(node.this)
    if kind == "text" and isinstance(node, exp.Literal) and node.is_string:
        return node.name
    return None


def _date_or_time(node: Any, kind: str) -> date | datetime | None:
    """A date or a time: '2020-01-31', DATE '2020-01-31', TIMESTAMP '2020-01-31T12:00:00'."""
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
    sign = 1
    if isinstance(node, exp.Neg):
        sign, node = -1, node.this
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    text = node.name
    if text.isdigit() and len(text) < 19:
        return sign * int(text)
    value = sign * float(text)
    return value if isfinite(value) else None
