"""The verb `adamerge inspect`: one page in, one HTML file out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from adamerge import files
from adamerge.cli.common import (
    on_device,
    own_modules,
    password_of_files,
    query_prefix,
    vector_options,
)
from adamerge.compress import DEFAULT_METHOD, parse_method
from adamerge.documents import DPI
from adamerge.encoders import DEFAULT_ENCODER, Encoder, EncoderSpec
from adamerge.encoders.ocr_fallback import prepare_page
from adamerge.errors import BadInput
from adamerge.inspector import Inspection, Query
from adamerge.inspector import inspect as inspect_page
from adamerge.inspector.page_address import encoder_of, is_picture, read_page, read_patches
from adamerge.inspector.stored_page import encode_again, entry_by_id, file_of, split_store
from adamerge.store import open_named
from adamerge.types import MultiVector, Page
from adamerge.vectors import ReadOptions

File = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True)
class AskedFor:
    """The encoder that the options ask for; None where an option was not given."""

    name: str | None
    device: str | None
    query_prefix: str | None

    def spec(self, default: str) -> EncoderSpec:
        """It, or the default one, with the other options."""
        spec = EncoderSpec(self.name or default, device=self.device)
        return spec.with_query_prefix(self.query_prefix)


@dataclass(frozen=True)
class Reading:
    """How a file is read."""

    dpi: int
    password: str = field(repr=False)


@click.command()
@click.argument("page")
@click.option("-o", "out", type=File, help="HTML file to write.")
@click.option("--svg", type=File, help="SVG file to write the curve to.")
@click.option(
    "--encoder",
    "name",
    help="The encoder; `adamerge encoders` lists all.  [default: minilm, or that of the vectors]",
)
@click.option(
    "--method",
    "method_name",
    help=f"The method; `adamerge methods` lists all.  [default: the store's, or {DEFAULT_METHOD}]",
)
@own_modules
@click.option(
    "--query",
    "texts",
    multiple=True,
    help="A query to show on the page. Can be given more than once.",
)
@click.option("--image", help="The picture of a page of vectors: an image file, or PDF#NUMBER.")
@on_device
@query_prefix
@click.option(
    "--dpi",
    type=click.IntRange(1),
    default=DPI,
    show_default=True,
    help="Resolution of a PDF page.",
)
@password_of_files
@vector_options
def inspect(
    page: str,
    out: Path | None,
    svg: Path | None,
    name: str | None,
    method_name: str | None,
    texts: tuple[str, ...],
    image: str | None,
    device: str | None,
    query_prefix: str | None,
    dpi: int,
    password: str,
    column: str,
    prompt_rows: tuple[int, int] | None,
) -> None:
    """Show what a method does to one PAGE, as one HTML file.

    PAGE is a page of a PDF or an office file (report.pdf#3), an image, a page of a store (STORE:ID, if its file is
    where it was), or a page of a folder or file of vectors (vectors#ID) with --image for its picture. The HTML file
    shows the page with its attention, the patches that were pruned, the groups, the curve with the cut, and what
    queries lose. A reader can change c_min, k and the cut in it.

    \b
    adamerge inspect report.pdf#3 -o page.html --query "revenue by region"
    adamerge inspect vectors#report.pdf#3 --image report.pdf#3 -o page.html --method sem-cluster:m=4
    adamerge inspect reports.store:report.pdf#3 -o page.html
    adamerge inspect report.pdf#3 --svg cliff.svg
    """  # noqa: D301 (click reads the backslash)
    if out is None and svg is None:
        raise click.UsageError("say what to write: -o page.html, or --svg cliff.svg")
    method = parse_method(method_name or _default_method(page))
    options = ReadOptions(column, prompt_rows)
    asked_for = AskedFor(name, device, query_prefix)
    patches, picture, encoder = _read(
        page, options, image, asked_for, Reading(dpi, password), bool(texts)
    )
    inspection = inspect_page(patches, method, picture, _queries(encoder, texts))
    for path, text in _outputs(inspection, out, svg):
        files.write(path, text)
        click.echo(f"{path}  {len(text.encode()):,} bytes")


def _read(
    page: str,
    options: ReadOptions,
    image: str | None,
    asked_for: AskedFor,
    reading: Reading,
    has_queries: bool,
) -> tuple[MultiVector, Page | None, Encoder | None]:
    """The patches and the picture of a page, and an encoder if there are queries to encode."""
    stored = split_store(page)
    if stored:
        if image is not None:
            raise BadInput("--image goes with vectors: a store knows its files")
        return _read_stored(*stored, asked_for, reading)
    if is_picture(page):
        if image is not None:
            raise BadInput("--image goes with vectors: a PDF or an image is its own picture")
        return _read_picture(page, asked_for, reading)

    patches = read_patches(page, options)
    encoder = None
    if has_queries:
        encoder = _encoder_of_vectors(page, asked_for)
    picture = None
    if image is not None:
        picture = read_page(image, reading.dpi, reading.password)
    return patches, picture, encoder


def _read_stored(
    where: str, id: str, asked_for: AskedFor, reading: Reading
) -> tuple[MultiVector, Page, Encoder]:
    with open_named(where, encoder=asked_for.name) as store:
        if not store.require_about().encoder.get("name"):
            raise BadInput(
                f"{where} does not say which encoder made its pages: inspect the file itself"
            )
        entry = entry_by_id(store, id)
        file_of(entry)  # refuses a missing file before a model is loaded
        store.set_query_prefix(asked_for.query_prefix)
        encoder = store.load_encoder(asked_for.device)
        patches, picture = encode_again(store, entry, encoder, reading.password)
        return patches, picture, encoder


def _read_picture(
    page: str, asked_for: AskedFor, reading: Reading
) -> tuple[MultiVector, Page, Encoder]:
    picture = read_page(page, reading.dpi, reading.password)
    encoder = asked_for.spec(DEFAULT_ENCODER).load()
    picture = prepare_page(encoder, picture)
    patches = encoder.encode_pages([picture])[0]
    return patches, picture, encoder


def _encoder_of_vectors(page: str, asked_for: AskedFor) -> Encoder:
    if asked_for.name:
        return asked_for.spec(asked_for.name).load()
    spec = encoder_of(page, asked_for.device)
    if spec is None:
        raise BadInput("a query needs --encoder: the vectors do not say what made them")
    return spec.with_query_prefix(asked_for.query_prefix).load()


def _default_method(page: str) -> str:
    """The method of the page's store, or else the one that `adamerge index` would store the page by."""
    stored = split_store(page)
    if stored:
        where, _ = stored
        with open_named(where) as store:
            return store.require_about().method
    return DEFAULT_METHOD


def _queries(encoder: Encoder | None, texts: Sequence[str]) -> list[Query]:
    if encoder is None or not texts:
        return []
    vectors = encoder.encode_queries(texts)
    tokens = encoder.query_tokens(texts)
    return [Query(*parts) for parts in zip(texts, vectors, tokens, strict=True)]


def _outputs(inspection: Inspection, out: Path | None, svg: Path | None) -> list[tuple[Path, str]]:
    """The files to write. All texts are made before the first is written."""
    outputs = []
    if svg:
        outputs.append((svg, inspection.cliff_svg()))
    if out:
        outputs.append((out, inspection.html))
    return outputs
