"""Verbs on stores: search, delete, export, copy; index.py has the one that fills them."""

import json
from pathlib import Path
from typing import Any

import click

from adamerge.cli.common import as_lines, existing, in_store
from adamerge.cli.progress import tracked
from adamerge.cli.text_table import text_table
from adamerge.errors import NotFound
from adamerge.store import open_named
from adamerge.store.entry import DTYPES
from adamerge.store.listing import find_missing, find_source
from adamerge.store.transfer import copy as copy_pages
from adamerge.store.transfer import export_parquet, export_shards
from adamerge.types import Found, Hit

WORDS = 60  # letters of matched words shown of a hit


@click.command()
@in_store
@click.argument("query")
@click.option("-k", type=click.IntRange(1), default=5, show_default=True, help="Hits.")
@click.option(
    "--where", "passing", default="", help="A filter: \"year >= 2020 AND language = 'en'\"."
)
@click.option("--encoder", help="Only for a class of your own.  [default: the store's]")
@click.option("--exact", is_flag=True, help="Compare every page, however long it takes.")
@click.option(
    "--memory",
    default="4GiB",
    show_default=True,
    help="Vectors that may be held to compare them all.",
)
@as_lines
def search(
    where: str,
    query: str,
    k: int,
    passing: str,
    encoder: str | None,
    exact: bool,
    memory: str,
    as_json: bool,
) -> None:
    """Find the pages of STORE that answer QUERY best, and the words or the region of each that matched.

    \b
    adamerge search reports.store "who repairs the clock?"
    adamerge search reports.store "turnover by region" -k 10 --where "year >= 2020"
    """  # noqa: D301 (click reads the backslash)
    with existing(where, encoder=encoder, memory=memory) as store:
        found = store.search(query, k, passing, exact=exact)
    if as_json:
        for hit in found:
            click.echo(json.dumps(_json(hit) | {"how": found.how}, default=str))
    else:
        click.echo(_hits(found) if found.hits else "nothing found")
    click.echo(_how(found), err=True)


def _hits(found: Found) -> str:
    names = sorted({name for hit in found for name in hit.metadata})
    head = ["source", "page", "score", *names]
    rows = [
        [hit.source, str(hit.number), f"{hit.score:.3f}", *_values(hit, names)] for hit in found
    ]
    lines = text_table(head, rows).splitlines()
    return "\n".join(
        f"{line}  {text}"
        for line, text in zip(lines, ["matched", *map(matched, found)], strict=True)
    )


def _values(hit: Hit, names: list[str]) -> list[str]:
    return [str(hit.metadata.get(name, "")) for name in names]


def matched(hit: Hit) -> str:
    """The words that the query matched, best first; or where, if the page has no words."""
    best = sorted(hit.matches, key=lambda match: -match.similarity)
    words = list(dict.fromkeys(word for match in best for word in match.words[:3]))
    if words:
        text = " ".join(words)
        return text if len(text) <= WORDS else text[: WORDS - 1] + "…"
    place = next((match.boxes for match in best if len(match.boxes)), None)
    if place is None:
        return ""
    (left, top), (right, bottom) = place[:, :2].min(0), place[:, 2:].max(0)
    return f"{left:.0%}-{right:.0%} across, {top:.0%}-{bottom:.0%} down"


def _how(found: Found) -> str:
    words = {
        "exact": "every page compared",
        "settled": f"{found.candidates:,} candidates compared; half of them had the same hits",
        "limit": f"{found.candidates:,} candidates compared, as many as a search takes: --exact compares all",
    }
    return f"{found.pages:,} pages: {words[found.how]}"


def _json(hit: Hit) -> dict[str, Any]:
    matches = [
        {
            "similarity": m.similarity,
            "row": m.row,
            "words": m.words,
            "boxes": m.boxes.round(4).tolist(),
        }
        for m in hit.matches
    ]
    about = {"page": hit.id, "score": hit.score, "source": hit.source, "number": hit.number}
    return about | {"metadata": dict(hit.metadata), "matches": matches}


@click.command()
@in_store
@click.argument("ids", nargs=-1)
@click.option("--source", help="All pages of a file: its name in the store, or its path.")
def delete(where: str, ids: tuple[str, ...], source: str | None) -> None:
    """Remove pages from STORE by their ids (report.pdf#3), or all pages of a file; `adamerge ls` lists both."""
    with existing(where) as store:
        name = None if source is None else find_source(store, source)
        missing = find_missing(store, ids)
        count = store.delete(*ids, source=name)
    if not count:
        raise NotFound(missing)
    if missing:
        click.echo(f"adamerge: {missing}", err=True)
    click.echo(f"{count:,} {'page' if count == 1 else 'pages'} removed")


@click.command()
@in_store
@click.option(
    "-o",
    "out",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder to write, or a .parquet file.",
)
@click.option(
    "--dtype",
    type=click.Choice(["float16", "float32"]),
    default="float16",
    show_default=True,
    help="Of shards.",
)
def export(where: str, out: Path, dtype: str) -> None:
    """Write the pages of STORE to a folder of vectors, or to one Parquet file that any reader opens."""
    with existing(where) as store:
        run = (
            export_parquet(store, out)
            if out.suffix == ".parquet"
            else export_shards(store, out, dtype)
        )
        count = sum(1 for _ in tracked(run, "exporting", len(store)))
    click.echo(f"{count:,} pages written to {out}")


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help="Of a new store.  [default: that of FROM, where TO has it]",
)
@click.option(
    "--merge",
    is_flag=True,
    help="Add to a store that holds other pages; those of the same id are replaced.",
)
def copy(source: str, target: str, dtype: str | None, merge: bool) -> None:
    """Copy all pages of one store to another: a folder to Qdrant, back, or to a store of another dtype.

    TO is a new store, or an earlier copy of FROM, which is brought up to date.
    """
    with existing(source) as store, open_named(target, dtype=dtype) as to:
        pages = copy_pages(store, to, merge=merge)
        count = sum(1 for _ in tracked(pages, "copying", len(store)))
    click.echo(f"{count:,} pages copied to {target}")
