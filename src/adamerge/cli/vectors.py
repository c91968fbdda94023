"""Verbs on vectors: encode, compress, and what there is to choose from."""

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from adamerge import compression_report
from adamerge.buckets import AnyPath, BucketPath
from adamerge.cli.cluster import cluster_of, on_cluster, refuse_password, tell_summary, with_workers
from adamerge.cli.common import (
    encoder_spec,
    folder_or_bucket,
    in_batches,
    max_visual_tokens,
    on_device,
    own_modules,
    password_of_files,
    query_prefix,
    tell_skipped,
    vector_options,
)
from adamerge.cli.facts_in_words import summary
from adamerge.cli.given_files import pages_to_expect, tell_passed_over
from adamerge.cli.info import facts
from adamerge.cli.progress import Task, reporting, tracked
from adamerge.cli.text_table import text_table
from adamerge.codes import DTYPES
from adamerge.compress.names import (
    METHODS,
    Method,
    as_text,
    options,
    parse_method,
    split_dtype,
)
from adamerge.compress.stream import compress_pages
from adamerge.documents import DPI, other_files
from adamerge.encoders import DEFAULT_ENCODER
from adamerge.encoders.encode import Encoding, encode_files
from adamerge.encoders.spec import examples
from adamerge.errors import AdamergeError, BadInput
from adamerge.files import lies_in
from adamerge.types import MultiVector
from adamerge.vectors import (
    ReadOptions,
    Shards,
    Writer,
    fingerprint,
    is_shards,
    open_shards,
    read_vectors,
    recorded_encoder,
)
from adamerge.vectors.compress_folder import compress_folder

if TYPE_CHECKING:
    from adamerge.scale import Cluster

into_folder = click.option(
    "-o",
    "out",
    required=True,
    type=click.Path(),
    callback=folder_or_bucket,
    help="Folder to write, or s3://bucket/folder.",
)
SHOWN = 20  # pages printed in a table; --json has them all


@click.command()
@click.argument("pages", nargs=-1, required=True)
@into_folder
@click.option(
    "--encoder",
    "name",
    default=DEFAULT_ENCODER,
    show_default=True,
    help="The encoder; `adamerge encoders` lists all.",
)
@in_batches
@on_device
@click.option(
    "--dtype",
    help="Type of the model's numbers: float32, float16 or bfloat16.  [default: bfloat16 on cuda]",
)
@max_visual_tokens
@query_prefix
@click.option(
    "--dpi", type=click.IntRange(1), default=DPI, show_default=True, help="Resolution of PDF pages."
)
@click.option(
    "--method",
    "method_name",
    help="Compress every page at once by this method.  [default: write vectors as they are]",
)
@own_modules
@password_of_files
@click.option(
    "--resume/--no-resume",
    default=True,
    show_default=True,
    help="Continue a folder that was begun.",
)
@click.option(
    "--skip-bad",
    is_flag=True,
    help="Pass over pages that cannot be read, and list them at the end.",
)
@with_workers
def encode(
    pages: tuple[str, ...],
    out: AnyPath,
    name: str,
    method_name: str | None,
    resume: bool,
    skip_bad: bool,
    ray: str | None,
    workers: int | None,
    gpus_per_worker: float,
    **options: Any,
) -> None:
    """Encode PAGES into vectors. PAGES are PDF files, images, office files, folders, globs or s3://bucket/folder.

    OUT becomes a folder of vectors for `adamerge compress`. A run that was stopped continues when you give the
    same command again.

    \b
    adamerge encode report.pdf -o vectors
    adamerge encode scans/ -o vectors --encoder vidore/colqwen2.5-v0.2 --max-visual-tokens 768
    adamerge encode report.pdf -o small --method height
    """  # noqa: D301 (click reads the backslash)
    cluster = cluster_of(ray, workers, gpus_per_worker)
    if not resume and out.exists():
        raise BadInput(f"{out} is there already: choose another folder, or go on with --resume")
    password = options.pop("password")
    refuse_password(cluster, password)
    total = pages_to_expect(pages, password)
    how = Encoding(options.pop("batch_size"), options.pop("dpi"), password=password)
    if method_name is not None:
        method, dtype = split_dtype(parse_method(method_name))
        how = replace(how, method=method, dtype=dtype or how.dtype)
    bad: list[AdamergeError] = []
    spec = encoder_spec(name, **options)
    with reporting() as report:
        task = Task(report, "encoding", "pages", total)

        def skip(error: AdamergeError) -> None:
            bad.append(error)
            task.pass_over()

        report_bad = skip if skip_bad else None
        if cluster is None:
            run = encode_files(pages, out, spec.load(), how, skip_bad=report_bad, watcher=task)
            deque(run, maxlen=0)
        else:
            from adamerge import scale

            cost = scale.encode_files(
                pages, out, spec, cluster, how, skip_bad=report_bad, watcher=task
            )
            tell_summary(cost)

    click.echo(f"{out}: {summary(facts(out))}")
    folder = None if isinstance(out, BucketPath) else out
    tell_passed_over(other_files(pages, apart=folder))
    tell_skipped(bad)


