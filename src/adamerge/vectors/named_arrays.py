"""Arrays by name, as NumPy and safetensors files hold them -> pages.

one page             `vectors` (n, d), and `attention`, `extra`, `grid`, `boxes` if there are any
many pages           the same with `offsets` (columns.py), or `vectors` (pages, n, d)
many pages by name   any other 2-D arrays; NAME.attention and NAME.extra go with NAME
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adamerge.errors import BadFile, BadInput
from adamerge.types import MultiVector
from adamerge.vectors import columns
from adamerge.vectors.columns import Array

FIELDS = ("vectors", "attention", "extra", "grid", "boxes")
FIELDS_OF_NAMED = ("attention", "extra")  # of an array NAME, as NAME.attention


def to_pages(arrays: Mapping[str, Array], ids: list[str], path: Path) -> Iterator[MultiVector]:
    """The pages of the arrays of a file; `ids` are theirs, or empty."""
    if "vectors" not in arrays:
        return _pages_by_name(arrays, path)
    if "offsets" in arrays:
        count = arrays["offsets"].size - 1
        return columns.to_pages(arrays, ids or numbered(path, count), str(path))

    fields = {name: arrays[name] for name in FIELDS if name in arrays}
    if arrays["vectors"].ndim == 3:
        return _pages_of_batch(fields, ids, path)
    id = path.stem
    if ids:
        id = ids[0]
    return iter([to_page(fields, id, path)])


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


def _pages_of_batch(
    fields: Mapping[str, Array], ids: list[str], path: Path
) -> Iterator[MultiVector]:
    """Pages of one size, in arrays whose first axis is the page."""
    count = len(fields["vectors"])
    for i, id in zip(range(count), ids or numbered(path, count), strict=True):
        row = {name: array[i] for name, array in fields.items()}
        yield to_page(row, id, path)


def _pages_by_name(arrays: Mapping[str, Array], path: Path) -> Iterator[MultiVector]:
    endings = tuple(f".{field}" for field in FIELDS_OF_NAMED)
    names = [name for name in arrays if not name.endswith(endings)]
    if not names:
        raise BadFile(
            f"{path} holds no vectors: expected an array 'vectors' (n, d), or one (n, d) per page"
        )
    for name in names:
        fields = {"vectors": arrays[name]}
        for field in FIELDS_OF_NAMED:
            if f"{name}.{field}" in arrays:
                fields[field] = arrays[f"{name}.{field}"]
        yield to_page(fields, name, path)
