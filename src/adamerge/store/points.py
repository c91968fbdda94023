"""Entries <-> points of Qdrant: a multi-vector, its mean, and everything else in the payload as JSON has it."""

import base64
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from qdrant_client import models

from adamerge.store.entry import About, Entry
from adamerge.store.metadata import as_utc
from adamerge.types import Compressed, Cut, Word
from adamerge.vectors.columns import cast


def uuid_of(id: str) -> str:
    """Qdrant wants a number or a UUID: the one that stands for this id, always the same."""
    return str(uuid5(NAMESPACE_URL, f"adamerge:{id}"))


def to_point(entry: Entry, dtype: str) -> models.PointStruct:
    """The point of an entry, its vectors rounded to a dtype."""
    page = entry.page
    stored = cast(page.stored, dtype, page.id).astype(np.float32)
    payload = {
        "id": entry.id,
        "source": entry.source,
        "number": entry.number,
        "pages": entry.pages,
        "root": entry.root,
        "hash": entry.hash,
        "patches": len(page.groups),
        "rows": len(stored),
        "extra": 0 if page.extra is None else len(page.extra),
        "groups": page.groups.tolist(),
        "boxes": None if page.boxes is None else _rounded(page.boxes),
        "grid": page.grid,
        "cut": [page.cut.merges, plain(page.cut.theta), plain(page.cut.gap)],
        "words": [word.text for word in entry.words],
        "word_boxes": _rounded(np.array([word.box for word in entry.words])),
        "thumbnail": base64.b64encode(entry.thumbnail).decode(),
        "metadata": {name: plain(value) for name, value in entry.metadata.items() if value is not None},
    }
    vectors = {"vectors": stored.tolist(), "mean": page.stored.mean(0).tolist()}
    return models.PointStruct(id=uuid_of(entry.id), vector=vectors, payload=payload)


def to_entry(point: Any, about: About, columns: Mapping[str, str]) -> Entry:
    """The entry of a point with payload and vectors."""
    row = point.payload
    stored = np.array(point.vector["vectors"], np.float32)
    m = len(stored) - row["extra"]
    merges, theta, gap = row["cut"]
    page = Compressed(
        stored[:m],
        np.array(row["groups"], np.int32),
        stored[m:] if row["extra"] else None,
        Cut(merges, math.nan if theta is None else theta, math.nan if gap is None else gap),
        about.method,
        tuple(row["grid"]) if row["grid"] else None,
        None if row["boxes"] is None else np.array(row["boxes"], np.float32).reshape(-1, 4),
        row["id"],
    )
    words = tuple(Word(text, tuple(box)) for text, box in zip(row["words"], row["word_boxes"], strict=True))
    values = values_of(row["metadata"], columns)
    return Entry(
        page,
        row["source"],
        row["number"],
        row["pages"],
        row["root"],
        row["hash"],
        words,
        base64.b64decode(row["thumbnail"]),
        values,
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
