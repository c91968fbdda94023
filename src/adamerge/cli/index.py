"""The verb that fills a store with files, or brings it up to date with them."""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adamerge.cli.cluster import cluster_of, refuse_password, tell_summary, with_workers
from adamerge.cli.common import (
    as_lines,
    encoder_of_store,
    encoder_spec,
    in_batches,
    is_verbose,
    max_visual_tokens,
    on_device,
    own_modules,
    password_of_files,
    query_prefix,
    tell_skipped,
)
from adamerge.cli.facts_in_words import summary
from adamerge.cli.fetch import offer_weights
from adamerge.cli.given_files import pages_to_expect, tell_passed_over
from adamerge.cli.plan import budget_options
from adamerge.cli.progress import Reporter, Task, reporting
from adamerge.cli.text_table import text_table
from adamerge.codes import DTYPES
from adamerge.compress import DEFAULT_METHOD, INDEX_DTYPE, MethodInDtype
from adamerge.documents import DPI, Report, count_pages, other_files
from adamerge.encoders import DEFAULT_ENCODER, EncoderSpec
from adamerge.errors import AdamergeError, BadFile
from adamerge.plans import SAMPLE
from adamerge.plans.for_indexing import plan_indexing
from adamerge.store import (
    DEFAULT_DTYPE,
    Change,
    Indexing,
    Store,
    index_files,
    is_store,
    open_named,
)
from adamerge.store.index import PIXELS
from adamerge.store.index_plan import plan_index
from adamerge.store.metadata import read_metadata
from adamerge.vectors.watcher import Watcher

if TYPE_CHECKING:
    from adamerge.scale import Cluster

DID = ("added", "replaced", "unchanged", "removed")


@click.command()
@click.argument("pages", nargs=-1, required=True)
@click.option(
    "--store",
    "address",
    required=True,
    help="A folder, s3://bucket/folder, or http://qdrant:6333/collection.",
)
@click.option(
    "--encoder",
    help=f"The encoder; `adamerge encoders` lists all.  [default: the store's, or {DEFAULT_ENCODER}]",
)
@click.option(
    "--method",
    help=f"The method; `adamerge methods` lists all.  [default: the store's, or {DEFAULT_METHOD}]",
)
@budget_options
@click.option(
    "--pages", "corpus_pages", type=click.IntRange(1), help="How many pages share --total."
)
@own_modules
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help=f"Type of the stored vectors; --method NAME+int4 says the same.  [default: the store's, or {INDEX_DTYPE}]",
)
@click.option(
    "--metadata",
    type=click.Path(path_type=Path),
    help="A .csv table: a column 'source' with the name of a file, and a column for each kind of metadata.",
)
@in_batches
@on_device
@max_visual_tokens
@query_prefix
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
    help="Pixels of a thumbnail's longer side; 0 for no thumbnails.",
)
@password_of_files
@click.option(
    "--strict",
    is_flag=True,
    help="Stop at the first page that cannot be read or has nothing to encode.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what would be done with each file, and do nothing.",
)
@as_lines
@with_workers
def index(
    pages: tuple[str, ...], address: str, encoder: str | None, method: str | None, **options: Any
) -> None:
    """Encode, compress and store PAGES. PAGES are PDF files, images, office files, folders, globs or s3://bucket/folder.

    A store that is there is brought up to date. Pages that have not changed are kept, and changed pages are replaced.
    If PAGES names a folder, pages of files that are no longer in it are removed. A run that was stopped continues when
    you give the same command again.

    With --bytes-per-page or --total, a plan on a sample of PAGES chooses the method of a new store, as `adamerge plan`
    does. The average over pages meets the budget, and dense pages get more.

    \b
    adamerge index reports/ --store reports.store
    adamerge index reports/ --store reports.store --bytes-per-page 20kB
    adamerge index reports/ --store reports.store --metadata years.csv
    adamerge index scans/ --store http://localhost:6333/scans --encoder vidore/colqwen2.5-v0.2
    adamerge index s3://bucket/scans --store s3://bucket/scans.store --ray auto --gpus-per-worker 0.5
    """  # noqa: D301 (click reads the backslash)
    cluster = cluster_of(options["ray"], options["workers"], options["gpus_per_worker"])
    refuse_password(cluster, options["password"])
    total = pages_to_expect(pages, options["password"])
    metadata = {}
    if options["metadata"]:
        metadata = read_metadata(options["metadata"])
    if options["dry_run"]:
        _print_plan(pages, address, encoder, method, options, metadata)
        return
    offer_weights(encoder or encoder_of_store(address))
    bad: list[AdamergeError] = []
    counts: Counter[str] = Counter()
    with open_named(address, dtype=options["dtype"]) as store, reporting() as report:
        task = Task(report, "indexing", "pages", total)

        def skip(error: AdamergeError) -> None:
            bad.append(error)
            task.pass_over()

        skip_bad = None if options["strict"] else skip
        how = _indexing(store, encoder, method, options, skip_bad, task)
        how = _for_budget(pages, store, how, method, options, report)
        printing = options["as_json"]
        for change in _changes(pages, store, how, metadata, cluster):
            counts[change.did] += 1
            if change.did == "unchanged":
                task.pass_over()
            if is_verbose():
                click.echo(f"{change.did} {change.id}", err=True)
            printing = printing and _print_change(change)
        unknown = sorted(set(metadata) - set(store.sources()))

    for name in unknown:
        click.echo(f"adamerge: the table names '{name}', and the store has no such file", err=True)
    tell_passed_over(other_files(pages, apart=Path(address)))
    tell_skipped(bad)
    if bad and not counts:
        raise BadFile("no page could be indexed")
    if not options["as_json"]:
        _print_counts(address, counts, len(bad))


