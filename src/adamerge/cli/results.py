"""The verbs on a folder of results: tables, figures, the report, and what was published."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from adamerge import evaluate
from adamerge.cli.evaluate import FOLDER
from adamerge.cli.evaluate import evaluate as evaluate_verb
from adamerge.errors import BadInput

TABLES = evaluate.tables.TABLES
FIGURES = evaluate.figures.FIGURES
FILE = click.Path(path_type=Path, dir_okay=False)
TAKES = {  # option -> tables that have it
    "methods": ("significance", "controls", "theta", "efficiency", "sequence"),
    "ks": ("significance",),
    "compression": ("ablation", "efficiency"),
    "c_min": ("ablation",),
}


def on_results(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb that reads a folder of results, or some datasets of it."""
    folder = click.argument(
        "folder", metavar="RESULTS", type=click.Path(path_type=Path, exists=True, file_okay=False)
    )
    some = click.option(
        "--dataset",
        "datasets",
        multiple=True,
        help="A dataset or suite. Can be given more than once.",
    )
    return folder(some(verb))


by_measure = click.option(
    "--measure",
    type=click.Choice(list(evaluate.MEASURES)),
    default=evaluate.MEASURE,
    show_default=True,
)


def in_formats(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb that prints a table, or writes it to a file."""
    form = click.option(
        "--format",
        "form",
        type=click.Choice(list(evaluate.FORMATS)),
        default="markdown",
        show_default=True,
    )
    return form(
        click.option("-o", "out", type=FILE, help="File to write, instead of printing.")(verb)
    )


@click.command("table")
@click.argument("name", metavar="TABLE", type=click.Choice(list(TABLES)))
@on_results
@by_measure
@in_formats
@click.option(
    "--method",
    "methods",
    multiple=True,
    help="For controls, theta, efficiency and sequence: the methods to show. For significance: a method, then those "
    "to test it against.",
)
@click.option("--k", "ks", multiple=True, help="For significance: the k to show.")
@click.option(
    "--compression",
    type=click.FloatRange(0, 1),
    help="For ablation and efficiency: the compression to compare at.  [default: 0.81]",
)
@click.option("--c-min", help="For ablation: the floor c_min.  [default: 0.7]")
def print_table(name: str, form: str, out: Path | None, **options: Any) -> None:
    """Print a table of a folder of results.

    Tables are frontier, significance, ablation, controls, theta, efficiency, unit, sequence and
    bytes (methods in fewer bits: the measure, and the kilobytes of a page).

    \b
    adamerge evaluate table significance results/books --k=-0.25
    adamerge evaluate table significance results/books --method adamerge --method sem-cluster:m=6 --method identity
    adamerge evaluate table ablation results/books --compression 0.6 --format latex -o ablation.tex
    """  # noqa: D301 (click reads the backslash)
    folder = options["folder"]
    results = _load(options)
    chosen = {option: value for option, value in options.items() if value not in (None, ())}
    for option in chosen:
        if name not in TAKES[option]:
            flag = option.rstrip("s").replace("_", "-")
            raise click.UsageError(f"{name} does not take --{flag}")

    table = TABLES[name](results, **chosen)
    if not table.rows:
        raise BadInput(f"{folder} has nothing for the table {name}: run methods that it compares")
    _print(table, form, out)


@click.command("figure")
@click.argument("name", metavar="FIGURE", type=click.Choice(list(FIGURES)))
@on_results
@by_measure
@click.option("-o", "out", required=True, type=FILE, help="File to write, .svg or .png.")
def draw_figure(name: str, out: Path, **options: Any) -> None:
    """Draw a figure of a folder of results.

    FIGURE is frontier, frontier-unit (groups of unit length), cliff, or bytes (the measure against the kilobytes of
    a page).

    \b
    adamerge evaluate figure frontier results/books -o frontier.svg
    """  # noqa: D301 (click reads the backslash)
    if out.suffix.lower() not in (".svg", ".png"):
        raise click.UsageError(f"a figure is written as .svg or .png, not as {out.name}")
    figure = FIGURES[name](_load(options))
    evaluate.figures.save_figure(figure, out)


@click.command("report")
@on_results
@by_measure
@click.option("-o", "out", required=True, type=FILE, help="HTML file to write.")
@click.option(
    "--parts", type=FOLDER, help="A folder for every table and figure as a file of its own."
)
@click.option(
    "--paper", is_flag=True, help="Write the figures and tables of the paper by their numbers."
)
def write_report(out: Path, parts: Path | None, paper: bool, **options: Any) -> None:
    """Write every table and figure of RESULTS as one HTML page.

    \b
    adamerge evaluate report results/books -o report.html
    adamerge evaluate report results/books -o build/paper/report.html --parts build/paper
    adamerge evaluate report runs/paper --paper -o paper.html --parts paper
    """  # noqa: D301 (click reads the backslash)
    evaluate.write_report(_load(options), out, parts, on_file=click.echo, paper=paper)


@click.command("compare")
@on_results
@in_formats
def compare_results(form: str, out: Path | None, **options: Any) -> None:
    """Set results beside published numbers (nDCG@5). Say which are the same within the known drift.

    \b
    adamerge evaluate compare runs/paper
    """  # noqa: D301 (click reads the backslash)
    _print(evaluate.compare(_load(options)), form, out)


def _load(options: dict[str, Any]) -> evaluate.Results:
    """The results that the options ask for; other options are left."""
    results = evaluate.load(
        options.pop("folder"), options.pop("datasets"), options.pop("measure", evaluate.MEASURE)
    )
    if results.left_out:
        count = len(results.left_out)
        click.echo(
            f"adamerge: left out: {count} methods without a cell for every dataset", err=True
        )
    return results


def _print(table: evaluate.Table, form: str, out: Path | None) -> None:
    if out:
        evaluate.save_table(table, out, form)
    else:
        click.echo(evaluate.format_table(table, form), nl=False)


for verb in (print_table, draw_figure, write_report, compare_results):
    evaluate_verb.add_command(verb)
