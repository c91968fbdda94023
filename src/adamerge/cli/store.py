"""Verbs on stores: index, search, delete, export, copy."""

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from adamerge.cli.common import encoder_spec, listed, max_visual_tokens, on_device, progress
from adamerge.encoders import DEFAULT_ENCODER, EncoderSpec
from adamerge.errors import AdamergeError, BadFile, BadInput, NotFound
from adamerge.pages import DPI, count_pages
from adamerge.report import table
from adamerge.store import Store, is_store, open_named
from adamerge.store.entry import DTYPES
from adamerge.store.index import PIXELS, Indexing, index_files
from adamerge.store.metadata import read_metadata
from adamerge.store.transfer import copy as copy_pages
from adamerge.store.transfer import export_parquet, export_shards
from adamerge.types import Found, Hit

WORDS = 60  # letters of matched words shown of a hit

in_store = click.argument("where", metavar="STORE")
as_lines = click.option("--json", "as_json", is_flag=True, help="JSON, an object a line.")


@click.command()
@click.argument("pages", nargs=-1, required=True)
@click.option(
    "--store",
    "where",
    required=True,
    help="A folder, s3://bucket/folder, or http://qdrant:6333/collection.",
)
@click.option(
    "--encoder", help="`adamerge encoders` lists them.  [default: the store's, or minilm]"
)
@click.option(
    "--method", help="`adamerge methods` lists them.  [default: the store's, or the encoder's]"
)
@click.option(
    "--dtype", type=click.Choice(DTYPES), help="Of the stored vectors.  [default: float16]"
)
@click.option(
    "--metadata",
    type=click.Path(path_type=Path),
    help="A .csv table: source, and a column per name.",
)
@click.option(
    "--batch-size",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Pages encoded at a time.",
)
@on_device
@max_visual_tokens
@click.option(
    "--dpi",
    type=click.IntRange(1),
    help=f"Resolution of PDF pages.  [default: the store's, or {DPI}]",
)
@click.option(
    "--thumbnail",
    type=click.IntRange(0),
    default=PIXELS,
    show_default=True,
    help="Pixels; 0 for none.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Stop at the first page that cannot be read or has nothing to encode.",
)
@as_lines
def index(
    pages: tuple[str, ...], where: str, encoder: str | None, method: str | None, **options: Any
) -> None:
    """Encode, compress and store PAGES (PDF files, images, folders, globs), or bring a store up to date with them.

    What has not changed since is passed over, what has is replaced, and what is gone from a folder that is given is
    removed from the store. A run that was stopped goes on where it was when the same command is given again.

    \b
    adamerge index reports/ --store reports.store
    adamerge index reports/ --store reports.store --metadata years.csv
    adamerge index scans/ --store http://localhost:6333/scans --encoder vidore/colqwen2.5-v0.2
    """  # noqa: D301 (click reads the backslash)
    total = count_pages(pages)  # also finds what is not there before a model is loaded
    metadata = read_metadata(options["metadata"]) if options["metadata"] else {}
    bad: list[AdamergeError] = []
    with open_named(where, dtype=options["dtype"]) as store:
        made = store.about.encoder if store.about else {}
        how = Indexing(
            _encoder_of(made, encoder, options["device"], options["max_visual_tokens"]),
            method or (store.about.method if store.about else None),
            options["batch_size"],
            options["dpi"] or made.get("dpi") or DPI,
            options["thumbnail"],
            None if options["strict"] else bad.append,
        )
        counts: Counter[str] = Counter()
        say = _say if options["as_json"] else None
        for change in progress(index_files(pages, store, how, metadata), total, 0):
            counts[change.did] += 1
            if say and not say(json.dumps({"page": change.id, "did": change.did})):
                say = None
        for name in sorted(set(metadata) - set(store.sources())):
            click.echo(f"adamerge: the table names '{name}', and there is no such file", err=True)
    for error in bad:
        click.echo(f"adamerge: skipped: {error}", err=True)
    if bad and not counts:
        raise BadFile("no page could be indexed")
    if not options["as_json"]:
        _print_counts(where, counts, len(bad))


def _encoder_of(
    made: Mapping[str, Any], name: str | None, device: str | None, max_visual_tokens: int | None
) -> EncoderSpec:
    """The encoder that was asked for; what was not said is as the store's pages were made, or minilm."""
    known = EncoderSpec.recorded(made, device) or EncoderSpec(DEFAULT_ENCODER, device=device)
    if (name is None or name == known.name) and max_visual_tokens is None:
        return known
    return encoder_spec(name or known.name, device, max_visual_tokens)


def _say(line: str) -> bool:
    """Print a line at once; False once nobody reads any more, which is no reason to stop indexing."""
    try:
        click.echo(line)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _print_counts(where: str, counts: Counter[str], skipped: int) -> None:
    said = [
        f"{counts[did]:,} {did}"
        for did in ("added", "replaced", "unchanged", "removed")
        if counts[did]
    ]
    click.echo(
        "pages: " + (", ".join(said) or "none") + (f"; {skipped:,} skipped" if skipped else "")
    )
    if is_store(where):
        with open_named(where) as store:
            if store.about is not None:
                click.echo(listed(store.facts()))


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
    lines = table(head, rows).splitlines()
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
@click.option("--source", help="All pages of a file.")
def delete(where: str, ids: tuple[str, ...], source: str | None) -> None:
    """Remove pages from STORE by their ids (report.pdf#3), or all pages of a file."""
    with existing(where) as store:
        count = store.delete(*ids, source=source)
    if not count:
        raise BadInput(f"{where} holds no such page")
    click.echo(f"{count:,} pages removed")


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
        count = sum(1 for _ in progress(run, len(store), 0))
    click.echo(f"{count:,} pages written to {out}")


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help="Of a new store.  [default: that of FROM, where TO has it]",
)
def copy(source: str, target: str, dtype: str | None) -> None:
    """Copy all pages of one store to another: a folder to Qdrant, back, or to a store of another dtype."""
    with existing(source) as store, open_named(target, dtype=dtype) as to:
        count = sum(1 for _ in progress(copy_pages(store, to), len(store), 0))
    click.echo(f"{count:,} pages copied to {target}")


def existing(where: str, **options: Any) -> Store:
    """A store that is there; a name that is wrong must not look like a store without pages."""
    if not is_store(where):
        raise NotFound(f"there is no store at {where}: adamerge index makes one")
    return open_named(where, **options)
