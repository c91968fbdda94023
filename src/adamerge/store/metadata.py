"""Metadata of pages: values by name, each name of one kind in all of a store; and the table a person writes them in."""

import csv
import re
from collections.abc import Iterable, Mapping
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
NAMES = re.compile(r"[a-z][a-z0-9_]*")
WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")  # 007 is a name, not a number
FRACTION = re.compile(r"-?\d+\.\d*([eE][-+]?\d+)?|-?\d+[eE][-+]?\d+|-?\.\d+")
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
}
RESERVED |= {
    "scales",
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
    "details_checksum",
}
Values = Mapping[str, Any]


def columns_of(rows: Iterable[Values], known: Mapping[str, str]) -> dict[str, str]:
    """Kind of every name, with those known already; refused where a name has two kinds, or none that a filter can hold.

    Whole numbers go into a column of floats, not the other way round.
    """
    columns = dict(known)
    for row in rows:
        for name, value in row.items():
            if name not in columns and (name in RESERVED or not NAMES.fullmatch(name)):
                why = (
                    "a column of the store"
                    if name in RESERVED
                    else "not made of lower-case letters, digits and _"
                )
                raise BadInput(f"metadata '{name}' is {why}: call it something else")
            if value is None:
                continue
            kind = KINDS.get(type(value))
            if kind is None or value != value or (kind == "int" and abs(value) >= 1 << 63):
                expected = ", ".join(t.__name__ for t in KINDS)
                raise BadInput(
                    f"metadata '{name}' is {value!r}, a {type(value).__name__}; expected one of {expected}"
                )
            had = columns.setdefault(name, kind)
            if kind != had and (kind, had) == ("float", "int") and name not in known:
                columns[name] = "float"
            elif kind != had and (kind, had) != ("int", "float"):
                raise Mismatch(
                    f"metadata '{name}' is {had} on other pages and {kind} here ({value!r}): one kind a name"
                )
    return columns


def read_metadata(path: str | Path) -> dict[str, dict[str, Any]]:
    """Metadata by source file from a .csv or .tsv table: a column `source`, and a column per name of one kind each.

    A kind is read off all values of a column: whole numbers, numbers, true and false, dates and times in ISO 8601, else
    text; an empty cell is no value.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",", strict=True)
            table = [[cell.strip() for cell in line] for line in lines if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadFile(f"{path} cannot be read as a table ({error})") from None
    if not table or "source" not in table[0]:
        raise BadFile(
            f"{path} needs a first line with names, one of them 'source', and commas between; got {table[:1]}"
        )
    if len(set(table[0])) < len(table[0]):
        raise BadFile(
            f"{path} has two columns called '{next(n for n in table[0] if table[0].count(n) > 1)}'"
        )
    head, *rows = table
    for i, row in enumerate(rows, 2):
        if len(row) != len(head):
            raise BadFile(
                f"{path}, line {i}: {len(row)} cells, and {len(head)} names in the first line"
            )
    columns = {
        name: _typed([row[i] for row in rows]) for i, name in enumerate(head) if name != "source"
    }
    sources = [row[head.index("source")] for row in rows]
    if len(set(sources)) < len(sources):
        raise BadFile(
            f"{path} names the source '{next(s for s in sources if sources.count(s) > 1)}' twice"
        )
    found = {
        source: {name: values[i] for name, values in columns.items()}
        for i, source in enumerate(sources)
    }
    columns_of(found.values(), {})
    return found


def _typed(cells: list[str]) -> list[Any]:
    """The cells of a column as the first kind that fits them all."""
    for read in (_whole, _number, _truth, date.fromisoformat, _moment, str):
        try:
            return [read(cell) if cell else None for cell in cells]
        except ValueError:
            continue
    raise AssertionError


def _whole(text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise ValueError
    return int(text)


def _number(text: str) -> float:
    if not (WHOLE.fullmatch(text) or FRACTION.fullmatch(text)):
        raise ValueError
    return float(text)


def _truth(text: str) -> bool:
    try:
        return {"true": True, "false": False}[text.lower()]
    except KeyError:
        raise ValueError from None


def _moment(text: str) -> datetime:
    return as_utc(datetime.fromisoformat(text))


def as_utc(moment: datetime) -> datetime:
    """A moment in UTC; one that names no zone is taken for UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