def _changes(
    pages: tuple[str, ...],
    store: Store,
    how: Indexing,
    metadata: Mapping[str, Mapping[str, Any]],
    cluster: "Cluster | None",
) -> Iterator[Change]:
    """What indexing does with each page, on this machine or on a cluster."""
    if cluster is None:
        yield from index_files(pages, store, how, metadata)
        return
    from adamerge import scale
    from adamerge.scale.index import index_files as index_on_cluster

    cost = scale.Summary()
    yield from index_on_cluster(pages, store, cluster, how, metadata, cost)
    tell_summary(cost)


def _print_plan(
    pages: tuple[str, ...],
    address: str,
    encoder: str | None,
    method: str | None,
    options: Mapping[str, Any],
    metadata: Mapping[str, Mapping[str, Any]],
) -> None:
    """What would be done with each file: a table, or a line of JSON each."""
    bad: list[AdamergeError] = []
    with open_named(address, dtype=options["dtype"]) as store:
        how = _indexing(store, encoder, method, options, bad.append, None)
        planned = plan_index(pages, store, how, metadata)
    if options["as_json"]:
        for file in planned:
            click.echo(json.dumps(asdict(file)))
    else:
        rows = [[file.source, file.would, f"{file.pages:,}"] for file in planned]
        click.echo(text_table(["file", "would", "pages"], rows))
    tell_passed_over(other_files(pages, apart=Path(address)))
    tell_skipped(bad)


def _indexing(
    store: Store,
    encoder: str | None,
    method: str | None,
    options: Mapping[str, Any],
    skip_bad: Report | None,
    watcher: Watcher | None,
) -> Indexing:
    """How to index: as asked for, else as the store's pages were made, else by the defaults."""
    recorded: Mapping[str, Any] = {}
    recorded_method = None
    if store.about is not None:
        recorded = store.about.encoder
        recorded_method = store.about.method
    return Indexing(
        _encoder_of(recorded, encoder, options),
        method or recorded_method,
        options["batch_size"],
        options["dpi"] or recorded.get("dpi") or DPI,
        options["thumbnail"],
        skip_bad,
        watcher,
        options["password"],
    )


def _for_budget(
    pages: tuple[str, ...],
    store: Store,
    how: Indexing,
    method: str | None,
    options: Mapping[str, Any],
    report: Reporter,
) -> Indexing:
    """The same by the method that a plan chooses for a budget; a store that holds pages keeps its own."""
    if not options["bytes_per_page"] and not options["total"]:
        return how
    if method is not None:
        raise click.UsageError("a budget chooses the method: leave out --method, or the budget")
    if store.about is not None:
        click.echo(f"adamerge: the store goes on with {store.about.method}", err=True)
        return how

    count = count_pages(pages, how.password)
    task = Task(report, "planning on a sample", "pages", min(count, SAMPLE), is_part=True)
    found, planned = plan_indexing(
        pages,
        how,
        task,
        dtypes=[options["dtype"]] if options["dtype"] else store.dtypes,
        total=options["total"],
        corpus_pages=options["corpus_pages"] or count,
        bytes_per_page=options["bytes_per_page"],
    )
    click.echo(f"adamerge: {found}", err=True)
    if not isinstance(planned.method, MethodInDtype):
        store.choose_dtype(DEFAULT_DTYPE)  # a plan means float16 where it names no dtype
    return planned


def _encoder_of(
    recorded: Mapping[str, Any],
    name: str | None,
    options: Mapping[str, Any],
) -> EncoderSpec:
    """The encoder that was asked for, else the one that made the store's pages, else the default one."""
    device = options["device"]
    tokens = options["max_visual_tokens"]
    prefix = options["query_prefix"]
    known = EncoderSpec.recorded(recorded, device) or EncoderSpec(DEFAULT_ENCODER, device=device)
    if name not in (None, known.name) or tokens is not None:
        return encoder_spec(name or known.name, device, tokens, query_prefix=prefix)
    spec = known.with_query_prefix(prefix)
    spec.check_options()
    return spec


def _print_change(change: Change) -> bool:
    """Print a line at once; False if nobody reads the output any more, which is no reason to stop indexing."""
    try:
        click.echo(json.dumps({"page": change.id, "did": change.did}))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _print_counts(address: str, counts: Counter[str], skipped: int) -> None:
    """What was done, and what the store holds now: a line each."""
    done = [f"{counts[did]:,} {did}" for did in DID if counts[did]]
    failed = f"; {skipped:,} skipped" if skipped else ""
    click.echo(f"pages: {', '.join(done) or 'none'}{failed}")
    if is_store(address):
        with open_named(address) as store:
            if store.about is not None:
                click.echo(f"{address}: {summary(store.facts())}")