@click.command()
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object for each encoder, a line each."
)
def encoders(as_json: bool) -> None:
    """List the encoders. Say which are installed, and what to install for the others."""
    for name, kind in examples().items():
        ready = kind.installed
        if as_json:
            about = {"encoder": name, "does": kind.does, "installed": ready, "extra": kind.extra}
            click.echo(json.dumps(about))
            continue
        state = "installed"
        if not ready:
            state = f"pip install 'adamerge[{kind.extra}]'"
        click.echo(f"{name}\n    {kind.does}\n    {state}")


@click.command()
@click.argument("source", metavar="IN", type=click.Path(), callback=folder_or_bucket)
@into_folder
@click.option(
    "--method",
    "names",
    multiple=True,
    default=["adamerge"],
    show_default=True,
    help="The method. Can be given more than once; `adamerge methods` lists all.",
)
@own_modules
@click.option(
    "--workers", type=click.IntRange(1), help="Threads to use.  [default: one for each core]"
)
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help="Type of the stored vectors.  [default: what the method says (height+int4), or float16]",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON, one object for each page and one for the total, a line each.",
)
@vector_options
@on_cluster
def compress(
    source: AnyPath,
    out: AnyPath,
    names: tuple[str, ...],
    workers: int | None,
    ray: str | None,
    dtype: str | None,
    as_json: bool,
    column: str,
    prompt_rows: tuple[int, int] | None,
) -> None:
    """Compress the pages of IN and print what was kept of each.

    IN is a folder of vectors, an index of byaldi, a .npz, .npy, .safetensors, .pt, .parquet or .arrow file, or a folder
    of such files; see docs/vectors.md. OUT becomes a folder of vectors; with several methods, a folder for each method.
    A run that was stopped continues when you give the same command again.

    \b
    adamerge compress pages.npz -o small
    adamerge compress .byaldi/reports -o small --method height
    adamerge compress pages.parquet -o small --column embedding --prompt-rows 4,7 --method height
    adamerge compress vectors/ -o small/ --method adamerge --method sem-cluster:m=4
    adamerge compress vectors/ -o small/ --method height --ray auto
    adamerge compress s3://bucket/vectors -o s3://bucket/small --method height
    """  # noqa: D301 (click reads the backslash)
    methods = [parse_method(name) for name in names]
    read_options = ReadOptions(column, prompt_rows)
    if lies_in(out, source):
        raise BadInput(f"OUT must not be IN or lie inside it: {out}")
    cluster = None
    if ray is not None:
        cluster = _compressing_cluster(ray, source, workers)
    for method in methods:
        folder = out
        if len(methods) > 1:
            folder = out / str(method).replace(":", "@")
        plain, named_dtype = split_dtype(method)
        if dtype and named_dtype and dtype != named_dtype:
            raise BadInput(f"--dtype {dtype} contradicts --method {method}: leave one of them out")
        kept = dtype or named_dtype or "float16"
        if cluster is None:
            _compress(source, read_options, folder, plain, workers, kept)
        else:
            _compress_on_cluster(source, read_options, folder, plain, kept, cluster)
        _print_report(open_shards(folder), as_json)


