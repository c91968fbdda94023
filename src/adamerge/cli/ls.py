"""The verb that lists the files of a store, or the pages of one file."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

import click

from adamerge.cli.common import as_lines, existing, in_store
from adamerge.cli.info import bytes_in_words
from adamerge.cli.text_table import text_table
from adamerge.store.listing import StoredFile, StoredPage, find_source, list_files, list_pages


@click.command()
@in_store
@click.argument("source", required=False)
@as_lines
def ls(where: str, source: str | None, as_json: bool) -> None:
    """List the files of STORE, or the pages of one SOURCE: by its name there, or by its path.

    \b
    adamerge ls reports.store
    adamerge ls reports.store reports/2024.pdf --json
    """  # noqa: D301 (click reads the backslash)
    listed: Sequence[StoredFile] | Sequence[StoredPage]
    with existing(where) as store:
        if source is None:
            listed = files = list_files(store)
            text = _table_of_files(files)
        else:
            listed = pages = list(list_pages(store, find_source(store, source)))
            text = _table_of_pages(pages)
    if as_json:
        for one in listed:
            click.echo(json.dumps(asdict(one), default=_as_text))
    else:
        click.echo(text)


def _table_of_files(files: Sequence[StoredFile]) -> str:
    """A row per file; a column of metadata per name that some file has."""
    names = sorted({name for file in files for name in file.metadata})
    rows = []
    for file in files:
        pages = f"{file.pages:,}" if file.pages == file.of else f"{file.pages:,} of {file.of:,}"
        when = file.indexed.astimezone().strftime("%Y-%m-%d %H:%M") if file.indexed else "-"
        labels = [_label(file, name) for name in names]
        size = bytes_in_words(file.bytes)
        rows.append([file.source, pages, f"{file.vectors:,}", size, when, *labels])
    return text_table(["file", "pages", "vectors", "size", "indexed", *names], rows)


def _table_of_pages(pages: Sequence[StoredPage]) -> str:
    rows = []
    for page in pages:
        counts = [f"{count:,}" for count in (page.patches, page.vectors)]
        rows.append([page.id, *counts, bytes_in_words(page.bytes), f"{page.words:,}"])
    return text_table(["page", "patches", "vectors", "size", "words"], rows)


def _label(file: StoredFile, name: str) -> str:
    value = file.metadata.get(name)
    return "" if value is None else str(value)


def _as_text(value: object) -> str:
    """Times and dates as JSON has them."""
    return value.isoformat() if isinstance(value, datetime) else str(value)
