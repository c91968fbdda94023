"""A table as data. Numbers keep all their digits until they are written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan

Value = str | int | float | None
Row = list[Value]
SMALLEST_P = 1e-4  # a smaller probability is written as <0.0001


@dataclass(frozen=True)
class TableColumn:
    """A heading, and how its numbers are written: a format of Python, or "p" for a probability."""

    name: str
    form: str = ""

    def text(self, value: Value) -> str:
        """A value as a person reads it; nothing where there is none."""
        if value is None or (isinstance(value, float) and isnan(value)):
            return ""
        if isinstance(value, str):
            return value
        if self.form != "p":
            return format(value, self.form)
        if value < SMALLEST_P:
            return f"<{SMALLEST_P:.4f}"
        return f"{value:.4f}"


@dataclass(frozen=True)
class Table:
    """Rows of values below columns, with a title and a note that says how they were made."""

    title: str
    note: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __getitem__(self, name: str) -> list[Value]:
        """The values of a column."""
        place = self.place(name)
        return [row[place] for row in self.rows]

    def names(self) -> list[str]:
        """The headings."""
        return [column.name for column in self.columns]

    def place(self, name: str) -> int:
        """The place of a column, counted from 0."""
        return self.names().index(name)

    def texts(self) -> list[list[str]]:
        """Every value as it is written."""
        texts = []
        for row in self.rows:
            pairs = zip(self.columns, row, strict=True)
            texts.append([column.text(value) for column, value in pairs])
        return texts


def columns(*given: str | tuple[str, str]) -> tuple[TableColumn, ...]:
    """Columns by name, or by name and format."""
    made = []
    for one in given:
        if isinstance(one, str):
            made.append(TableColumn(one))
        else:
            made.append(TableColumn(*one))
    return tuple(made)


def make_table(
    title: str, note: str, head: Sequence[TableColumn], rows: Sequence[Sequence[Value]]
) -> Table:
    """A table of any sequences, without the column of encoders where there is only one encoder."""
    table = Table(title, note, tuple(head), tuple(map(tuple, rows)))
    if head and head[0].name == "encoder":
        return _without_constant(table, "encoder")
    return table


def _without_constant(table: Table, name: str) -> Table:
    """The table without a column that has the same value in every row; its note names the value instead."""
    values = set(table[name])
    if len(values) > 1:
        return table

    place = table.place(name)
    note = table.note
    for value in values:
        note += f" {name.capitalize()}: {value}."
    return replace(
        table,
        note=note,
        columns=table.columns[:place] + table.columns[place + 1 :],
        rows=tuple(row[:place] + row[place + 1 :] for row in table.rows),
    )
