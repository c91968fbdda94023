"""All tables and figures of a folder of results: as one HTML page that needs nothing else, or as a file each."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from adamerge import files
from adamerge.evaluate.compare import compare_what_is_here
from adamerge.evaluate.figures import FIGURES, KINDS, render
from adamerge.evaluate.points import Results
from adamerge.evaluate.table import FORMATS, Table, Value, columns, table
from adamerge.evaluate.tables import TABLES, controlled_by_gaussian


def tables(results: Results) -> dict[str, Table]:
    """Every table that has rows, by name."""
    every = {"datasets": datasets(results)} | {name: make(results) for name, make in TABLES.items()}
    every |= {"compare": compare_what_is_here(results), "manifest": manifest(results)}
    return {name: one for name, one in every.items() if one.rows}


def datasets(results: Results) -> Table:
    """What the results are of."""
    rows = [
        [name, one["pages"], len(one["queries"]), one["judgements"], one["source"]]
        for name, one in results.about.items()
    ]
    head = columns("dataset", ("pages", ",d"), ("queries", ",d"), ("judgements", ",d"), "source")
    return table(
        "Datasets", "Source: the hash of the book, or the revision of the data.", head, rows
    )


def manifest(results: Results) -> Table:
    """What made the results: encoders, versions, machines, and how many cells of each."""
    made: Counter[tuple[str, str, str]] = Counter()
    for (encoder, _), cells in results.cells.items():
        for cell in cells:
            versions = ", ".join(
                f"{name} {version}" for name, version in sorted(cell.versions.items())
            )
            made[encoder, versions, cell.machine] += 1
    rows: list[list[Value]] = [[*key, count] for key, count in sorted(made.items())]
    note = f"{len(results.left_out)} methods without a cell for every dataset were left out."
    named = columns("of encoder", "versions", "machine", ("cells", ",d"))
    return table("What made these results", note, named, rows)


def write_page(results: Results, made: Mapping[str, Table], path: Path) -> None:
    """Write everything as one HTML page."""
    figures = {name: _inline(render(make(results), "svg")) for name, make in _drawable(results)}
    places = {f"figure-{name}": f"figure: {name}" for name in figures} | {
        name: name for name in made
    }
    contents = "".join(
        f'<li><a href="#{place}">{escape(name)}</a></li>' for place, name in places.items()
    )
    body = [
        f'<figure id="figure-{name}">{svg}<figcaption>{escape(name)}</figcaption></figure>'
        for name, svg in figures.items()
    ]
    body += [_section(name, one) for name, one in made.items()]
    page = resources.files("adamerge.evaluate").joinpath("report.html").read_text()
    encoders = ", ".join(results.encoders)
    datasets = ", ".join(results.datasets)
    facts = f"{encoders} on {datasets}; {len(results.cells):,} methods and controls"
    page = (
        page.replace("{{facts}}", escape(facts))
        .replace("{{contents}}", contents)
        .replace("{{body}}", "\n".join(body))
    )
    write(path, page.encode())


def write_parts(results: Results, made: Mapping[str, Table], folder: Path) -> Iterator[Path]:
    """Write a file per table and format, and per figure and kind, and yield each once it is there."""
    for name, one in made.items():
        for suffix, form in FORMATS.values():
            yield write(folder / f"{name}.{suffix}", form(one).encode())
    for name, make in _drawable(results):
        for kind in KINDS:
            yield write(folder / f"{name}.{kind}", render(make(results), kind))


def _drawable(results: Results) -> Iterator[tuple[str, Callable[[Results], Any]]]:
    """Figures that these results are enough for."""
    cut = any(controlled_by_gaussian(results, encoder) for encoder in results.encoders)
    return ((name, make) for name, make in FIGURES.items() if name != "cliff" or cut)


def _section(name: str, one: Table) -> str:
    head = "".join(f"<th>{escape(column.name)}</th>" for column in one.columns)
    kinds = ["number" if column.form else "text" for column in one.columns]
    rows = (zip(kinds, texts, strict=True) for texts in one.texts())
    lines = (
        "".join(f'<td class="{kind}">{escape(text)}</td>' for kind, text in row) for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    table_ = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<section id="{name}"><h2>{escape(one.title)}</h2><div>{table_}</div><p>{escape(one.note)}</p></section>'


def _inline(svg: bytes) -> str:
    """An SVG as HTML takes it: without prolog, metadata, or a fixed size."""
    text = svg.decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'(<svg[^>]*?) width="[^"]*"| height="[^"]*pt"', r"\1", text, count=2)


def write(path: Path, content: bytes) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, content)
    return path
