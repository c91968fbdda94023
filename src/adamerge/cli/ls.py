"""The verb that lists the files of a store, or the pages of one file."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

import click

from adamerge.cli.common import as_lines, existing, in_store
from adamerge.cli.facts_in_words import bytes_in_words
from adamerge.cli.text_table import text_table
from adamerge.store.contents import StoredFile, StoredPage, find_source, list_files, list_pages


@click.command()
@in_store
@click.argument("source", required=False)
@as_lines
def ls(address: str, source: str | None, as_json: bool) -> None:
    """List the files of STORE, or the pages of one file. SOURCE is the name of the file in the store, or its path.

    \b
    adamerge ls reports.store
    adamerge ls reports.store reports/2024.pdf --json
    """  # noqa: D301 (click reads the backslash)
    with existing(address) as store:
        if source is None:
            _print_files(list_files(store), as_json)
        else:
            name = find_source(store, source)
            _print_pages(list(list_pages(store, name)), as_json)


def _print_files(files: Sequence[StoredFile], as_json: bool) -> None:
    if not as_json:
        click.echo(_table_of_files(files))
        return
    for file in files:
        click.echo(json.dumps(asdict(file), default=_as_text))


def _print_pages(pages: Sequence[StoredPage], as_json: bool) -> None:
    if not as_json:
        click.echo(_table_of_pages(pages))
        return
    for page in pages:
        click.echo(json.dumps(asdict(page)))


def _table_of_files(files: Sequence[StoredFile]) -> str:
    """A row per file; a column of metadata per name that some file has."""
    names: set[str] = set()
    for file in files:
        names.update(file.metadata)
    columns = sorted(names)
    rows = []
    for file in files:
        pages = f"{file.pages:,}"
        if file.pages != file.of:
            pages += f" of {file.of:,}"
        indexed = "-"
        if file.indexed is not None:
            indexed = file.indexed.astimezone().strftime("%Y-%m-%d %H:%M")
        size = bytes_in_words(file.bytes)
        values = [_value(file, name) for name in columns]
        rows.append([file.source, pages, f"{file.vectors:,}", size, indexed, *values])
    return text_table(["file", "pages", "vectors", "size", "indexed", *columns], rows)


def _table_of_pages(pages: Sequence[StoredPage]) -> str:
    rows = []
    for page in pages:
        counts = [f"{count:,}" for count in (page.patches, page.vectors)]
        rows.append([page.id, *counts, bytes_in_words(page.bytes), f"{page.words:,}"])
    return text_table(["page", "patches", "vectors", "size", "words"], rows)


def _value(file: StoredFile, name: str) -> str:
    value = file.metadata.get(name)
    if value is None:
        return ""
    return str(value)


def _as_text(value: object) -> str:
    """Times and dates as JSON has them."""
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)