@click.command()
@own_modules
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object for each method, a line each."
)
def methods(as_json: bool) -> None:
    """List the methods, their options and defaults."""
    for name, (cls, given) in METHODS.items():
        text = (cls.__doc__ or "").strip().splitlines()[0]
        defaults = {f.name: f.default for f in options(cls) if f.name not in given}
        if as_json:
            about = {"method": name, "does": text, "fixed": given, "options": defaults}
            click.echo(json.dumps(about))
            continue
        if given:
            text += f" Here {_as_options(given)}."
        click.echo(f"{name}\n    {text}")
        click.echo(f"    {_as_options(defaults) or 'no options'}")


def _as_options(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={as_text(value)}" for name, value in values.items())


def _compress(
    source: AnyPath,
    options: ReadOptions,
    folder: AnyPath,
    method: Method,
    workers: int | None,
    dtype: str,
) -> None:
    """Compress what an earlier run has not compressed yet."""
    if _is_empty(source, options):  # before anything is written
        raise BadInput(f"{source} holds no pages")
    if is_shards(source):
        shards = open_shards(source)
        with reporting() as report:
            task = Task(report, "compressing", "pages", len(shards))
            compress_folder(shards, folder, method, dtype=dtype, workers=workers, watcher=task)
        return

    read_from = f"{fingerprint(source)} {options}".rstrip()
    with Writer(
        folder,
        dtype=dtype,
        method=str(method),
        encoder=recorded_encoder(source),
        source=read_from,
    ) as out:
        small_pages = compress_pages(_pages(source, options, out.done), method, workers)
        for small in tracked(small_pages, "compressing", None, out.done):
            out.add(small)


def _compressing_cluster(address: str, source: AnyPath, workers: int | None) -> "Cluster | None":
    """The cluster to compress on; it takes a folder of vectors, a shard at a time."""
    if workers is not None:
        raise click.UsageError(
            "--workers are threads of this machine; a cluster uses all its cores"
        )
    if not is_shards(source):
        raise BadInput(
            f"a cluster compresses folders of vectors, as adamerge encode writes them; {source} is none: "
            f"leave out --ray, or first am.write_vectors('vectors', am.read_vectors('{source}'))"
        )
    return cluster_of(address)


def _compress_on_cluster(
    source: AnyPath,
    options: ReadOptions,
    folder: AnyPath,
    method: Method,
    dtype: str,
    cluster: "Cluster",
) -> None:
    """Compress on a cluster what an earlier run has not compressed yet."""
    from adamerge import scale

    if _is_empty(source, options):
        raise BadInput(f"{source} holds no pages")
    with reporting() as report:
        task = Task(report, "compressing", "pages", len(open_shards(source)))
        cost = scale.compress_folder(source, folder, method, cluster, dtype=dtype, watcher=task)
    tell_summary(cost)


def _is_empty(source: AnyPath, options: ReadOptions) -> bool:
    """Whether there is no page to read; a manifest says how many there are, of other files the first one is read."""
    if is_shards(source) and not options:
        return len(open_shards(source)) == 0
    return next(_pages(source, options), None) is None


def _pages(source: AnyPath, options: ReadOptions, start: int = 0) -> Iterator[MultiVector]:
    return read_vectors(source, start, column=options.column, prompt_rows=options.prompt_rows)


def _print_report(folder: Shards, as_json: bool) -> None:
    rows = list(compression_report.page_rows(folder))
    total = compression_report.total(rows)
    if as_json:
        method = {"method": folder.manifest.method}
        for row in rows:
            click.echo(json.dumps(method | row.json()))
        click.echo(json.dumps(method | {"total": len(rows)} | total.json()))
        return
    shown = [row.cells() for row in rows[:SHOWN]]
    click.echo(f"{folder.manifest.method}, {folder.manifest.dtype}")
    click.echo(text_table(compression_report.HEAD, [*shown, total.cells()]))
    if len(rows) > SHOWN:
        click.echo(f"(the first {SHOWN} pages; --json has all)")
