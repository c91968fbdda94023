"""Entries <-> points of Qdrant: a multi-vector, its mean, and everything else in the payload as JSON has it.

And filters as Qdrant has them.
"""

import base64
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from qdrant_client import models

from adamerge.errors import BadInput
from adamerge.store.entry import About, Entry, entry_of, row_of
from adamerge.store.filters import OWN, Filter, Group, Test
from adamerge.store.metadata import as_utc
from adamerge.vectors.columns import cast

BOUNDS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}


def uuid_of(id: str) -> str:
    """Qdrant wants a number or a UUID: the one that stands for this id, always the same."""
    return str(uuid5(NAMESPACE_URL, f"adamerge:{id}"))


def to_point(entry: Entry, dtype: str) -> models.PointStruct:
    """The point of an entry, its vectors rounded to a dtype."""
    page = entry.page
    payload = {name: plain(value) for name, value in row_of(entry).items()} | {
        "boxes": None if page.boxes is None else _rounded(page.boxes),
        "word_boxes": _rounded([word.box for word in entry.words]),
        "thumbnail": base64.b64encode(entry.thumbnail).decode(),
        "metadata": {
            name: plain(value) for name, value in entry.metadata.items() if value is not None
        },
    }
    stored = cast(page.stored, dtype, page.id).astype(np.float32)
    vectors = {"vectors": stored.tolist(), "mean": page.stored.mean(0).tolist()}
    return models.PointStruct(id=uuid_of(entry.id), vector=vectors, payload=payload)


def to_entry(point: Any, about: About, columns: Mapping[str, str]) -> Entry:
    """The entry of a point with payload and vectors."""
    row = point.payload
    return entry_of(
        row,
        np.array(point.vector["vectors"], np.float32),
        None if row["boxes"] is None else np.array(row["boxes"], np.float32).reshape(-1, 4),
        row["word_boxes"],
        about.method,
        thumbnail=base64.b64decode(row["thumbnail"]),
        metadata=values_of(row["metadata"], columns),
    )


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, datetime):
        return as_utc(value).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return None if isinstance(value, float) and math.isnan(value) else value


def values_of(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Metadata as it was given."""
    read: dict[str, Callable[[Any], Any]] = {
        "time": datetime.fromisoformat,
        "date": date.fromisoformat,
        "float": float,
    }
    same: Callable[[Any], Any] = lambda value: value  # noqa: E731
    return {
        name: read.get(columns[name], same)(value)
        for name, value in row.items()
        if value is not None
    }


def to_qdrant(filter: Filter | None) -> models.Filter | None:
    """A filter as Qdrant takes it, which has neither an order of texts nor LIKE; what is not there never passes."""
    if filter is None:
        return None
    if isinstance(filter, Group):
        parts: list[Any] = [to_qdrant(part) for part in filter.parts]
        return models.Filter(must=parts) if filter.all else models.Filter(should=parts)
    key = filter.column if filter.column in OWN else f"metadata.{filter.column}"
    empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=key))
    if filter.sign == "IS NULL":
        return models.Filter(must_not=[empty]) if filter.negated else models.Filter(must=[empty])
    if filter.sign == "IN":
        equal: list[Any] = [_equal(key, value) for value in filter.values]
        return (
            models.Filter(must_not=[*equal, empty])
            if filter.negated
            else models.Filter(should=equal)
        )
    return models.Filter(must=[_within(key, filter)])


def _equal(key: str, value: Any) -> models.FieldCondition:
    if isinstance(value, float | date):
        return models.FieldCondition(key=key, range=_range(gte=value, lte=value))
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _within(key: str, test: Test) -> models.FieldCondition:
    (value,) = test.values
    if test.sign not in BOUNDS or isinstance(value, bool | str):
        raise BadInput(
            f"the filter: Qdrant has only = and IN for {test.column}, no {test.sign} {value!r}"
        )
    return models.FieldCondition(key=key, range=_range(**{BOUNDS[test.sign]: value}))


def _range(**bounds: Any) -> Any:
    """Numbers, or moments: a date begins at midnight UTC."""
    for name, value in bounds.items():
        if isinstance(value, date) and not isinstance(value, datetime):
            bounds[name] = as_utc(datetime.combine(value, time()))
    moment = any(isinstance(value, datetime) for value in bounds.values())
    return models.DatetimeRange(**bounds) if moment else models.Range(**bounds)


def _rounded(boxes: Any) -> list[Any]:
    """Boxes to four digits, a tenth of a thousandth of the page."""
    short: list[Any] = np.round(np.asarray(boxes, np.float64), 4).tolist()
    return short
