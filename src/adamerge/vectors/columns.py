"""Pages <-> flat arrays: all rows of all pages in one matrix, and offsets that say where each page begins.

    vectors  (rows, d)           offsets        (pages + 1,)   rows offsets[i] .. offsets[i+1] are page i's
    extra  (rows, d)             extra_offsets  (pages + 1,)
    attention  (patches,)
    boxes  (patches, 4)
    grid  (pages, 2)             0 x 0 where a page has none

Compressed pages have fewer rows than patches. They have no attention, and

    groups  (patches,)           patch_offsets  (pages + 1,)
    merges, theta, gap  (pages,)                               where each page was cut

In int8 and in codes a row has a scale too: row_columns.py.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from adamerge import arrays
from adamerge.arrays import Floats, row_offsets
from adamerge.codes import StoredRows, concatenate, to_rows, to_vectors
from adamerge.errors import BadInput, Damaged, Mismatch
from adamerge.types import Compressed, Cut, MultiVector
from adamerge.vectors.row_columns import (
    Array,
    Columns,
    check_rows,
    of_stored_rows,
    to_rows_of_page,
)


class Column(NamedTuple):
    """What an array of a layout must be; its rows are divided by `offsets`, or there is one a page."""

    kinds: str  # of its dtype: f floating, i and u whole numbers
    rank: int
    offsets: str = ""
    width: int | None = None


NUMBERS = "fiu"
PAGES = {
    "vectors": Column(NUMBERS, 2, "offsets"),
    "attention": Column(NUMBERS, 1, "offsets"),
    "boxes": Column(NUMBERS, 2, "offsets", 4),
    "extra": Column(NUMBERS, 2, "extra_offsets"),
    "grid": Column("iu", 2, width=2),
}
COMPRESSED = {
    "vectors": Column(NUMBERS, 2, "offsets"),
    "scales": Column("f", 1, "offsets"),
    "groups": Column("iu", 1, "patch_offsets"),
    "boxes": Column("f", 2, "patch_offsets", 4),
    "extra": Column(NUMBERS, 2, "extra_offsets"),
    "extra_scales": Column("f", 1, "extra_offsets"),
    "grid": Column("iu", 2, width=2),
    "merges": Column("iu", 1),
    "theta": Column("f", 1),
    "gap": Column("f", 1),
}
ALWAYS = {"vectors", "groups", "merges", "theta", "gap"}  # the others are there or not


def of_pages(pages: Sequence[MultiVector], dtype: str) -> dict[str, Array]:
    """The flat arrays of pages, their vectors in a dtype."""
    columns = _vectors(pages, dtype)
    columns |= _extra(pages, dtype)
    columns |= _optional("attention", pages)
    columns |= _optional("boxes", pages)
    columns |= _grids(pages)
    return columns


def of_compressed(pages: Sequence[Compressed], dtype: str) -> dict[str, Array]:
    """The flat arrays of compressed pages, their vectors in a dtype."""
    columns = of_stored_rows(pages, dtype)
    groups = [page.groups for page in pages]
    columns |= _ragged("groups", "patch_offsets", groups)

    cuts = [page.cut for page in pages]
    columns["merges"] = np.array([cut.merges for cut in cuts], np.int32)
    columns["theta"] = np.array([cut.theta for cut in cuts])
    columns["gap"] = np.array([cut.gap for cut in cuts])

    columns |= _optional("boxes", pages)
    columns |= _grids(pages)
    return columns


def to_pages(
    columns: Columns, ids: Sequence[str], where: str, start: int = 0
) -> Iterator[MultiVector]:
    """The pages of flat arrays from number `start` on, one at a time; `where` names their file in errors."""
    for load in page_loaders(columns, ids, where, start):
        yield load()


def page_loaders(
    columns: Columns, ids: Sequence[str], where: str, start: int = 0
) -> Iterator[Callable[[], MultiVector]]:
    """A function for each of those pages that checks the page and turns it into float32; any thread may call it."""
    _check(columns, PAGES, len(ids), where)
    for i, id in enumerate(ids[start:], start):
        yield partial(_to_page, columns, i, id, where)


def _to_page(columns: Columns, i: int, id: str, where: str) -> MultiVector:
    try:
        return MultiVector(
            vectors=_part(columns, PAGES, "vectors", i),
            attention=_part(columns, PAGES, "attention", i),
            extra=_part(columns, PAGES, "extra", i),
            grid=_grid(columns, i),
            boxes=_part(columns, PAGES, "boxes", i),
            id=id,
        )
    except BadInput as error:
        raise type(error)(f"{where}, page '{id}': {error}") from None


def to_compressed(
    columns: Columns, ids: Sequence[str], where: str, method: str, start: int = 0
) -> Iterator[Compressed]:
    """The compressed pages of flat arrays from number `start` on, one at a time."""
    _check(columns, COMPRESSED, len(ids), where)
    for i, id in enumerate(ids[start:], start):
        try:
            yield _compressed(columns, i, id, method)
        except BadInput as error:
            raise type(error)(f"{where}, page '{id}': {error}") from None


def rows_per_page(columns: Columns, name: str, pages: int, where: str) -> Array:
    """How many rows each page has by an array of offsets: (pages,)."""
    offsets = columns.get(name)
    if offsets is None or not _is_offsets(offsets, pages):
        raise Damaged(f"{where}: '{name}' does not divide its rows among {pages} pages")
    return np.diff(offsets)


def value_per_page(columns: Columns, name: str, pages: int, where: str) -> Array:
    """A number a page of a folder of compressed pages: (pages,)."""
    _check_column(columns, name, COMPRESSED[name], pages, where)
    return columns[name]


def _vectors(pages: Sequence[MultiVector], dtype: str) -> dict[str, Array]:
    vectors = [to_rows(page.vectors, dtype, _named(page)).parts[0] for page in pages]
    return _ragged("vectors", "offsets", vectors)


def _extra(pages: Sequence[MultiVector], dtype: str) -> dict[str, Array]:
    if all(page.extra is None for page in pages):
        return {}
    no_extra = np.zeros((0, pages[0].vectors.shape[1]), np.float32)
    parts = []
    for page in pages:
        extra = no_extra if page.extra is None else page.extra
        parts.append(to_rows(extra, dtype, _named(page)).parts[0])
    return _ragged("extra", "extra_offsets", parts)


def _named(page: MultiVector | Compressed) -> str:
    return f"page '{page.id}'"


def _grids(pages: Sequence[MultiVector] | Sequence[Compressed]) -> dict[str, Array]:
    grids = [page.grid or (0, 0) for page in pages]
    if any(rows for rows, _ in grids):
        return {"grid": np.array(grids, np.int32)}
    return {}


def _ragged(name: str, offsets: str, parts: Sequence[Array]) -> dict[str, Array]:
    return {name: np.concatenate(parts), offsets: row_offsets(parts)}


def _optional(name: str, pages: Sequence[Any]) -> dict[str, Array]:
    """An array that all pages have, or none of them."""
    parts, have, lack = [], [], []
    for page in pages:
        part = getattr(page, name)
        if part is None:
            lack.append(page.id)
        else:
            have.append(page.id)
            parts.append(part)

    if not have:
        return {}
    if lack:
        raise Mismatch(
            f"page '{have[0]}' has {name} and page '{lack[0]}' has not: "
            "give it to all pages or to none"
        )
    return {name: np.concatenate(parts)}


def _compressed(columns: Columns, i: int, id: str, method: str) -> Compressed:
    of_groups = _rows_of(columns, "vectors", i)
    of_extra = _rows_of(columns, "extra", i)
    if of_groups is None:
        raise BadInput("it has no vectors")
    vectors = _as_floats(of_groups, "vectors")
    groups = arrays.groups(_part(columns, COMPRESSED, "groups", i))
    if not 1 <= len(vectors) <= len(groups) or groups.max() >= len(vectors):
        raise BadInput(
            f"{len(groups)} patches cannot be in {len(vectors)} groups of number up to "
            f"{groups.max(initial=-1)}"
        )

    grid = _grid(columns, i)
    if grid and grid[0] * grid[1] != len(groups):
        raise BadInput(f"{len(groups)} patches do not fill a grid of {grid[0]} x {grid[1]}")

    cut = Cut(
        merges=int(columns["merges"][i]),
        theta=float(columns["theta"][i]),
        gap=float(columns["gap"][i]),
    )
    rows = None
    if of_groups.scales is not None:
        rows = of_groups if of_extra is None else concatenate([of_groups, of_extra])
    return Compressed(
        vectors=vectors,
        groups=groups,
        extra=None if of_extra is None else _as_floats(of_extra, "extra"),
        cut=cut,
        method=method,
        grid=grid,
        boxes=_matrix(columns, "boxes", i),
        id=id,
        rows=rows,
    )


def _rows_of(columns: Columns, name: str, i: int) -> StoredRows | None:
    """The rows of page i in `vectors` or `extra`; None where it has none."""
    if name not in columns:
        return None
    offsets = columns[COMPRESSED[name].offsets]
    rows = to_rows_of_page(columns, name, int(offsets[i]), int(offsets[i + 1]))
    if name == "extra" and not len(rows):
        return None
    return rows


def _as_floats(rows: StoredRows, what: str) -> Floats:
    """What rows stand for; nan and infinity are refused."""
    if rows.scales is not None:
        arrays.floats(rows.scales, f"the scales of {what}", rank=1)
    return arrays.floats(to_vectors(rows), what, rank=2)


def _matrix(columns: Columns, name: str, i: int) -> Any:
    part = _part(columns, COMPRESSED, name, i)
    if part is None:
        return None
    return arrays.floats(part, name, rank=2)


def _check(columns: Columns, layout: Mapping[str, Column], pages: int, where: str) -> None:
    """Refuse arrays that are not of a layout: each of its rank, width and kind, and of as many rows as its offsets."""
    for column in layout.values():
        if column.offsets and column.offsets in columns:
            rows_per_page(columns, column.offsets, pages, where)
    for name, column in layout.items():
        if name in columns or name in ALWAYS:
            _check_column(columns, name, column, pages, where)
    if layout is COMPRESSED:
        check_rows(columns, where)
    if "extra" in columns and columns["extra"].shape[1] != columns["vectors"].shape[1]:
        shapes = f"{columns['extra'].shape} beside {columns['vectors'].shape}"
        raise Damaged(f"{where}: 'extra' must be as wide as 'vectors', got {shapes}")


def _check_column(columns: Columns, name: str, column: Column, pages: int, where: str) -> None:
    array = columns.get(name)
    if array is None:
        raise Damaged(f"{where}: there is no array '{name}'")
    if column.offsets and column.offsets not in columns:
        raise Damaged(f"{where}: '{name}' needs an array '{column.offsets}', and there is none")

    is_wide = column.width is None or array.shape[-1:] == (column.width,)
    if array.dtype.kind not in column.kinds or array.ndim != column.rank or not is_wide:
        raise Damaged(f"{where}: '{name}' cannot be {array.dtype} of shape {array.shape}")

    rows, counted_by = pages, "the number of pages is"
    if column.offsets:
        rows, counted_by = int(columns[column.offsets][-1]), f"'{column.offsets}' ends at"
    if len(array) != rows:
        raise Damaged(f"{where}: '{name}' has {len(array)} rows, {counted_by} {rows}")


def _part(columns: Columns, layout: Mapping[str, Column], name: str, i: int) -> Any:
    """The rows of an array that are page i's; None where there is no such array, or no extra row."""
    if name not in columns:
        return None
    offsets = columns[layout[name].offsets]
    part = columns[name][offsets[i] : offsets[i + 1]]
    if name.startswith("extra") and not len(part):
        return None
    return part


def _is_offsets(offsets: Array, pages: int) -> bool:
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or len(offsets) != pages + 1:
        return False
    rises = bool((offsets[1:] >= offsets[:-1]).all())  # a difference could overflow
    return bool(offsets[0] == 0) and rises


def _grid(columns: Columns, i: int) -> tuple[int, int] | None:
    if "grid" not in columns:
        return None
    rows, width = columns["grid"][i].tolist()
    if not rows:
        return None
    return rows, width
