"""Entries <-> points of Qdrant: a multi-vector, its mean, and everything else in the payload, as JSON has it."""

import base64
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from qdrant_client import models

from adamerge.codes import to_vectors
from adamerge.store.about import About
from adamerge.store.entry import Entry, entry_of, row_of
from adamerge.store.metadata import as_utc

# How the values of a kind are read from JSON, where JSON does not have the kind.
FROM_JSON: dict[str, Callable[[Any], Any]] = {
    "time": datetime.fromisoformat,
    "date": date.fromisoformat,
    "float": float,
}


def uuid_of(id: str) -> str:
    """The UUID that stands for an id, always the same: Qdrant takes only numbers and UUIDs."""
    return str(uuid5(NAMESPACE_URL, f"adamerge:{id}"))


def to_point(entry: Entry, dtype: str) -> models.PointStruct:
    """The point of an entry, its vectors rounded to a dtype."""
    page = entry.page
    metadata = {name: value for name, value in entry.metadata.items() if value is not None}
    payload = to_json(row_of(entry)) | {
        "boxes": None if page.boxes is None else _rounded(page.boxes),
        "word_boxes": _rounded([word.box for word in entry.words]),
        "thumbnail": base64.b64encode(entry.thumbnail).decode(),
        "metadata": to_json(metadata),
    }
    rounded = to_vectors(page.rows_in(dtype))
    vectors = {"vectors": rounded.tolist(), "mean": page.stored.mean(0).tolist()}
    return models.PointStruct(id=uuid_of(entry.id), vector=vectors, payload=payload)


def to_entry(point: Any, about: About, columns: Mapping[str, str]) -> Entry:
    """The entry of a point with payload and vectors."""
    row = point.payload
    boxes = None
    if row["boxes"] is not None:
        boxes = np.array(row["boxes"], np.float32).reshape(-1, 4)
    return entry_of(
        row,
        np.array(point.vector["vectors"], np.float32),
        None,
        boxes,
        row["word_boxes"],
        about.method,
        base64.b64decode(row["thumbnail"]),
        metadata_from_json(row["metadata"], columns),
    )


def to_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name, as JSON has them: times as text, nan as null."""
    return {name: _value_to_json(value) for name, value in values.items()}


def _value_to_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return as_utc(value).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def metadata_from_json(values: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Metadata as they were given; `columns` has the kind of each name."""
    found = {}
    for name, value in values.items():
        if value is None:
            continue
        read = FROM_JSON.get(columns[name])
        if read is not None:
            value = read(value)
        found[name] = value
    return found


def _rounded(boxes: Any) -> list[Any]:
    """Boxes to four digits, a tenth of a thousandth of the page."""
    short: list[Any] = np.round(np.asarray(boxes, np.float64), 4).tolist()
    return short
