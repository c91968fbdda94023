"""All tables and figures of results: as one HTML page that needs nothing else, or as a file each."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from adamerge import files
from adamerge.evaluate.analysis import Results, Table, controlled_by_gaussian, tables
from adamerge.evaluate.output.compare import compare_what_is_here
from adamerge.evaluate.output.figures import FIGURES
from adamerge.evaluate.output.plotting import KINDS, render_figure
from adamerge.evaluate.output.table_formats import FORMATS

Draw = Callable[[], Any]  # gives a figure


def report_tables(results: Results) -> dict[str, Table]:
    """Every table that has rows, by name."""
    every = {"datasets": tables.datasets(results)}
    for name, make in tables.TABLES.items():
        every[name] = make(results)
    every["compare"] = compare_what_is_here(results)
    every["manifest"] = tables.manifest(results)
    return {name: table for name, table in every.items() if table.rows}


def report_figures(results: Results) -> dict[str, Draw]:
    """Every figure that these results are enough for, by name; each is drawn when it is called."""
    found: dict[str, Draw] = {name: partial(draw, results) for name, draw in FIGURES.items()}
    if not any(controlled_by_gaussian(results, encoder) for encoder in results.encoders):
        del found["cliff"]
    if not results.rounded:
        del found["bytes"]
    return found


def write_page(
    results: Results, figures: Mapping[str, Draw], made: Mapping[str, Table], path: Path
) -> None:
    """Write figures and tables as one HTML page."""
    contents = []
    body = []
    for name, draw in figures.items():
        svg = _inline(render_figure(draw(), "svg"))
        contents.append(_link(f"figure-{name}", f"figure: {name}"))
        caption = f"<figcaption>{escape(name)}</figcaption>"
        body.append(f'<figure id="figure-{name}">{svg}{caption}</figure>')
    for name, table in made.items():
        contents.append(_link(name, name))
        body.append(_section(name, table))

    encoders = ", ".join(results.encoders)
    datasets = ", ".join(results.datasets)
    facts = f"{encoders} on {datasets}; {len(results.cells):,} methods and controls"

    page = resources.files("adamerge.evaluate.output").joinpath("report_page.html").read_text()
    page = page.replace("{{facts}}", escape(facts))
    page = page.replace("{{contents}}", "".join(contents))
    page = page.replace("{{body}}", "\n".join(body))
    _write(path, page.encode())


def write_parts(
    figures: Mapping[str, Draw], made: Mapping[str, Table], folder: Path
) -> Iterator[Path]:
    """Write a file per table and format, and per figure and kind, and yield each once it is there."""
    for name, table in made.items():
        for form in FORMATS.values():
            text = form.write(table)
            yield _write(folder / f"{name}.{form.suffix}", text.encode())
    for name, draw in figures.items():
        for kind in KINDS:
            yield _write(folder / f"{name}.{kind}", render_figure(draw(), kind))


def _link(place: str, text: str) -> str:
    return f'<li><a href="#{place}">{escape(text)}</a></li>'


def _section(name: str, table: Table) -> str:
    heads = [f"<th>{escape(column.name)}</th>" for column in table.columns]
    kinds = ["number" if column.form else "text" for column in table.columns]
    rows = []
    for texts in table.texts():
        cells = []
        for kind, text in zip(kinds, texts, strict=True):
            cells.append(f'<td class="{kind}">{escape(text)}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")

    head = f"<thead><tr>{''.join(heads)}</tr></thead>"
    body = f"<tbody>{''.join(rows)}</tbody>"
    return (
        f'<section id="{name}"><h2>{escape(table.title)}</h2>'
        f"<div><table>{head}{body}</table></div>"
        f"<p>{escape(table.note)}</p></section>"
    )


def _inline(svg: bytes) -> str:
    """An SVG as HTML takes it: without prolog, metadata, or a fixed size."""
    text = svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return re.sub(r'(<svg[^>]*?) width="[^"]*"| height="[^"]*pt"', r"\1", text, count=2)


def _write(path: Path, content: bytes) -> Path:
    files.make_folder(path.parent)
    files.write(path, content)
    return path
