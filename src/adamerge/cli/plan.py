"""The verb `adamerge plan`: what to store for a budget, and what it is expected to lose."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from adamerge.cli.common import (
    encoder_spec,
    existing,
    in_batches,
    max_visual_tokens,
    on_device,
    password_of_files,
    query_prefix,
    tell_skipped,
    vector_options,
)
from adamerge.cli.plan_needs import needs_lines
from adamerge.cli.progress import Task, reporting
from adamerge.cli.text_table import text_table
from adamerge.documents import DPI, count_pages, readable_suffixes
from adamerge.encoders import DEFAULT_ENCODER, EncoderSpec
from adamerge.errors import AdamergeError, BadInput
from adamerge.plans import DTYPES, SAMPLE, Plan, PlanRow, target_of
from adamerge.plans import plan as make_plan
from adamerge.plans.sample import LARGEST_SAMPLE
from adamerge.plans.sources import sample_files, sample_store, sample_vectors
from adamerge.store import is_store
from adamerge.types import MultiVector
from adamerge.vectors import ReadOptions, is_shards, read_vectors, recorded_encoder

HEAD = ["method", "kB a page", "vectors", "compression", "agreement", "expected loss", ""]
CHOSEN = "<- chosen"


def budget_options(verb: Any) -> Any:
    """The options that say how many bytes there are."""
    total = click.option("--total", help="Bytes of all pages together, as 50GB; with --pages.")
    per_page = click.option("--bytes-per-page", help="Bytes of a page on average, as 20kB.")
    return total(per_page(verb))


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATHS|VECTORS|STORE")
@budget_options
@click.option(
    "--pages",
    "corpus_pages",
    type=click.IntRange(1),
    help="How many pages there will be: they share --total, and memory and times are for them.  [default: those of "
    "PATHS share --total; memory and times are for a million]",
)
@click.option("--compression", type=float, help="Share of the patches not to store, as 0.85.")
@click.option("--max-vectors", type=float, help="Vectors of a page on average, as 200.")
@click.option("--max-loss", type=float, help="Largest expected loss of nDCG@5, as 0.01.")
@click.option(
    "--dtype",
    "dtypes",
    multiple=True,
    type=click.Choice(DTYPES),
    help="A dtype that vectors may be kept in. Can be given more than once.  [default: all]",
)
@click.option(
    "--queries",
    "queries_path",
    type=click.Path(path_type=Path, exists=True),
    help="Queries that people asked: a .txt file with one a line, or a folder or file of their vectors.",
)
@click.option(
    "--sample",
    type=click.IntRange(1, LARGEST_SAMPLE),
    default=SAMPLE,
    show_default=True,
    help="Pages to try methods on, spread over all files.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of all that is drawn.")
@click.option(
    "-o",
    "out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="HTML file to write, with the frontier as a plot.",
)
@click.option(
    "--encoder", "name", help=f"The encoder.  [default: that of the vectors, or {DEFAULT_ENCODER}]"
)
@in_batches
@on_device
@max_visual_tokens
@query_prefix
@password_of_files
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object for each row, a line each."
)
@vector_options
def plan(paths: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Say what to store for a budget, and what it is expected to lose. Nothing is stored.

    Methods are tried on a sample: merging up to several heights, with and without pruning where there is attention,
    in several dtypes. The table has those that no other beats in bytes and agreement. Agreement is the share of the
    uncompressed top ten that is kept. The loss of nDCG@5 is estimated from it, with an interval; docs/plan.md says how
    far that holds.

    \b
    adamerge plan reports/ --total 50GB --pages 2000000
    adamerge plan vectors/ --bytes-per-page 20kB
    adamerge plan vectors/ --bytes-per-page 20kB -o plan.html
    adamerge plan vectors/ --max-loss 0.01 --queries asked.txt --json
    """  # noqa: D301 (click reads the backslash)
    corpus_pages = options["corpus_pages"]
    if options["total"] and corpus_pages is None:
        corpus_pages = _count(paths, options["password"])
    target = {
        "total": options["total"],
        "corpus_pages": corpus_pages,
        "bytes_per_page": options["bytes_per_page"],
        "compression": options["compression"],
        "max_vectors": options["max_vectors"],
        "max_loss": options["max_loss"],
    }
    target_of(**target)  # refused now, not after the pages were encoded

    pages, spec = _sample(paths, options)
    queries = None
    if options["queries_path"] is not None:
        queries = _read_queries(options["queries_path"], spec)
    found = make_plan(
        pages,
        **target,
        queries=queries,
        dtypes=options["dtypes"] or DTYPES,
        encoder=spec.name if spec else "",
        sample=options["sample"],
        seed=options["seed"],
    )

    if as_json:
        for row in found.json_rows():
            click.echo(json.dumps(row))
    else:
        click.echo(f"{found.pages:,} pages, {found.queries:,} queries")
        click.echo(text_table(HEAD, [_cells(row) for row in found.rows]))
        if found.chosen is not None:
            click.echo("\n".join(["", *needs_lines(found, found.chosen)]))
    if options["out"] is not None:
        path = found.save(options["out"])
        click.echo(f"adamerge: wrote {path}", err=True)
    _tell(found)


