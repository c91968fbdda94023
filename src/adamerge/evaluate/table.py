"""A table as data, and as Markdown, LaTeX and CSV. Numbers keep their digits until they are written."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan

Value = str | int | float | None
LATEX = str.maketrans(
    {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "$": r"\$", "<": "$<$", ">": "$>$"}
)
SMALLEST = 1e-4  # p below this is written so


@dataclass(frozen=True)
class Column:
    """A heading, and how its numbers are written: a format of Python, or "p" for a probability."""

    name: str
    form: str = ""

    def text(self, value: Value) -> str:
        """A value as a person reads it; nothing where there is none."""
        if value is None or (isinstance(value, float) and isnan(value)):
            return ""
        if isinstance(value, str):
            return value
        if self.form == "p":
            return f"<{SMALLEST:.4f}" if value < SMALLEST else f"{value:.4f}"
        return format(value, self.form)


@dataclass(frozen=True)
class Table:
    """Rows of values below columns, with a title and a note that says how they were made."""

    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __getitem__(self, name: str) -> list[Value]:
        """The values of a column."""
        place = [column.name for column in self.columns].index(name)
        return [row[place] for row in self.rows]

    def texts(self) -> list[list[str]]:
        """Every value as it is written."""
        return [
            [column.text(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]


def without_constant(table: Table, name: str = "encoder") -> Table:
    """The table without a column that says the same in every row; its note says it instead."""
    values = set(table[name])
    if len(values) > 1:
        return table
    place = [column.name for column in table.columns].index(name)
    rows = tuple(row[:place] + row[place + 1 :] for row in table.rows)
    said = "".join(f" {name.capitalize()}: {value}." for value in values)
    return replace(
        table,
        note=table.note + said,
        columns=table.columns[:place] + table.columns[place + 1 :],
        rows=rows,
    )


def markdown(table: Table) -> str:
    """The table as Markdown, its note below it."""
    lines = [
        [column.name for column in table.columns],
        [_rule(column) for column in table.columns],
        *table.texts(),
    ]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"**{table.title}.**\n\n{body}\n\n{table.note}\n"


def latex(table: Table) -> str:
    """The table as LaTeX (booktabs), its title and note as the caption."""
    form = "".join("r" if column.form else "l" for column in table.columns)
    lines = [" & ".join(cell.translate(LATEX) for cell in line) + r" \\" for line in table.texts()]
    head = " & ".join(column.name.translate(LATEX) for column in table.columns) + r" \\"
    caption = f"{table.title}. {table.note}".translate(LATEX)
    start = [
        r"\begin{table}[t]",
        r"\small\centering",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{{form}}}",
    ]
    end = [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join([*start, r"\toprule", head, r"\midrule", *lines, *end])


def comma_separated(table: Table) -> str:
    """The table as CSV with all digits: one line of names, then one a row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows(["" if value is None else value for value in row] for row in table.rows)
    return out.getvalue()


def _rule(column: Column) -> str:
    return "---:" if column.form else "---"


FORMATS: dict[str, tuple[str, Callable[[Table], str]]] = {
    "markdown": ("md", markdown),
    "latex": ("tex", latex),
    "csv": ("csv", comma_separated),
}


def columns(*given: str | tuple[str, str]) -> tuple[Column, ...]:
    """Columns by name, or by name and format."""
    return tuple(Column(one) if isinstance(one, str) else Column(*one) for one in given)


def table(title: str, note: str, head: Sequence[Column], rows: Sequence[Sequence[Value]]) -> Table:
    """A table of any sequences, without the encoder's column where there is one encoder."""
    made = Table(title, note, tuple(head), tuple(map(tuple, rows)))
    return without_constant(made) if head and head[0].name == "encoder" else made
