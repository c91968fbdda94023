"""Other people's files -> pages, one at a time. Nothing here can run code that a file brings: pickles are refused.

.npy, .npz, .safetensors   one page: `vectors` (n, d), and `attention`, `extra`, `grid`, `boxes` if there are any
                           many pages: the same with `offsets` (columns.py), or `vectors` (pages, n, d)
                           many pages by name: any other 2-D arrays; NAME.attention and NAME.extra go with NAME
.parquet, .arrow, .feather a row a page: `vectors`, a list of lists, and `id`, `attention`, `extra` if there are any
a folder                   of such files, or a Hugging Face dataset on disk
"""

import json
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from adamerge.errors import AdamergeError, BadFile, BadInput, Damaged, TooLarge, missing_extra
from adamerge.types import MultiVector
from adamerge.vectors import columns
from adamerge.vectors.columns import Array
from adamerge.vectors.numpy_files import read_arrays

PICKLES = {".pkl", ".pickle", ".pt", ".pth", ".bin", ".ckpt", ".joblib", ".dill"}
FIELDS = ("vectors", "attention", "extra", "grid", "boxes")


def read_file(path: Path) -> Iterator[MultiVector]:
    """The pages of one file, by its suffix."""
    if path.suffix in PICKLES:
        raise BadFile(
            f"{path} is a pickle, which can run code when it is opened: save it as .npz or .safetensors"
        )
    if path.suffix not in READERS:
        raise BadFile(
            f"{path} has no suffix we read: {', '.join(sorted(READERS))}, or a folder of vectors"
        )
    try:
        yield from READERS[path.suffix](path)
    except Damaged as error:  # somebody's arrays, not a folder that we wrote
        raise BadFile(str(error)) from None
    except AdamergeError:
        raise
    except MemoryError:
        raise TooLarge(f"{path} needs more memory than there is") from None
    except Exception as error:  # whatever a file of unknown origin makes a library raise
        raise BadFile(f"{path} cannot be read: {error}") from None


def _read_numpy(path: Path) -> Iterator[MultiVector]:
    arrays = read_arrays(path)
    ids = arrays.pop("ids", np.array([], str))
    return _pages(arrays, [str(id) for id in ids.ravel()], path)


def _read_safetensors(path: Path) -> Iterator[MultiVector]:
    with safe_open(path, framework="numpy") as file:
        ids = json.loads((file.metadata() or {}).get("pages", "{}")).get("ids", [])
        arrays = {name: _tensor(file, name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        return _pages(arrays, ids, path)


def _tensor(file: Any, name: str) -> Array:
    try:
        array: Array = file.get_tensor(name)
    except (TypeError, AttributeError):
        raise BadFile(
            f"tensor '{name}' is {file.get_slice(name).get_dtype()}, which NumPy lacks: save float16"
        ) from None
    return array


def _pages(arrays: Mapping[str, Array], ids: list[str], path: Path) -> Iterator[MultiVector]:
    if "vectors" not in arrays:
        return _named(arrays, path)
    vectors = arrays["vectors"]
    if "offsets" in arrays:
        count = arrays["offsets"].size - 1
        return columns.to_pages(
            arrays, ids or [f"{path.stem}#{i + 1}" for i in range(count)], str(path)
        )
    fields = {name: arrays[name] for name in FIELDS if name in arrays}
    if vectors.ndim == 3:
        rows = ({name: array[i] for name, array in fields.items()} for i in range(len(vectors)))
        names = ids or [f"{path.stem}#{i + 1}" for i in range(len(vectors))]
        return (_page(row, id, path) for row, id in zip(rows, names, strict=True))
    return iter([_page(fields, ids[0] if ids else path.stem, path)])


def _named(arrays: Mapping[str, Array], path: Path) -> Iterator[MultiVector]:
    ends = (".attention", ".extra")
    names = [name for name in arrays if not name.endswith(ends)]
    if not names:
        raise BadFile(
            f"{path} holds no vectors: expected an array 'vectors' (n, d), or one (n, d) per page"
        )
    for name in names:
        fields = {"vectors": arrays[name]} | {
            e[1:]: arrays[name + e] for e in ends if name + e in arrays
        }
        yield _page(fields, name, path)


def _page(fields: Mapping[str, Any], id: str, path: Path) -> MultiVector:
    grid = fields.get("grid")
    try:
        return MultiVector(
            **{**fields, "grid": None if grid is None else tuple(np.ravel(grid).tolist())}, id=id
        )
    except BadInput as error:
        raise type(error)(f"{path}, page '{id}': {error}") from None


def _read_parquet(path: Path) -> Iterator[MultiVector]:
    parquet = _arrow("parquet")
    with parquet.ParquetFile(path) as file:
        yield from _rows(file.iter_batches(batch_size=64), path)


def _read_arrow(path: Path) -> Iterator[MultiVector]:
    ipc = _arrow("ipc")
    # Arrow's own file: threads of Arrow that still read one of Python's while Python ends would abort the process
    with _arrow("lib").OSFile(str(path)) as source:
        is_stream = (
            source.read(6) != b"ARROW1"
        )  # a dataset on disk is a stream, a feather file is not
        source.seek(0)
        if is_stream:
            batches = ipc.open_stream(source)
        else:
            file = ipc.open_file(source)
            batches = map(file.get_batch, range(file.num_record_batches))
        yield from _rows(batches, path)


def _rows(batches: Any, path: Path) -> Iterator[MultiVector]:
    number = 0
    for batch in batches:
        batch.validate(full=True)  # offsets that point beyond their buffer would end the process
        names = batch.schema.names
        if "vectors" not in names:
            raise BadFile(f"{path} has no column 'vectors' (its columns: {', '.join(names)})")
        for row in range(batch.num_rows):
            number += 1
            id = str(batch.column("id")[row]) if "id" in names else f"{path.stem}#{number}"
            yield _page(_row(batch, row, id, path), id, path)


def _row(batch: Any, row: int, id: str, path: Path) -> dict[str, Array]:
    """The fields of a page that a row of a table has."""
    fields = {}
    for name in FIELDS:
        if name not in batch.schema.names or not batch.column(name)[row].is_valid:
            continue
        try:
            fields[name] = _cell(batch.column(name)[row])
        except BadInput as error:
            raise type(error)(f"{path}, page '{id}': {error}") from None
    return fields


def _cell(scalar: Any) -> Array:
    """A list, or a list of lists, as an array without a Python object per number."""
    values = scalar.values
    if not hasattr(values, "flatten") or not str(values.type).startswith(
        ("list", "large_list", "fixed_size_list")
    ):
        return np.asarray(values.to_numpy(zero_copy_only=False))
    inner = values.flatten().to_numpy(zero_copy_only=False)
    if (
        len(values) == 0
        or len(inner) % len(values)
        or any(len(v) != len(values[0]) for v in values)
    ):
        raise BadInput(
            f"vectors must be rows of one length, got {len(values)} rows of {len(inner)} numbers in all"
        )
    return np.asarray(inner).reshape(len(values), -1)


def _arrow(module: str) -> Any:
    try:
        return import_module(f"pyarrow.{module}")
    except ImportError:
        raise missing_extra("reading Parquet and Arrow files", "arrow") from None


READERS: dict[str, Callable[[Path], Iterator[MultiVector]]] = {
    ".npy": _read_numpy,
    ".npz": _read_numpy,
    ".safetensors": _read_safetensors,
    ".parquet": _read_parquet,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
}
