"""Metadata of pages: values by name, each name of one kind in the whole store; and the table of a user with them."""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from adamerge.errors import BadFile, BadInput, Mismatch

KINDS: dict[type, str] = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "text",
    datetime: "time",
    date: "date",
}
NAME = re.compile(r"[a-z][a-z0-9_]*")
WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")  # 007 is a name, not a number
FRACTION = re.compile(r"-?\d+\.\d*([eE][-+]?\d+)?|-?\d+[eE][-+]?\d+|-?\.\d+")
# The columns of the store itself.
RESERVED = {
    "id",
    "source",
    "number",
    "pages",
    "root",
    "hash",
    "written",
    "patches",
    "rows",
    "extra",
    "vectors",
    "plane0",
    "plane1",
    "plane2",
    "plane3",
    "scales",
    "sign_scales",
    "mean",
    "groups",
    "boxes",
    "grid",
    "merges",
    "theta",
    "gap",
    "words",
    "word_boxes",
    "thumbnail",
    "vectors_checksum",
    "signs_checksum",
    "details_checksum",
}


# --------------------------------------------------------------------------------------------- kinds of columns


def columns_of(rows: Iterable[Mapping[str, Any]], known: Mapping[str, str]) -> dict[str, str]:
    """The kind of every name in some rows, with those that a store knows already.

    A name is refused if it has two kinds, or a value of a type that no filter can compare. Whole numbers go into a
    column of floats, but fractions do not go into a column of whole numbers that the store has.
    """
    columns = dict(known)
    for row in rows:
        for name, value in row.items():
            if name not in columns:
                _check_name(name)
            if value is None:
                continue
            kind = _kind_of(name, value)
            earlier = columns.setdefault(name, kind)
            if kind == earlier or (kind, earlier) == ("int", "float"):
                continue
            if (kind, earlier) == ("float", "int") and name not in known:
                columns[name] = "float"
                continue
            raise Mismatch(
                f"metadata '{name}' is {earlier} on other pages and {kind} here ({value!r}): one kind a name"
            )
    return columns


def _check_name(name: str) -> None:
    if name in RESERVED:
        raise BadInput(f"metadata '{name}' is a column of the store: call it something else")
    if not NAME.fullmatch(name):
        raise BadInput(
            f"metadata '{name}' is not made of lower-case letters, digits and _: call it something else"
        )


def _kind_of(name: str, value: Any) -> str:
    """The kind of a value; nan and whole numbers of more than 64 bits have none."""
    kind = KINDS.get(type(value))
    is_nan = value != value
    is_too_large = kind == "int" and abs(value) >= 1 << 63
    if kind is None or is_nan or is_too_large:
        expected = ", ".join(type.__name__ for type in KINDS)
        raise BadInput(
            f"metadata '{name}' is {value!r}, a {type(value).__name__}; expected one of {expected}"
        )
    return kind


# ------------------------------------------------------------------------------------------- the table of files


def read_metadata(path: str | Path) -> dict[str, dict[str, Any]]:
    """Metadata by source file from a .csv or .tsv table with a column `source`, and a column per name.

    The kind of a column is the first that fits all of its values: whole numbers, numbers, true and false, dates, times
    in ISO 8601, else text. An empty cell is no value.
    """
    path = Path(path)
    names, *rows = _read_cells(path)
    for line, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise BadFile(
                f"{path}, line {line}: {len(row)} cells, and {len(names)} names in the first line"
            )

    columns: dict[str, list[Any]] = {}
    for i, name in enumerate(names):
        cells = [row[i] for row in rows]
        columns[name] = cells if name == "source" else _convert_cells(cells)
    sources = columns.pop("source")
    twice = _first_repeated(sources)
    if twice is not None:
        raise BadFile(f"{path} names the source '{twice}' twice")

    found: dict[str, dict[str, Any]] = {}
    for i, source in enumerate(sources):
        found[source] = {name: values[i] for name, values in columns.items()}
    try:
        columns_of(found.values(), {})
    except BadInput as error:
        raise BadFile(f"{path}: {error}") from None
    return found


def _read_cells(path: Path) -> list[list[str]]:
    """The cells of a table by line; the first line has the names, each once, and one of them is `source`."""
    delimiter = "\t" if path.suffix == ".tsv" else ","
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file, delimiter=delimiter, strict=True) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadFile(f"{path} cannot be read as a table ({error})") from None
    table = [[cell.strip() for cell in line] for line in lines]
    if not table or "source" not in table[0]:
        raise BadFile(
            f"{path} needs a first line with names, one of them 'source', and commas between; got {table[:1]}"
        )
    twice = _first_repeated(table[0])
    if twice is not None:
        raise BadFile(f"{path} has two columns called '{twice}'")
    return table


def _first_repeated(texts: Sequence[str]) -> str | None:
    """The first text that is there twice."""
    seen = set()
    for text in texts:
        if text in seen:
            return text
        seen.add(text)
    return None


def _convert_cells(cells: list[str]) -> list[Any]:
    """The cells of a column as values of the first kind that fits them all."""
    for convert in (_whole_number, _number, _truth, date.fromisoformat, _time):
        try:
            return _convert_all(cells, convert)
        except ValueError:
            continue
    return _convert_all(cells, str)


def _convert_all(cells: list[str], convert: Callable[[str], Any]) -> list[Any]:
    """The values of some cells; None where a cell is empty."""
    return [convert(cell) if cell else None for cell in cells]


def _whole_number(text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise ValueError
    return int(text)


def _number(text: str) -> float:
    if not (WHOLE.fullmatch(text) or FRACTION.fullmatch(text)):
        raise ValueError
    return float(text)


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


def _time(text: str) -> datetime:
    return as_utc(datetime.fromisoformat(text))


def as_utc(time: datetime) -> datetime:
    """A time in UTC; a time without a zone is taken for UTC. ValueError before year 1 or after year 9999."""
    if time.tzinfo is None:
        return time.replace(tzinfo=UTC)
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{time} has no date in UTC") from None
