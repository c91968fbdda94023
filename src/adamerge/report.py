"""What compression did to each page and to all of them, as rows of a table."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from statistics import median
from typing import Any

import numpy as np

from adamerge.types import NAN
from adamerge.vectors.columns import Columns, rows_per_page, value_per_page
from adamerge.vectors.shards import Shards, read_shard


@dataclass(frozen=True)
class Row:
    """One page, or the total of several; bytes are those of vectors and extra in the folder's dtype."""

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
        return 1 - self.stored / self.patches if self.patches else 0.0

    def json(self) -> dict[str, Any]:
        """The row as JSON has it: nan becomes null."""
        row = asdict(self) | {"compression": self.compression}
        return {k: None if isinstance(v, float) and isnan(v) else v for k, v in row.items()}

    def cells(self) -> list[str]:
        """The row as a person reads it, in the order of HEAD."""
        numbers = [
            f"{self.patches:,}",
            f"{self.stored:,}",
            f"{self.extra:,}",
            f"{self.compression:.1%}",
        ]
        cut = ["-" if isnan(v) else f"{v:.3f}" for v in (self.theta, self.gap)]
        return [self.page, *numbers, *cut, f"{self.bytes_before:,}", f"{self.bytes_after:,}"]


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


def rows(folder: Shards) -> Iterator[Row]:
    """A row per compressed page of a folder; the vectors themselves are not read."""
    width = folder.dimension * np.dtype(folder.manifest.dtype).itemsize
    needed = {"offsets", "patch_offsets", "extra_offsets", "theta", "gap"}
    for name in folder.counts:
        arrays, ids = read_shard(folder.path / name, only=needed)
        yield from _rows_of_shard(arrays, ids, str(folder.path / name), width)


def _rows_of_shard(arrays: Columns, ids: list[str], where: str, width: int) -> Iterator[Row]:
    pages = len(ids)
    stored = rows_per_page(arrays, "offsets", pages, where)
    patches = rows_per_page(arrays, "patch_offsets", pages, where)
    extra = np.zeros_like(stored)
    if "extra_offsets" in arrays:
        extra = rows_per_page(arrays, "extra_offsets", pages, where)
    columns = (
        patches,
        stored,
        extra,
        value_per_page(arrays, "theta", pages, where),
        value_per_page(arrays, "gap", pages, where),
        (patches + extra) * width,
        (stored + extra) * width,
    )
    for values in zip(ids, *(column.tolist() for column in columns), strict=True):
        yield Row(*values)


def total(rows: Sequence[Row]) -> Row:
    """All rows as one: sums, and the median of theta and gap."""
    theta, gap = (_median(getattr(r, name) for r in rows) for name in ("theta", "gap"))
    sums = {name: sum(getattr(r, name) for r in rows) for name in ("patches", "stored", "extra")}
    before, after = sum(r.bytes_before for r in rows), sum(r.bytes_after for r in rows)
    return Row(
        f"{len(rows):,} pages", **sums, theta=theta, gap=gap, bytes_before=before, bytes_after=after
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as they need to be, the first one to the left and numbers to the right."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    first, *rest = widths
    return "\n".join(
        f"{a:<{first}}" + "".join(f"  {b:>{w}}" for b, w in zip(c, rest, strict=True))
        for a, *c in lines
    )


def _median(values: Iterable[float]) -> float:
    known = [v for v in values if not isnan(v)]
    return median(known) if known else NAN
