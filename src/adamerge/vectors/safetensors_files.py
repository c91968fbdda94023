"""Arrays of .safetensors files -> pages. bfloat16, which NumPy lacks, is widened to float32."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from adamerge.errors import BadFile
from adamerge.types import MultiVector
from adamerge.vectors import named_arrays
from adamerge.vectors.options import ReadOptions
from adamerge.vectors.row_columns import Array

LENGTH_BYTES = 8  # at the start of a file: how long its header is, little-endian


def read(path: Path, options: ReadOptions) -> Iterator[MultiVector]:
    """The pages of a file; ids are taken from the metadata of our own shards."""
    arrays = {}
    with safe_open(path, framework="numpy") as file:  # which checks the header
        metadata = file.metadata() or {}
        for name in file.keys():  # noqa: SIM118 (not a dict)
            arrays[name] = _tensor(file, name, path)
    about_pages = json.loads(metadata.get("pages", "{}"))
    ids = about_pages.get("ids", [])
    return named_arrays.to_pages(arrays, ids, path, options)


def widen_bfloat16(raw: bytes) -> Array:
    """Numbers of bfloat16, which are the upper halves of those of float32, as float32."""
    halves = np.frombuffer(raw, "<u2")
    wide = halves.astype("<u4") << np.uint32(16)
    return wide.view("<f4")


def _tensor(file: Any, name: str, path: Path) -> Array:
    dtype = file.get_slice(name).get_dtype()
    if dtype == "BF16":
        return _read_bfloat16(path, name)
    try:
        array: Array = file.get_tensor(name)
    except (TypeError, AttributeError):
        raise BadFile(
            f"{path}: tensor '{name}' is {dtype}, which NumPy lacks: save float16"
        ) from None
    return array


def _read_bfloat16(path: Path, name: str) -> Array:
    """A tensor from the bytes of a file whose header was checked."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        header = json.loads(file.read(length))
        begin, end = header[name]["data_offsets"]
        file.seek(LENGTH_BYTES + length + begin)
        raw = file.read(end - begin)
    return widen_bfloat16(raw).reshape(header[name]["shape"])
