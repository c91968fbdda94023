"""Tables of Parquet and Arrow files -> pages. A row is a page: `vectors`, a list of lists, and `id`, `attention` ..."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from adamerge.errors import BadFile, BadInput, missing_extra
from adamerge.types import MultiVector
from adamerge.vectors.named_arrays import FIELDS, listed, to_page
from adamerge.vectors.options import ReadOptions
from adamerge.vectors.row_columns import Array

ROWS_AT_A_TIME = 64  # of a Parquet file
FILE_START = b"ARROW1"  # of a file; a stream, as a dataset on disk is, begins otherwise
LISTS = ("list", "large_list", "fixed_size_list")


def read_parquet(path: Path, options: ReadOptions) -> Iterator[MultiVector]:
    """The pages of a Parquet file, a row each."""
    parquet = _pyarrow("parquet")
    with parquet.ParquetFile(path) as file:
        yield from _pages(file.iter_batches(batch_size=ROWS_AT_A_TIME), path, options)


def read_arrow(path: Path, options: ReadOptions) -> Iterator[MultiVector]:
    """The pages of an Arrow file or stream, a row each."""
    ipc = _pyarrow("ipc")
    # Arrow's own file: threads of Arrow that still read one of Python's while Python ends would abort the process
    with _pyarrow("lib").OSFile(str(path)) as source:
        is_file = source.read(len(FILE_START)) == FILE_START
        source.seek(0)
        if is_file:
            file = ipc.open_file(source)
            batches = map(file.get_batch, range(file.num_record_batches))
        else:
            batches = ipc.open_stream(source)
        yield from _pages(batches, path, options)


def _pages(batches: Iterable[Any], path: Path, options: ReadOptions) -> Iterator[MultiVector]:
    vectors = options.column or "vectors"
    number = 0
    for batch in batches:
        batch.validate(full=True)  # offsets that point beyond their buffer would end the process
        names = batch.schema.names
        if vectors not in names:
            raise BadFile(
                f"{path} has no column '{vectors}': say which holds the vectors, as --column NAME; "
                f"it has {listed([f'{field.name} ({field.type})' for field in batch.schema])}"
            )

        for row in range(batch.num_rows):
            number += 1
            id = f"{path.stem}#{number}"
            if "id" in names:
                id = str(batch.column("id")[row])
            yield to_page(_fields(batch, row, vectors, id, path), id, path)


def _fields(batch: Any, row: int, vectors: str, id: str, path: Path) -> dict[str, Array]:
    """The fields of a page that a row of a table has; `vectors` names the column of its vectors."""
    fields = {}
    for name in FIELDS:
        column = name
        if name == "vectors":
            column = vectors
        if column not in batch.schema.names:
            continue
        cell = batch.column(column)[row]
        if not cell.is_valid:
            continue
        try:
            fields[name] = _array(cell)
        except BadInput as error:
            raise type(error)(f"{path}, page '{id}': {error}") from None
    return fields


def _array(cell: Any) -> Array:
    """A list, or a list of lists, as an array without a Python object per number."""
    rows = cell.values
    is_nested = hasattr(rows, "flatten") and str(rows.type).startswith(LISTS)
    if not is_nested:
        return np.asarray(rows.to_numpy(zero_copy_only=False))

    numbers = rows.flatten().to_numpy(zero_copy_only=False)
    if not _have_one_length(rows, len(numbers)):
        raise BadInput(
            f"vectors must be rows of one length, got {len(rows)} rows of {len(numbers)} numbers in all"
        )
    return np.asarray(numbers).reshape(len(rows), -1)


def _have_one_length(rows: Any, numbers: int) -> bool:
    if len(rows) == 0 or numbers % len(rows):
        return False
    length = len(rows[0])
    return all(len(row) == length for row in rows)


def _pyarrow(module: str) -> Any:
    try:
        return import_module(f"pyarrow.{module}")
    except ImportError:
        raise missing_extra("reading Parquet and Arrow files", "arrow") from None
