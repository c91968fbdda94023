"""Arrays of .safetensors files -> pages."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from safetensors import safe_open

from adamerge.errors import BadFile
from adamerge.types import MultiVector
from adamerge.vectors import named_arrays
from adamerge.vectors.columns import Array


def read(path: Path) -> Iterator[MultiVector]:
    """The pages of a file; ids are taken from the metadata of our own shards."""
    arrays = {}
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
        for name in file.keys():  # noqa: SIM118 (not a dict)
            arrays[name] = _tensor(file, name)
    about_pages = json.loads(metadata.get("pages", "{}"))
    ids = about_pages.get("ids", [])
    return named_arrays.to_pages(arrays, ids, path)


def _tensor(file: Any, name: str) -> Array:
    try:
        array: Array = file.get_tensor(name)
    except (TypeError, AttributeError):
        dtype = file.get_slice(name).get_dtype()
        raise BadFile(f"tensor '{name}' is {dtype}, which NumPy lacks: save float16") from None
    return array
