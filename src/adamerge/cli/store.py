"""Verbs on stores: search, delete, export, copy; index.py has the one that fills them."""

import json
from pathlib import Path

import click

from adamerge.cli.common import as_lines, existing, in_store, query_prefix
from adamerge.cli.hits import hit_as_json, hits_as_text, how_found
from adamerge.cli.progress import tracked
from adamerge.cli.text_table import counted
from adamerge.codes import DTYPES
from adamerge.errors import NotFound
from adamerge.store import open_named
from adamerge.store.contents import find_missing, find_source
from adamerge.store.transfer import copy as copy_pages
from adamerge.store.transfer import export_parquet, export_shards


@click.command()
@in_store
@click.argument("query")
@click.option(
    "-k", type=click.IntRange(1), default=5, show_default=True, help="How many pages to find."
)
@click.option("--where", default="", help="A filter in SQL: \"year >= 2020 AND language = 'en'\".")
@click.option(
    "--encoder", help="The encoder, if it is a class of your own.  [default: the store's]"
)
@query_prefix
@click.option("--exact", is_flag=True, help="Compare every page, however long it takes.")
@click.option(
    "--hybrid", is_flag=True, help="Rank by the words of QUERY too, not by vectors alone."
)
@click.option(
    "--memory",
    default="4GiB",
    show_default=True,
    help="Bytes of vectors to hold. Where they take more, candidates are read from disk.",
)
@click.option("--group", is_flag=True, help="Put the hits of one file together.")
@as_lines
def search(
    address: str,
    query: str,
    k: int,
    where: str,
    encoder: str | None,
    query_prefix: str | None,
    exact: bool,
    hybrid: bool,
    memory: str,
    group: bool,
    as_json: bool,
) -> None:
    """Find the pages of STORE that answer QUERY best. Show the sentences, or the region, that matched.

    A page that the store holds twice, as in a copy of its file, is shown once with a note.

    \b
    adamerge search reports.store "who repairs the clock?"
    adamerge search reports.store "turnover by region" -k 10 --where "year >= 2020"
    """  # noqa: D301 (click reads the backslash)
    with existing(address, encoder=encoder, memory=memory) as store:
        store.set_query_prefix(query_prefix)
        found = store.search(query, k, where, exact=exact, words=query if hybrid else None)
    if as_json:
        for hit in found:
            how = {"how": found.how, "first_stage": found.first_stage}
            click.echo(json.dumps(hit_as_json(hit) | how, default=str))
    else:
        click.echo(hits_as_text(found, group))
    click.echo(how_found(found), err=True)


@click.command()
@in_store
@click.argument("ids", nargs=-1)
@click.option("--source", help="Remove all pages of a file: its name in the store, or its path.")
def delete(address: str, ids: tuple[str, ...], source: str | None) -> None:
    """Remove pages from STORE. Give their ids (report.pdf#3), or --source; `adamerge ls` lists both."""
    with existing(address) as store:
        name = None
        if source is not None:
            name = find_source(store, source)
        missing = find_missing(store, ids)
        count = store.delete(*ids, source=name)
    if not count:
        raise NotFound(missing)
    if missing:
        click.echo(f"adamerge: {missing}", err=True)
    click.echo(f"{counted(count, 'page')} removed")


@click.command()
@in_store
@click.option(
    "-o",
    "out",
    required=True,
    type=click.Path(path_type=Path),
    help="A new folder, or a new .parquet file.",
)
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help="Type of the vectors in a folder.  [default: that of STORE]",
)
def export(address: str, out: Path, dtype: str | None) -> None:
    """Write the pages of STORE to a folder of vectors, or to Parquet. Other programs read the Parquet file."""
    with existing(address) as store:
        if out.suffix == ".parquet":
            pages = export_parquet(store, out)
        else:
            pages = export_shards(store, out, dtype)
        count = sum(1 for _ in tracked(pages, "exporting", len(store)))
    click.echo(f"{count:,} pages written to {out}")


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help="Type of the vectors in a new store: that of FROM, or one of fewer bytes.  [default: that of FROM]",
)
@click.option(
    "--merge",
    is_flag=True,
    help="Add to a store that holds other pages; pages of the same id are replaced.",
)
def copy(source: str, target: str, dtype: str | None, merge: bool) -> None:
    """Copy all pages of one store to another. A copy can go from a folder to Qdrant, back, or to another dtype.

    TO is a new store, or an earlier copy of FROM, which is brought up to date.
    """
    with existing(source) as store, open_named(target, dtype=dtype) as copied:
        pages = copy_pages(store, copied, merge=merge)
        count = sum(1 for _ in tracked(pages, "copying", len(store)))
    click.echo(f"{count:,} pages copied to {target}")
