"""Arrays by name, as files of NumPy, safetensors and torch hold them -> pages.

one page             `vectors` (n, d), and `attention`, `extra`, `grid`, `boxes` if there are any
many pages           the same with `offsets` (columns.py), or `vectors` (pages, n, d)
                     and `mask` (pages, n) where pages are padded to one length: 1 for a row that is real
many pages by name   any other 2-D arrays; NAME.attention and NAME.extra go with NAME
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adamerge.errors import BadFile, BadInput, BadShape
from adamerge.types import MultiVector
from adamerge.vectors import columns
from adamerge.vectors.options import ReadOptions
from adamerge.vectors.row_columns import Array

FIELDS = ("vectors", "attention", "extra", "grid", "boxes")
FIELDS_OF_ROWS = ("vectors", "attention", "boxes")  # those that have a value for every row
FIELDS_OF_NAMED = ("attention", "extra")  # of an array NAME, as NAME.attention
MASKS = ("mask", "attention_mask")
SHOWN = 10  # names of arrays in an error


def to_pages(
    arrays: Mapping[str, Array], ids: list[str], path: Path, options: ReadOptions
) -> Iterator[MultiVector]:
    """The pages of the arrays of a file; `ids` are theirs, or empty."""
    if options.column:
        arrays = _with_vectors_of(arrays, options.column, path)
    if "vectors" not in arrays:
        return _pages_by_name(arrays, path)
    if "offsets" in arrays:
        count = arrays["offsets"].size - 1
        return columns.to_pages(arrays, ids or numbered(path, count), str(path))

    mask = _mask(arrays, path)
    fields = {name: arrays[name] for name in FIELDS if name in arrays}
    if arrays["vectors"].ndim == 3:
        return _pages_of_batch(fields, mask, ids, path)
    id = path.stem
    if ids:
        id = ids[0]
    return iter([to_page(_unpadded(fields, mask), id, path)])


def to_page(fields: Mapping[str, Any], id: str, path: Path) -> MultiVector:
    """One page of its fields; an error names the file and the page."""
    fields = dict(fields)
    if fields.get("grid") is not None:
        fields["grid"] = tuple(np.ravel(fields["grid"]).tolist())
    try:
        return MultiVector(**fields, id=id)
    except BadInput as error:
        raise type(error)(f"{path}, page '{id}': {error}") from None


def numbered(path: Path, count: int) -> list[str]:
    """Ids of pages that have none: report#1, report#2 ..."""
    return [f"{path.stem}#{number}" for number in range(1, count + 1)]


def listed(names: list[str]) -> str:
    """Names in an error, the first few of them."""
    text = ", ".join(names[:SHOWN])
    if len(names) > SHOWN:
        text += " ..."
    return text


def _with_vectors_of(arrays: Mapping[str, Array], column: str, path: Path) -> dict[str, Array]:
    """The arrays, with the one that a user named as `vectors`."""
    if column not in arrays:
        raise BadInput(f"{path} has no array '{column}'; it has {listed(list(arrays))}")
    return {**arrays, "vectors": arrays[column]}


def _mask(arrays: Mapping[str, Array], path: Path) -> Array | None:
    """Which rows are real, as bool: (pages, n) beside vectors (pages, n, d); None where there is no mask."""
    for name in MASKS:
        if name not in arrays:
            continue
        mask, vectors = arrays[name], arrays["vectors"]
        if mask.shape != vectors.shape[:-1]:
            raise BadShape(
                f"{path}: '{name}' must have a value for every row: {mask.shape} beside {vectors.shape}"
            )
        if mask.dtype.kind not in "biu" or not np.isin(mask, (0, 1)).all():
            raise BadInput(f"{path}: '{name}' must hold 0 and 1, got {mask.dtype}")
        return mask.astype(bool)
    return None


def _unpadded(fields: Mapping[str, Array], mask: Array | None) -> dict[str, Array]:
    """The fields of one page without the rows that its mask (n,) says are padding."""
    kept = dict(fields)
    if mask is None:
        return kept
    for name in FIELDS_OF_ROWS:
        if name in kept:
            kept[name] = kept[name][mask]
    return kept


def _pages_of_batch(
    fields: Mapping[str, Array], mask: Array | None, ids: list[str], path: Path
) -> Iterator[MultiVector]:
    """Pages in arrays whose first axis is the page."""
    count = len(fields["vectors"])
    for i, id in zip(range(count), ids or numbered(path, count), strict=True):
        row = {name: array[i] for name, array in fields.items()}
        if mask is not None:
            row = _unpadded(row, mask[i])
        yield to_page(row, id, path)


def _pages_by_name(arrays: Mapping[str, Array], path: Path) -> Iterator[MultiVector]:
    endings = tuple(f".{field}" for field in FIELDS_OF_NAMED)
    names = [name for name in arrays if not name.endswith(endings)]
    if not names:
        raise BadFile(
            f"{path} holds no vectors: expected an array 'vectors' (n, d), or one (n, d) per page"
        )
    for name in names:
        if arrays[name].ndim == 3:
            raise BadInput(
                f"{path}: '{name}' has shape {arrays[name].shape}, where an array per page has (n, d); "
                f"if it holds all pages, say so: --column {name}"
            )
        fields = {"vectors": arrays[name]}
        for field in FIELDS_OF_NAMED:
            if f"{name}.{field}" in arrays:
                fields[field] = arrays[f"{name}.{field}"]
        yield to_page(fields, name, path)
