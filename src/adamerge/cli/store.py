"""Verbs on stores that are there: delete, export, copy. index.py has the one that fills them."""

from pathlib import Path

import click

from adamerge.cli.common import existing, in_store
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
