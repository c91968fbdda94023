"""A filter in SQL -> Qdrant's: year >= 2020 AND NOT language IN ('en', 'de') OR author IS NULL."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import sqlglot
from qdrant_client import models
from sqlglot import exp
from sqlglot.errors import SqlglotError

from adamerge.errors import BadInput
from adamerge.store.metadata import as_utc

OWN = {"id": "text", "source": "text", "number": "int"}
OPPOSITE: dict[type, type] = {exp.EQ: exp.NEQ, exp.GT: exp.LTE, exp.GTE: exp.LT}
OPPOSITE |= {b: a for a, b in OPPOSITE.items()}
BOUND: dict[type, str] = {exp.GT: "gt", exp.GTE: "gte", exp.LT: "lt", exp.LTE: "lte"}
MIRRORED: dict[type, type] = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE}


def to_qdrant(where: str, columns: Mapping[str, str]) -> models.Filter | None:
    """The filter of an expression over id, source, number and metadata; as in SQL, what is not there never passes.

    columns  kinds of the metadata by name
    """
    if not where.strip():
        return None
    try:
        tree = sqlglot.parse_one(where)
    except SqlglotError as error:
        raise BadInput(f"the filter {where!r} is not SQL: {str(error).splitlines()[0]}") from None
    return _Translation(where, dict(columns) | OWN).of(tree, False)


class _Translation:
    def __init__(self, where: str, columns: Mapping[str, str]) -> None:
        self.where, self.columns = where, columns

    def of(self, node: exp.Expr, negated: bool) -> models.Filter:
        """The filter of a node, or of its opposite: NOT is carried down to the comparisons, where null stays null."""
        if isinstance(node, exp.Paren):
            return self.of(node.this, negated)
        if isinstance(node, exp.Not):
            return self.of(node.this, not negated)
        if isinstance(node, exp.And | exp.Or):
            both: list[Any] = [self.of(node.left, negated), self.of(node.right, negated)]
            return models.Filter(must=both) if isinstance(node, exp.And) != negated else models.Filter(should=both)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=self.key(node.this)))
            return models.Filter(must_not=[empty]) if negated else models.Filter(must=[empty])
        if isinstance(node, exp.In) and not node.args.get("query"):
            return self.any_of(node.this, [self.value(v, node.this) for v in node.expressions], negated)
        if isinstance(node, exp.Between):
            inside = exp.And(
                this=exp.GTE(this=node.this, expression=node.args["low"]),
                expression=exp.LTE(this=node.this, expression=node.args["high"]),
            )
            return self.of(inside, negated)
        if isinstance(node, exp.Column):  # a column of true and false
            return self.any_of(node, [not negated], False)
        return self.comparison(node, negated)

    def comparison(self, node: exp.Expr, negated: bool) -> models.Filter:
        kind = type(node)
        if kind not in OPPOSITE:
            raise BadInput(f"the filter {self.where!r}: {node.sql()!r} is none of = != < <= > >= IN BETWEEN IS NULL")
        column, value = node.this, node.expression
        if isinstance(value, exp.Column):
            column, value, kind = value, column, MIRRORED.get(kind, kind)
        kind = OPPOSITE[kind] if negated else kind
        known = self.value(value, column)
        if kind in (exp.EQ, exp.NEQ):
            return self.any_of(column, [known], kind is exp.NEQ)
        if isinstance(known, bool | str):
            raise BadInput(f"the filter {self.where!r}: Qdrant has no order for text, {column.sql()} can be = or IN")
        bound = {BOUND[kind]: known}
        within = models.DatetimeRange(**bound) if isinstance(known, datetime) else models.Range(**bound)
        return models.Filter(must=[models.FieldCondition(key=self.key(column), range=within)])

    def any_of(self, column: exp.Expr, values: list[Any], negated: bool) -> models.Filter:
        key = self.key(column)
        one: list[Any] = [_equal(key, value) for value in values]
        if not negated:
            return models.Filter(should=one)
        return models.Filter(must_not=[*one, models.IsEmptyCondition(is_empty=models.PayloadField(key=key))])

    def key(self, column: exp.Expr) -> str:
        name = column.name if isinstance(column, exp.Column) else ""
        if name not in self.columns:
            known = ", ".join(sorted(self.columns))
            raise BadInput(f"the filter {self.where!r}: no column {column.sql()!r}; there are {known}")
        return name if name in OWN else f"metadata.{name}"

    def value(self, node: exp.Expr, column: exp.Expr) -> Any:
        """A literal as the kind of its column."""
        self.key(column)
        kind, literal = self.columns[column.name], node.this if isinstance(node, exp.Cast | exp.Neg) else node
        sign = -1 if isinstance(node, exp.Neg) else 1
        text = literal.name if isinstance(literal, exp.Literal) else literal.sql()
        try:
            if kind in ("time", "date"):
                return as_utc(datetime.fromisoformat(text))
            if kind == "bool" and isinstance(literal, exp.Boolean):
                return bool(literal.this)
            if kind == "text" and isinstance(literal, exp.Literal) and literal.is_string:
                return text
            if kind in ("int", "float") and isinstance(literal, exp.Literal) and not literal.is_string:
                return sign * (int(text) if text.isdigit() else float(text))
        except ValueError:
            pass
        raise BadInput(f"the filter {self.where!r}: {column.sql()} is a column of {kind}, {node.sql()} is not")


def _equal(key: str, value: Any) -> models.FieldCondition:
    if isinstance(value, float):
        return models.FieldCondition(key=key, range=models.Range(gte=value, lte=value))
    if isinstance(value, date):
        return models.FieldCondition(key=key, range=models.DatetimeRange(gte=value, lte=value))
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))
