"""The verb `adamerge fidelity`: what each method keeps of the order of uncompressed pages."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import click

from adamerge.cli.common import on_device, own_modules, query_prefix, vector_options
from adamerge.cli.progress import tracked
from adamerge.cli.text_table import text_table
from adamerge.encoders import EncoderSpec
from adamerge.errors import BadInput
from adamerge.fidelities import DEFAULT_METHODS, Drawing, Fidelity
from adamerge.fidelities import fidelity as compare_methods
from adamerge.fidelities.bootstrap import Estimate
from adamerge.fidelities.compare import TOP
from adamerge.types import MultiVector
from adamerge.vectors import ReadOptions, read_vectors, recorded_encoder

HEAD = ["method", "compression", "kB a page", "agreement", "correlation", "MRR", "theta"]


@dataclass(frozen=True)
class PagesOnDisk:
    """Pages of a folder or file; each loop over them reads it again, and says how far it is."""

    path: Path
    options: ReadOptions
    task: str

    def __iter__(self) -> Iterator[MultiVector]:
        """The pages, one at a time."""
        pages = read_vectors(
            self.path, column=self.options.column, prompt_rows=self.options.prompt_rows
        )
        return tracked(pages, self.task, None)


def _strip(ctx: click.Context, param: click.Parameter, text: str) -> tuple[int, int]:
    """`1x4` as (1, 4)."""
    rows, times, columns = text.partition("x")
    if not times or not rows.isdecimal() or not columns.isdecimal():
        raise click.BadParameter(f"rows x columns of patches, as 1x4; got '{text}'", ctx, param)
    return int(rows), int(columns)


@click.command()
@click.argument("vectors", metavar="VECTORS", type=click.Path(path_type=Path))
@click.option(
    "--method",
    "names",
    multiple=True,
    default=DEFAULT_METHODS,
    show_default=True,
    help="A method to compare. Can be given more than once.",
)
@own_modules
@click.option(
    "--queries",
    "queries_path",
    type=click.Path(path_type=Path),
    help="A folder or file of vectors of queries: each of its pages is a query.",
)
@click.option(
    "--query", "texts", multiple=True, help="A query in words. Can be given more than once."
)
@click.option(
    "--encoder", "name", help="The encoder of the queries.  [default: that of the vectors]"
)
@on_device
@query_prefix
@click.option(
    "--drawn-from",
    type=click.Path(path_type=Path),
    help="A second encoding of the pages, to draw queries from.",
)
@click.option(
    "--strip",
    default="1x4",
    show_default=True,
    callback=_strip,
    help="Rows and columns of patches in a query that is drawn.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the queries that are drawn.")
@click.option(
    "--top",
    type=click.IntRange(1),
    default=TOP,
    show_default=True,
    help="How many best pages agreement is about.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object for each method, a line each."
)
@vector_options
def fidelity(
    vectors: Path,
    names: tuple[str, ...],
    queries_path: Path | None,
    texts: tuple[str, ...],
    name: str | None,
    device: str | None,
    query_prefix: str | None,
    drawn_from: Path | None,
    strip: tuple[int, int],
    seed: int,
    top: int,
    as_json: bool,
    column: str,
    prompt_rows: tuple[int, int] | None,
) -> None:
    """Compare methods by the order of pages that they keep. Nobody has to judge pages.

    agreement is the share of the uncompressed top ten that is kept, correlation Spearman's over all pages, MRR the mean
    of 1 / rank of the page that a query was drawn from. Brackets hold 95 % intervals. Without queries, strips of
    neighbouring patches of the pages are the queries; docs/fidelity.md says what that can tell.

    \b
    adamerge fidelity vectors/
    adamerge fidelity .byaldi/reports --method height:h=1 --method height:h=1.4 --method sem-cluster:m=4
    adamerge fidelity vectors/ --query "revenue by region" --query "who signed?" --json
    """  # noqa: D301 (click reads the backslash)
    _check_one_kind_of_query(queries_path, texts, drawn_from)
    options = ReadOptions(column, prompt_rows)
    pages = PagesOnDisk(vectors, options, "comparing")

    queries: Sequence[Any] | None = None
    if queries_path is not None:
        queries = list(read_vectors(queries_path))
    elif texts:
        queries = _encode(texts, vectors, name, device, query_prefix)
    source = None
    if drawn_from is not None:
        source = PagesOnDisk(drawn_from, options, "drawing queries")

    drawing = Drawing(strip=strip, seed=seed)
    found = compare_methods(pages, names, queries, drawn_from=source, drawing=drawing, top=top)
    if as_json:
        for one in found:
            click.echo(json.dumps(one.json()))
        return
    click.echo(f"{found[0].pages:,} pages, {found[0].queries:,} queries")
    click.echo(text_table(HEAD, [_cells(one) for one in found]))


def _check_one_kind_of_query(
    queries_path: Path | None, texts: tuple[str, ...], drawn_from: Path | None
) -> None:
    given = []
    if queries_path is not None:
        given.append("--queries")
    if texts:
        given.append("--query")
    if drawn_from is not None:
        given.append("--drawn-from")
    if len(given) > 1:
        raise click.UsageError(f"queries come from one place: leave out one of {', '.join(given)}")


def _encode(
    texts: Sequence[str],
    vectors: Path,
    name: str | None,
    device: str | None,
    query_prefix: str | None,
) -> Sequence[Any]:
    """Queries in words as the encoder of the pages has them."""
    spec = EncoderSpec.recorded(recorded_encoder(vectors), device)
    if name:
        spec = EncoderSpec(name, device=device)
    if spec is None:
        raise BadInput(f"{vectors} does not say which encoder made it: name it by --encoder")
    return spec.with_query_prefix(query_prefix).load().encode_queries(texts)


def _cells(found: Fidelity) -> list[str]:
    """A row of the table."""
    theta = "-"
    if not isnan(found.theta):
        theta = f"{found.theta:.3f} ± {found.theta_sd:.3f}"
    return [
        found.method,
        f"{found.compression.value:.1%}",
        f"{found.bytes_per_page.value / 1000:,.1f}",
        _with_interval(found.agreement),
        _with_interval(found.correlation),
        _with_interval(found.mrr),
        theta,
    ]


def _with_interval(estimate: Estimate) -> str:
    if isnan(estimate.value):
        return "-"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"
