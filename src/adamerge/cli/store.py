"""Verbs on stores: search, delete, export, copy; index.py has the one that fills them."""

import json
from pathlib import Path
from typing import Any

import click

from adamerge.cli.common import as_lines, existing, in_store, query_prefix
from adamerge.cli.progress import tracked
from adamerge.cli.text_table import counted, text_table
from adamerge.errors import NotFound
from adamerge.store import DTYPES, open_named
from adamerge.store.contents import find_missing, find_source
from adamerge.store.transfer import copy as copy_pages
from adamerge.store.transfer import export_parquet, export_shards
from adamerge.types import Found, Hit

WORDS_PER_MATCH = 3  # that are shown
LETTERS = 60  # of all matched words that are shown of a hit


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
    "--memory",
    default="4GiB",
    show_default=True,
    help="Compare all pages if their vectors take no more than this; else search in two stages.",
)
@as_lines
def search(
    address: str,
    query: str,
    k: int,
    where: str,
    encoder: str | None,
    query_prefix: str | None,
    exact: bool,
    memory: str,
    as_json: bool,
) -> None:
    """Find the pages of STORE that answer QUERY best. Show the words or the region that matched.

    \b
    adamerge search reports.store "who repairs the clock?"
    adamerge search reports.store "turnover by region" -k 10 --where "year >= 2020"
    """  # noqa: D301 (click reads the backslash)
    with existing(address, encoder=encoder, memory=memory) as store:
        store.set_query_prefix(query_prefix)
        found = store.search(query, k, where, exact=exact)
    if as_json:
        for hit in found:
            click.echo(json.dumps(_json(hit) | {"how": found.how}, default=str))
    else:
        click.echo(_hits(found))
    click.echo(_how(found), err=True)


def _hits(found: Found) -> str:
    """A table of hits; the last column, what matched, is not padded."""
    if not found.hits:
        return "nothing found"

    names: set[str] = set()
    for hit in found:
        names.update(hit.metadata)
    columns = sorted(names)

    rows = []
    last_column = ["matched"]
    for hit in found:
        values = [str(hit.metadata.get(name, "")) for name in columns]
        rows.append([hit.source, str(hit.number), f"{hit.score:.3f}", *values])
        last_column.append(matched(hit))
    lines = text_table(["source", "page", "score", *columns], rows).splitlines()
    return "\n".join(f"{line}  {text}" for line, text in zip(lines, last_column, strict=True))


def matched(hit: Hit) -> str:
    """The words that the query matched, the best match first; or the region, if the page has no words."""
    best = sorted(hit.matches, key=lambda match: -match.similarity)
    words: dict[str, None] = {}  # each once, in order
    for match in best:
        words |= dict.fromkeys(match.words[:WORDS_PER_MATCH])
    if words:
        text = " ".join(words)
        if len(text) > LETTERS:
            return text[: LETTERS - 1] + "…"
        return text

    for match in best:
        if len(match.boxes):
            left, top = match.boxes[:, :2].min(0)
            right, bottom = match.boxes[:, 2:].max(0)
            return f"{left:.0%}-{right:.0%} across, {top:.0%}-{bottom:.0%} down"
    return ""


def _how(found: Found) -> str:
    """How the hits were found, in one line."""
    words = {
        "exact": "every page compared",
        "settled": f"{found.candidates:,} candidates compared; half of them gave the same hits",
        "limit": f"{found.candidates:,} candidates compared, which is the limit: --exact compares all pages",
    }
    return f"{found.pages:,} pages: {words[found.how]}"


def _json(hit: Hit) -> dict[str, Any]:
    """A hit and its matches, as JSON has them."""
    matches = []
    for match in hit.matches:
        matches.append(
            {
                "similarity": match.similarity,
                "row": match.row,
                "words": match.words,
                "boxes": match.boxes.round(4).tolist(),
            }
        )
    return {
        "page": hit.id,
        "score": hit.score,
        "source": hit.source,
        "number": hit.number,
        "metadata": dict(hit.metadata),
        "matches": matches,
    }


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
    type=click.Choice(["float16", "float32"]),
    default="float16",
    show_default=True,
    help="Type of the vectors in a folder.",
)
def export(address: str, out: Path, dtype: str) -> None:
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
    help="Type of the vectors in a new store.  [default: that of FROM, if TO can keep it]",
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
