"""Rows of several Parquet files, a few at a time. Needs the extra `arrow`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adamerge.errors import BadFile, missing_extra

AT_A_TIME = 16  # rows: images are large


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a folder by name; a folder without any is refused."""
    found = sorted(folder.glob("*.parquet"))
    if not found:
        raise BadFile(
            f"{folder} holds no Parquet files: expected corpus/, queries/ and qrels/, "
            "or rows of query and image"
        )
    return found


def read_rows(files: Sequence[Path], columns: list[str]) -> Iterator[dict[str, Any]]:
    """These columns of the rows of all files."""
    require_columns(files, columns)
    for file in files:
        with _open(file) as parquet:
            for batch in parquet.iter_batches(batch_size=AT_A_TIME, columns=columns):
                yield from batch.to_pylist()


def require_columns(files: Sequence[Path], columns: Sequence[str]) -> None:
    """Refuse files that lack one of these columns."""
    for file in files:
        for column in columns:
            first_column_of([file], [column])


def column_names(files: Sequence[Path]) -> list[str]:
    """The columns of the first file."""
    with _open(files[0]) as parquet:
        return list(parquet.schema_arrow.names)


def first_column_of(files: Sequence[Path], choices: Sequence[str]) -> str:
    """The first of some names that is a column; files without any of them are refused."""
    names = column_names(files)
    for name in choices:
        if name in names:
            return name
    raise BadFile(
        f"{files[0]} has the columns {', '.join(names)}, and none of {', '.join(choices)}"
    )


@contextmanager
def _open(file: Path) -> Iterator[Any]:
    """A Parquet file, open; an error about it names the file."""
    arrow = _arrow()
    try:
        yield arrow.parquet.ParquetFile(file)
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise BadFile(f"{file} cannot be read as Parquet ({reason}): get it again") from None


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise missing_extra("reading Parquet", "arrow") from None
    return pyarrow
