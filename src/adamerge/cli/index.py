"""The verb that fills a store with files, or brings it up to date with them."""

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from adamerge.cli.common import (
    as_lines,
    encoder_spec,
    max_visual_tokens,
    on_device,
    own_methods,
    tell_passed_over,
    tell_skipped,
)
from adamerge.cli.info import summary
from adamerge.cli.progress import Task, reporting
from adamerge.encoders import DEFAULT_ENCODER, EncoderSpec
from adamerge.encoders.encode import Watcher
from adamerge.errors import AdamergeError, BadFile
from adamerge.pages import DPI, Report, count_pages, other_files
from adamerge.store import Store, is_store, open_named
from adamerge.store.entry import DTYPES
from adamerge.store.index import PIXELS, Change, Indexing, index_files
from adamerge.store.metadata import read_metadata

DID = ("added", "replaced", "unchanged", "removed")


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
@own_methods
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
    counts: Counter[str] = Counter()
    with open_named(where, dtype=options["dtype"]) as store, reporting() as report:
        task = Task(report, "indexing", "pages", total)

        def skip(error: AdamergeError) -> None:
            bad.append(error)
            task.pass_over()

        how = _indexing(store, encoder, method, options, None if options["strict"] else skip, task)
        printing = options["as_json"]
        for change in index_files(pages, store, how, metadata):
            counts[change.did] += 1
            if change.did == "unchanged":
                task.pass_over()
            printing = printing and _print_change(change)
        unknown = sorted(set(metadata) - set(store.sources()))

    for name in unknown:
        click.echo(f"adamerge: the table names '{name}', and there is no such file", err=True)
    tell_passed_over(other_files(pages, apart=Path(where)))
    tell_skipped(bad)
    if bad and not counts:
        raise BadFile("no page could be indexed")
    if not options["as_json"]:
        _print_counts(where, counts, len(bad))


def _indexing(
    store: Store,
    encoder: str | None,
    method: str | None,
    options: Mapping[str, Any],
    skip_bad: Report | None,
    watcher: Watcher,
) -> Indexing:
    """How to index: as asked for, else as the store's pages were made, else by the defaults."""
    made = store.about.encoder if store.about else {}
    stored_by = store.about.method if store.about else None
    return Indexing(
        _encoder_of(made, encoder, options["device"], options["max_visual_tokens"]),
        method or stored_by,
        options["batch_size"],
        options["dpi"] or made.get("dpi") or DPI,
        options["thumbnail"],
        skip_bad,
        watcher,
    )


def _encoder_of(
    made: Mapping[str, Any], name: str | None, device: str | None, max_visual_tokens: int | None
) -> EncoderSpec:
    """The encoder that was asked for; what was not said is as the store's pages were made, or minilm."""
    known = EncoderSpec.recorded(made, device) or EncoderSpec(DEFAULT_ENCODER, device=device)
    if (name is None or name == known.name) and max_visual_tokens is None:
        return known
    return encoder_spec(name or known.name, device, max_visual_tokens)


def _print_change(change: Change) -> bool:
    """Print a line at once; False once nobody reads any more, which is no reason to stop indexing."""
    try:
        click.echo(json.dumps({"page": change.id, "did": change.did}))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _print_counts(where: str, counts: Counter[str], skipped: int) -> None:
    """What was done, and what the store holds now: a line each."""
    done = [f"{counts[did]:,} {did}" for did in DID if counts[did]]
    failed = f"; {skipped:,} skipped" if skipped else ""
    click.echo(f"pages: {', '.join(done) or 'none'}{failed}")
    if is_store(where):
        with open_named(where) as store:
            if store.about is not None:
                click.echo(f"{where}: {summary(store.facts())}")