def _sample(
    paths: tuple[str, ...], options: dict[str, Any]
) -> tuple[list[MultiVector], EncoderSpec | None]:
    """The pages to try methods on, and the encoder that made them where it is known."""
    first = paths[0]
    most, seed = options["sample"], options["seed"]
    if _holds_pages(paths):
        spec = _spec(options["name"] or DEFAULT_ENCODER, options)
        return _encode_sample(paths, spec, options), spec
    if len(paths) > 1:
        raise BadInput("a plan reads one store, or one folder or file of vectors")

    if is_store(first):
        with existing(first) as store:
            recorded = store.require_about().encoder
            pages = sample_store(store, most, seed)
    else:
        reading = ReadOptions(options["column"], options["prompt_rows"])
        recorded = recorded_encoder(first)
        pages = sample_vectors(Path(first), most, seed, reading)

    if options["name"]:
        return pages, _spec(options["name"], options)
    known = EncoderSpec.recorded(recorded, options["device"])
    if known is None:
        return pages, None
    return pages, known.with_query_prefix(options["query_prefix"])


def _holds_pages(paths: Sequence[str]) -> bool:
    """Whether paths are PDF files and images, and not vectors or a store."""
    first = paths[0]
    if is_store(first) or is_shards(first):
        return False
    path = Path(first)
    if not path.is_dir():
        return path.suffix.lower() in readable_suffixes() or not path.exists()
    readable = readable_suffixes()
    return any(file.suffix.lower() in readable for file in path.rglob("*"))


def _encode_sample(
    paths: Sequence[str], spec: EncoderSpec, options: dict[str, Any]
) -> list[MultiVector]:
    bad: list[AdamergeError] = []
    count = min(count_pages(paths, options["password"]), options["sample"])
    with reporting() as report:
        task = Task(report, "encoding a sample", "pages", count)
        pages = sample_files(
            paths,
            spec.load(),
            options["sample"],
            dpi=DPI,
            batch_size=options["batch_size"],
            skip_bad=bad.append,
            watcher=task,
            password=options["password"],
        )
    tell_skipped(bad)
    return pages


def _spec(name: str, options: dict[str, Any]) -> EncoderSpec:
    return encoder_spec(
        name,
        options["device"],
        options["max_visual_tokens"],
        query_prefix=options["query_prefix"],
    )


def _count(paths: Sequence[str], password: str) -> int:
    """How many pages PATHS holds."""
    if _holds_pages(paths):
        return count_pages(paths, password)
    raise BadInput("--total needs --pages: how many pages share these bytes")


def _read_queries(path: Path, spec: EncoderSpec | None) -> Sequence[Any]:
    """Queries of a text file, encoded as the pages were, or of a file of vectors."""
    if path.suffix != ".txt":
        return list(read_vectors(path))
    lines = path.read_text(encoding="utf-8").splitlines()
    texts = [line.strip() for line in lines if line.strip()]
    if not texts:
        raise BadInput(f"{path} holds no query: write one a line")
    if spec is None:
        raise BadInput("the vectors do not say which encoder made them: name it by --encoder")
    return spec.load().encode_queries(texts)


def _cells(row: PlanRow) -> list[str]:
    """A row of the table."""
    mark = ""
    if row.chosen:
        mark = CHOSEN
    return [
        row.method,
        f"{row.bytes_per_page / 1000:,.1f}",
        f"{row.rows_per_page:,.0f}",
        f"{row.compression:.1%}",
        f"{row.agreement:.3f}",
        f"{row.expected_loss:.3f} [{row.low:.3f}, {row.high:.3f}]",
        mark,
    ]


def _tell(found: Plan) -> None:
    """The choice in words, and what to know about it, on stderr; a target that nothing meets is an error."""
    if not found.is_judged:
        encoder = found.encoder or "this encoder"
        click.echo(
            f"adamerge: no judged pages of {encoder} are known: losses are extrapolated from minilm; "
            "agreement is measured",
            err=True,
        )
    if found.target is not None and found.chosen is None:
        raise BadInput(str(found))
    click.echo(f"adamerge: {found}", err=True)
