"""A table as Markdown, LaTeX and CSV."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adamerge import files
from adamerge.evaluate.analysis import Table

LATEX = str.maketrans(
    {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "$": r"\$", "<": "$<$", ">": "$>$"}
)


def markdown(table: Table) -> str:
    """The table as Markdown, its note below it."""
    names = table.names()
    rules = ["---:" if column.form else "---" for column in table.columns]
    lines = []
    for cells in [names, rules, *table.texts()]:
        lines.append("| " + " | ".join(cells) + " |")
    body = "\n".join(lines)
    return f"**{table.title}.**\n\n{body}\n\n{table.note}\n"


def latex(table: Table) -> str:
    """The table as LaTeX (booktabs), its title and note as the caption."""
    alignment = "".join("r" if column.form else "l" for column in table.columns)
    caption = f"{table.title}. {table.note}".translate(LATEX)
    lines = [
        r"\begin{table}[t]",
        r"\small\centering",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _latex_line(table.names()),
        r"\midrule",
    ]
    for cells in table.texts():
        lines.append(_latex_line(cells))
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


def _latex_line(cells: list[str]) -> str:
    escaped = [cell.translate(LATEX) for cell in cells]
    return " & ".join(escaped) + r" \\"


def comma_separated(table: Table) -> str:
    """The table as CSV with all digits: a line of names, then a line a row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.names())
    writer.writerows(table.rows)  # None is written as nothing
    return out.getvalue()


@dataclass(frozen=True)
class TableFormat:
    """How a table is written, and the suffix of a file of it."""

    suffix: str
    write: Callable[[Table], str]


FORMATS = {
    "markdown": TableFormat("md", markdown),
    "latex": TableFormat("tex", latex),
    "csv": TableFormat("csv", comma_separated),
}


def format_table(table: Table, form: str = "markdown") -> str:
    """The table as text: markdown, latex or csv."""
    return FORMATS[form].write(table)


def save_table(table: Table, path: str | Path, form: str = "markdown") -> None:
    """Write the table to a file, and make the folders above it."""
    path = Path(path)
    files.make_folder(path.parent)
    files.write(path, format_table(table, form))
