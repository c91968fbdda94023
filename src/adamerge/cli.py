"""The command line: verbs that parse, call and print. Data goes to stdout, progress and errors to stderr."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import click

from adamerge import report
from adamerge.compress.names import METHODS, Method, as_text, options, parse_method
from adamerge.compress.stream import compress_pages
from adamerge.encoders import ENCODERS, load_encoder
from adamerge.encoders.encode import encode_files
from adamerge.errors import AdamergeError, BadInput
from adamerge.inspector.verb import inspect
from adamerge.pages import DPI, count_pages
from adamerge.types import MultiVector
from adamerge.vectors import Shards, Writer, fingerprint, open_shards, read_manifest, read_vectors
from adamerge.vectors.manifest import DTYPES, NAME
from adamerge.vectors.shards import counted

T = TypeVar("T")
SHOWN = 20  # pages printed in a table; --json has them all


class Verbs(click.Group):
    """Turns our errors into one line and exit code 1; a traceback comes only with --debug."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take --debug wherever it stands."""
        return super().parse_args(ctx, ["--debug"] * ("--debug" in args) + [a for a in args if a != "--debug"])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except (AdamergeError, OSError) as error:
            if ctx.params.get("debug"):
                raise
            click.echo(f"adamerge: {error}", err=True)
            ctx.exit(1)
        except KeyboardInterrupt:
            click.echo("adamerge: stopped; the same command goes on from here", err=True)
            ctx.exit(130)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="adamerge")
def main(debug: bool) -> None:
    """Store visual documents in a fraction of the vectors, and find the same pages.

    A method is a name with options: adamerge, adamerge:k=0.25,c_min=0.8, sem-cluster:m=4 ...
    `adamerge methods` lists them.
    """


