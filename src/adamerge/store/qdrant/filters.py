"""Filters as Qdrant has them. It has neither LIKE nor an order of texts."""

from datetime import date, datetime, time
from typing import Any

from qdrant_client import models

from adamerge.errors import BadInput
from adamerge.store.filters import OWN_COLUMNS, Combination, Comparison, Filter
from adamerge.store.metadata import as_utc

BOUNDS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}


def to_qdrant(filter: Filter | None) -> models.Filter | None:
    """A filter as Qdrant takes it; a page without a value passes no comparison, and no opposite of one."""
    if filter is None:
        return None
    if isinstance(filter, Combination):
        parts: list[Any] = [to_qdrant(part) for part in filter.parts]
        if filter.all:
            return models.Filter(must=parts)
        return models.Filter(should=parts)

    key = filter.column
    if key not in OWN_COLUMNS:
        key = f"metadata.{key}"
    is_empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=key))
    if filter.operator == "IS NULL" and filter.negated:
        return models.Filter(must_not=[is_empty])
    if filter.operator == "IS NULL":
        return models.Filter(must=[is_empty])
    if filter.operator == "IN":
        is_equal: list[Any] = [_is_equal(key, value) for value in filter.values]
        if filter.negated:
            return models.Filter(must_not=[*is_equal, is_empty])
        return models.Filter(should=is_equal)
    return models.Filter(must=[_is_within(key, filter)])


def has_value(key: str, value: Any) -> models.FieldCondition:
    """The condition that a field has a value: a text, a whole number, true or false."""
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _is_equal(key: str, value: Any) -> models.FieldCondition:
    if isinstance(value, float | date):
        return models.FieldCondition(key=key, range=_range(gte=value, lte=value))
    return has_value(key, value)


def _is_within(key: str, comparison: Comparison) -> models.FieldCondition:
    (value,) = comparison.values
    operator = comparison.operator
    if operator not in BOUNDS or isinstance(value, bool | str):
        raise BadInput(
            f"the filter: Qdrant has only = and IN for {comparison.column}, no {operator} {value!r}"
        )
    return models.FieldCondition(key=key, range=_range(**{BOUNDS[operator]: value}))


def _range(**bounds: Any) -> Any:
    """A range of numbers, or of times; a date stands for its midnight in UTC."""
    for name, value in bounds.items():
        if isinstance(value, date) and not isinstance(value, datetime):
            bounds[name] = as_utc(datetime.combine(value, time()))
    if any(isinstance(value, datetime) for value in bounds.values()):
        return models.DatetimeRange(**bounds)
    return models.Range(**bounds)
