"""What compression did to each page and to all of them, as rows of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np

from adamerge.codes import bytes_per_row
from adamerge.types import NAN
from adamerge.vectors.columns import rows_per_page, value_per_page
from adamerge.vectors.manifest import FLOATS
from adamerge.vectors.row_columns import Columns
from adamerge.vectors.shards import Shards, read_shard


@dataclass(frozen=True)
class PageRow:
    """One page, or the total of several; bytes are those of vectors and extra.

    After compression they are in the folder's dtype; before it they are in the same float, or in float16.
    """

    page: str
    patches: int
    stored: int
    extra: int
    theta: float
    gap: float
    bytes_before: int
    bytes_after: int

    @property
    def compression(self) -> float:
        """1 - stored / patches."""
        if not self.patches:
            return 0.0
        return 1 - self.stored / self.patches

    def json(self) -> dict[str, Any]:
        """The row as JSON has it: nan becomes null."""
        row = asdict(self) | {"compression": self.compression}
        for name in ("theta", "gap"):
            if isnan(row[name]):
                row[name] = None
        return row

    def cells(self) -> list[str]:
        """The row as a person reads it, in the order of HEAD."""
        return [
            self.page,
            f"{self.patches:,}",
            f"{self.stored:,}",
            f"{self.extra:,}",
            f"{self.compression:.1%}",
            _cosine(self.theta),
            _cosine(self.gap),
            f"{self.bytes_before:,}",
            f"{self.bytes_after:,}",
        ]


HEAD = [
    "page",
    "patches",
    "stored",
    "extra",
    "compression",
    "theta",
    "gap",
    "bytes before",
    "after",
]


def page_rows(folder: Shards) -> Iterator[PageRow]:
    """A row per compressed page of a folder; the vectors themselves are not read."""
    dtype = folder.manifest.dtype
    after = bytes_per_row(folder.dimension, dtype)
    before = after if dtype in FLOATS else bytes_per_row(folder.dimension, "float16")
    needed = {"offsets", "patch_offsets", "extra_offsets", "theta", "gap"}
    for name in folder.counts:
        arrays, ids = read_shard(folder.path / name, only=needed)
        yield from _rows_of_shard(arrays, ids, str(folder.path / name), before, after)


def _rows_of_shard(
    arrays: Columns, ids: list[str], where: str, before: int, after: int
) -> Iterator[PageRow]:
    """`before` and `after` are the bytes of one vector."""
    pages = len(ids)
    stored = rows_per_page(arrays, "offsets", pages, where)
    patches = rows_per_page(arrays, "patch_offsets", pages, where)
    extra = np.zeros_like(stored)
    if "extra_offsets" in arrays:
        extra = rows_per_page(arrays, "extra_offsets", pages, where)
    theta = value_per_page(arrays, "theta", pages, where)
    gap = value_per_page(arrays, "gap", pages, where)

    for i, id in enumerate(ids):
        yield PageRow(
            page=id,
            patches=int(patches[i]),
            stored=int(stored[i]),
            extra=int(extra[i]),
            theta=float(theta[i]),
            gap=float(gap[i]),
            bytes_before=int(patches[i] + extra[i]) * before,
            bytes_after=int(stored[i] + extra[i]) * after,
        )


def total(rows: Sequence[PageRow]) -> PageRow:
    """All rows as one: sums, and the median of theta and gap."""
    return PageRow(
        page=f"{len(rows):,} pages",
        patches=sum(row.patches for row in rows),
        stored=sum(row.stored for row in rows),
        extra=sum(row.extra for row in rows),
        theta=_median([row.theta for row in rows]),
        gap=_median([row.gap for row in rows]),
        bytes_before=sum(row.bytes_before for row in rows),
        bytes_after=sum(row.bytes_after for row in rows),
    )


def _median(values: Sequence[float]) -> float:
    """The median of the values that are known; nan where none is."""
    known = [value for value in values if not isnan(value)]
    if not known:
        return NAN
    return float(np.median(known))


def _cosine(value: float) -> str:
    if isnan(value):
        return "-"
    return f"{value:.3f}"