@main.command()
@click.argument("pages", nargs=-1, required=True)
@click.option("-o", "out", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option("--encoder", "name", default="minilm", show_default=True, help="A name; `adamerge encoders` lists them.")
@click.option("--batch-size", type=click.IntRange(1), default=4, show_default=True, help="Pages at a time.")
@click.option("--device", help="cuda, mps or cpu.  [default: the best there is]")
@click.option("--dtype", help="Of the model: float32, float16 or bfloat16.  [default: bfloat16 on cuda]")
@click.option("--max-visual-tokens", type=click.IntRange(1), help="Patches a page at most, for ColQwen.")
@click.option("--dpi", type=click.IntRange(1), default=DPI, show_default=True, help="Resolution of PDF pages.")
@click.option("--resume/--no-resume", default=True, show_default=True, help="Go on with a folder that was begun.")
@click.option("--skip-bad", is_flag=True, help="Go on after a page that cannot be read, and say so at the end.")
def encode(pages: tuple[str, ...], out: Path, name: str, resume: bool, skip_bad: bool, **options: Any) -> None:
    """Encode PAGES (PDF files, images, folders, globs) into vectors with attention, a patch each.

    OUT becomes a folder of vectors for `adamerge compress`. A run that was stopped goes on where it was when the same
    command is given again.

    \b
    adamerge encode report.pdf -o vectors
    adamerge encode scans/ -o vectors --encoder vidore/colqwen2.5-v0.2 --max-visual-tokens 768
    """  # noqa: D301 (click reads the backslash)
    if not resume and out.exists():
        raise BadInput(f"{out} is there already: choose another folder, or go on with --resume")
    total = count_pages(pages)  # also finds what is not there before a model is loaded
    batch_size, dpi = options.pop("batch_size"), options.pop("dpi")
    bad: list[AdamergeError] = []
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    encoder = load_encoder(name, **_given(name, options))
    run = encode_files(pages, out, encoder, batch_size=batch_size, dpi=dpi, skip_bad=bad.append if skip_bad else None)
    for _ in _progress(run, total, sum(counted(out).values())):
        pass
    click.echo(_listed(_facts(out)))
    for error in bad:
        click.echo(f"adamerge: skipped: {error}", err=True)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object per encoder, a line each.")
def encoders(as_json: bool) -> None:
    """List the encoders, which are installed, and what to install for the rest."""
    for name, (_, packages, extra, text) in ENCODERS.items():
        ready = all(find_spec(package) for package in packages)
        if as_json:
            click.echo(json.dumps({"encoder": name, "does": text, "installed": ready, "extra": extra}))
        else:
            state = "installed" if ready else f"pip install 'adamerge[{extra}]'"
            click.echo(f"{name}\n    {text}\n    {state}")


@main.command()
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.option("-o", "out", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option("--method", "names", multiple=True, default=["adamerge"], show_default=True, help="May be given again.")
@click.option("--workers", type=click.IntRange(1), help="Threads.  [default: one per core]")
@click.option("--dtype", type=click.Choice(DTYPES), default="float16", show_default=True, help="Of the stored vectors.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per page and one for the total, a line each.")
def compress(source: Path, out: Path, names: tuple[str, ...], workers: int | None, dtype: str, as_json: bool) -> None:
    """Compress the pages of IN and print what was kept of each.

    IN is a folder of vectors, a .npz, .npy, .safetensors, .parquet or .arrow file, or a folder of such files; see
    docs/vectors.md. OUT becomes a folder of vectors; with several methods, a folder per method. A run that was stopped
    goes on where it was when the same command is given again.

    \b
    adamerge compress pages.npz -o small
    adamerge compress vectors/ -o small/ --method adamerge --method sem-cluster:m=4
    """  # noqa: D301 (click reads the backslash)
    methods = [parse_method(name) for name in names]
    if out.resolve() == source.resolve() or source.resolve() in out.resolve().parents:
        raise BadInput(f"OUT must not be IN or lie inside it: {out}")
    for method in methods:
        folder = out / str(method).replace(":", "@") if len(methods) > 1 else out
        _compress(source, folder, method, workers, dtype)
        _print_report(open_shards(folder), as_json)


@main.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def info(path: Path, as_json: bool) -> None:
    """Say what PATH holds: pages, vectors, bytes, and what made them."""
    facts = _facts(path)
    click.echo(json.dumps(facts) if as_json else _listed(facts))


main.add_command(inspect)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object per method, a line each.")
def methods(as_json: bool) -> None:
    """List the methods, their options and defaults."""
    for name, (cls, given) in METHODS.items():
        text = (cls.__doc__ or "").strip().splitlines()[0]
        defaults = {f.name: f.default for f in options(cls) if f.name not in given}
        if as_json:
            click.echo(json.dumps({"method": name, "does": text, "fixed": given, "options": defaults}))
        else:
            fixed, choices = (", ".join(f"{k}={as_text(v)}" for k, v in some.items()) for some in (given, defaults))
            click.echo(f"{name}\n    {text}" + (f" Here {fixed}." if fixed else ""))
            click.echo(f"    {choices or 'no options'}")


def _given(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, by the names that the encoder has for them."""
    options["max_num_visual_tokens"] = options.pop("max_visual_tokens")
    given = {key: value for key, value in options.items() if value is not None}
    if name == "minilm" and (wrong := sorted(set(given) - {"device"})):
        raise BadInput(f"minilm takes no {wrong[0]}")
    return given


def _listed(facts: dict[str, Any]) -> str:
    return "\n".join(f"{key:<24}{value}" for key, value in facts.items())


def _compress(source: Path, folder: Path, method: Method, workers: int | None, dtype: str) -> None:
    """Compress what an earlier run has not compressed yet."""
    first = next(iter(read_vectors(source)), None)  # before anything is written
    if first is None:
        raise BadInput(f"{source} holds no pages")
    encoder = read_manifest(source).encoder if (source / NAME).exists() else {}
    with Writer(folder, dtype=dtype, method=str(method), encoder=encoder, source=fingerprint(source)) as out:
        pages = read_vectors(source, out.done)
        for small in _progress(compress_pages(pages, method, workers), _count(source), out.done):
            out.add(small)


def _count(source: Path) -> int | None:
    return len(open_shards(source)) if (source / NAME).exists() else None


def _progress(pages: Iterable[T], total: int | None, done: int) -> Iterator[T]:
    """Pages as they pass, with a bar on stderr if somebody is looking."""
    if not sys.stderr.isatty():
        yield from pages
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[speed]}"), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=total, completed=done, speed="")
        for page in pages:
            yield page
            bar.update(task, advance=1, speed=f"{bar.tasks[task].speed or 0:,.0f} pages/s")


def _print_report(folder: Shards, as_json: bool) -> None:
    rows = list(report.rows(folder))
    total = report.total(rows)
    if as_json:
        for row in rows:
            click.echo(json.dumps({"method": folder.manifest.method} | row.json()))
        click.echo(json.dumps({"method": folder.manifest.method, "total": len(rows)} | total.json()))
        return
    shown = [row.cells() for row in rows[:SHOWN]]
    click.echo(f"{folder.manifest.method}, {folder.manifest.dtype}")
    click.echo(report.table(report.HEAD, [*shown, total.cells()]))
    if len(rows) > SHOWN:
        click.echo(f"(the first {SHOWN} pages; --json has all)")


def _facts(path: Path) -> dict[str, Any]:
    if not (path / NAME).exists():
        return _facts_of_pages(read_vectors(path))
    folder = open_shards(path)
    manifest = folder.manifest
    facts: dict[str, Any] = {"pages": len(folder), "dimensions": folder.dimension, "dtype": manifest.dtype}
    if manifest.method:
        all_pages = report.total(list(report.rows(folder)))
        facts |= {"method": manifest.method} | {k: v for k, v in all_pages.json().items() if k != "page"}
    facts |= {"bytes on disk": sum(f.stat().st_size for f in path.iterdir()), "shards": len(folder.counts)}
    return facts | manifest.encoder | {f"{k} version": v for k, v in manifest.versions.items()}


def _facts_of_pages(pages: Iterable[MultiVector]) -> dict[str, Any]:
    facts: dict[str, Any] = {"pages": 0, "patches": 0, "extra": 0}
    for page in pages:
        extra = 0 if page.extra is None else len(page.extra)
        facts |= {"pages": facts["pages"] + 1, "patches": facts["patches"] + len(page), "extra": facts["extra"] + extra}
        facts |= {"dimensions": page.vectors.shape[1], "attention": page.attention is not None}
    return facts
