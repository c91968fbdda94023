"""Entries <-> points of Qdrant: a multi-vector, its mean, and everything else in the payload as JSON has it."""

import base64
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from qdrant_client import models

from adamerge.store.entry import About, Entry, entry_of, row_of
from adamerge.store.metadata import as_utc
from adamerge.vectors.columns import cast


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
        "metadata": {name: plain(value) for name, value in entry.metadata.items() if value is not None},
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
    return {name: read.get(columns[name], same)(value) for name, value in row.items() if value is not None}


def _rounded(boxes: Any) -> list[Any]:
    """Boxes to four digits, a tenth of a thousandth of the page."""
    short: list[Any] = np.round(np.asarray(boxes, np.float64), 4).tolist()
    return short
