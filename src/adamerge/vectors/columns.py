"""Pages <-> flat arrays: all rows of all pages in one matrix, and offsets that say where each page begins.

    vectors  (rows, d)           offsets        (pages + 1,)   rows offsets[i] .. offsets[i+1] are page i's
    extra  (rows, d)             extra_offsets  (pages + 1,)
    attention  (patches,)
    boxes  (patches, 4)
    grid  (pages, 2)             0 x 0 where a page has none

Compressed pages have fewer rows than patches. They have no attention, and

    groups  (patches,)           patch_offsets  (pages + 1,)
    merges, theta, gap  (pages,)                               where each page was cut
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adamerge.arrays import zero_rows
from adamerge.errors import BadInput, Damaged, Mismatch
from adamerge.types import Compressed, Cut, MultiVector

Array = NDArray[Any]
Columns = Mapping[str, Array]


def of_pages(pages: Sequence[MultiVector], dtype: str) -> dict[str, Array]:
    """The flat arrays of pages, their vectors in a dtype."""
    columns = _ragged("vectors", "offsets", [cast(p.vectors, dtype, p.id) for p in pages])
    return columns | _optional("attention", pages) | _common(pages, dtype)


def of_compressed(pages: Sequence[Compressed], dtype: str) -> dict[str, Array]:
    """The flat arrays of compressed pages, their vectors in a dtype."""
    columns = _ragged("vectors", "offsets", [cast(p.vectors, dtype, p.id) for p in pages])
    columns |= _ragged("groups", "patch_offsets", [p.groups for p in pages])
    columns["merges"] = np.array([p.cut.merges for p in pages], np.int32)
    columns["theta"] = np.array([p.cut.theta for p in pages])
    columns["gap"] = np.array([p.cut.gap for p in pages])
    return columns | _common(pages, dtype)


def to_pages(
    columns: Columns, ids: Sequence[str], where: str, start: int = 0
) -> Iterator[MultiVector]:
    """The pages of flat arrays from number `start` on, one at a time; `where` names their file in errors."""
    rows = _rows_of(columns, ids, where)
    for i, id in enumerate(ids[start:], start):
        attention, boxes = (rows(name, "offsets", i) for name in ("attention", "boxes"))
        vectors, extra = rows("vectors", "offsets", i), rows("extra", "extra_offsets", i)
        try:
            yield MultiVector(vectors, attention, extra, _grid(columns, i), boxes, id)
        except BadInput as error:
            raise type(error)(f"{where}, page '{id}': {error}") from None


def to_compressed(
    columns: Columns, ids: Sequence[str], where: str, method: str, start: int = 0
) -> Iterator[Compressed]:
    """The compressed pages of flat arrays from number `start` on, one at a time."""
    rows = _rows_of(columns, ids, where)
    for i, id in enumerate(ids[start:], start):
        vectors, extra = (
            rows(name, by, i) for name, by in (("vectors", "offsets"), ("extra", "extra_offsets"))
        )
        groups, boxes = (rows(name, "patch_offsets", i) for name in ("groups", "boxes"))
        cut = Cut(int(columns["merges"][i]), float(columns["theta"][i]), float(columns["gap"][i]))
        yield Compressed(vectors, groups, extra, cut, method, _grid(columns, i), boxes, id)


def _common(pages: Sequence[MultiVector] | Sequence[Compressed], dtype: str) -> dict[str, Array]:
    columns = _optional("boxes", pages)
    if any(p.extra is not None for p in pages):
        none = np.zeros((0, pages[0].vectors.shape[1]), np.float32)
        extra = [cast(none if p.extra is None else p.extra, dtype, p.id) for p in pages]
        columns |= _ragged("extra", "extra_offsets", extra)
    if any(p.grid for p in pages):
        columns["grid"] = np.array([p.grid or (0, 0) for p in pages], np.int32)
    return columns


def _ragged(name: str, offsets: str, parts: Sequence[Array]) -> dict[str, Array]:
    return {name: np.concatenate(parts), offsets: np.cumsum([0, *map(len, parts)], dtype=np.int64)}


def _optional(name: str, pages: Sequence[Any]) -> dict[str, Array]:
    """An array that all pages have, or none of them."""
    parts = [getattr(p, name) for p in pages]
    have = [p.id for p, part in zip(pages, parts, strict=True) if part is not None]
    if have and len(have) < len(pages):
        lack = next(p.id for p, part in zip(pages, parts, strict=True) if part is None)
        raise Mismatch(
            f"page '{have[0]}' has {name} and page '{lack}' has not: give it to all pages or to none"
        )
    return {name: np.concatenate(parts)} if have else {}


def cast(vectors: Array, dtype: str, id: str) -> Array:
    """Vectors of a page in another dtype; refused where a number or a direction would be lost."""
    with np.errstate(over="ignore"):
        out = vectors.astype(dtype)
    if not np.isfinite(out).all():
        raise BadInput(
            f"page '{id}' holds {np.abs(vectors).max():g}, beyond {dtype}: store it as float32"
        )
    if len(lost := np.setdiff1d(zero_rows(out), zero_rows(vectors))) and len(out):
        raise BadInput(
            f"row {lost[0]} of page '{id}' is too small for {dtype} and would vanish: store it as float32"
        )
    return out


def _rows_of(columns: Columns, ids: Sequence[str], where: str) -> Callable[[str, str, int], Any]:
    """rows(name, offsets, i): the part of an array that is page i's, None where there is no such array."""
    for name, offsets in columns.items():
        if name.endswith("offsets") and not _is_offsets(offsets, len(ids)):
            raise Damaged(f"{where}: '{name}' does not divide its rows among {len(ids)} pages")

    def rows(name: str, by: str, i: int) -> Array | None:
        if name not in columns:
            return None
        array, offsets = columns[name], columns[by]
        if len(array) != offsets[-1]:
            raise Damaged(f"{where}: '{name}' has {len(array)} rows, '{by}' ends at {offsets[-1]}")
        part = array[offsets[i] : offsets[i + 1]]
        if name == "extra" and not len(part):
            return None
        return part.astype(np.float32) if part.dtype == np.float16 else part

    return rows


def _is_offsets(offsets: Array, pages: int) -> bool:
    steps = offsets.ndim == 1 and offsets.dtype.kind in "iu" and len(offsets) == pages + 1
    return steps and offsets[0] == 0 and bool((np.diff(offsets) >= 0).all())


def _grid(columns: Columns, i: int) -> tuple[int, int] | None:
    rows, width = columns["grid"][i].tolist() if "grid" in columns else (0, 0)
    return (rows, width) if rows else None
