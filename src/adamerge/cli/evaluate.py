"""The verbs of evaluation: `adamerge dataset` and `adamerge evaluate`."""

from pathlib import Path

import click

from adamerge import evaluate as api
from adamerge.cli.progress import Task, reporting

FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group()
def dataset() -> None:
    """Make datasets to evaluate on."""


@dataset.command("books")
@click.argument("given", metavar="NAME|FILE.pdf", nargs=-1, required=True)
@click.option(
    "-o", "out", required=True, type=FOLDER, help="Folder to write; each book has a folder in it."
)
@click.option(
    "--queries",
    "most",
    type=click.IntRange(1),
    default=api.books.MOST_QUERIES,
    show_default=True,
    help="Most queries of a book.",
)
def make_books(given: tuple[str, ...], out: Path, most: int) -> None:
    """Make a dataset of each manual.

    The terms of its back-of-book index are the queries, and the pages that the index names are the judgements.

    A book is a PDF file, or a name that is fetched from the Debian archive: lilypond-learning, lilypond-notation, zsh,
    octave, r-exts, r-intro, or `books` for all of them. Prints twenty judgements of each for a person to check.

    \b
    adamerge dataset books zsh -o data
    adamerge dataset books manual.pdf -o data
    """  # noqa: D301 (click reads the backslash)
    names: list[str] = []
    for one in given:
        names += api.books.SUITES.get(one, (one,))

    for name in names:
        book = api.books.make_book_folder(name, out, most)
        pairs = sum(map(len, book.judgements.values()))
        click.echo(
            f"{book.name}: {len(book.pages)} pages, {len(book.queries)} queries, {pairs} judgements"
        )
        click.echo(f"    pages are numbered by {book.numbering}")
        click.echo(f"    words of a query: {book.word_shares}")
        for line in api.books.sample_judgements(book):
            click.echo(f"    {line}")


@click.group()
def evaluate() -> None:
    """Run methods on datasets, and see what they cost."""


@evaluate.command("run")
@click.argument("file", metavar="EXPERIMENT.toml", type=click.Path(path_type=Path))
@click.option("-o", "out", required=True, type=FOLDER, help="Folder of result files.")
@click.option(
    "--encoder",
    "encoders",
    multiple=True,
    help="An encoder, instead of those of the file. Can be given more than once.",
)
@click.option(
    "--dataset",
    "datasets",
    multiple=True,
    help="A dataset by its name or folder, instead of those of the file. Can be given more than once.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    help="A method or control, instead of those of the file. Can be given more than once.",
)
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads to use."
)
@click.option(
    "--data", type=FOLDER, help="Folder of datasets.  [default: the file's, or data beside it]"
)
@click.option(
    "--vectors",
    type=FOLDER,
    help="Folder of encoded datasets.  [default: the file's, or vectors beside it]",
)
def run_experiment(
    file: Path,
    out: Path,
    encoders: tuple[str, ...],
    datasets: tuple[str, ...],
    methods: tuple[str, ...],
    jobs: int,
    data: Path | None,
    vectors: Path | None,
) -> None:
    """Encode every dataset once, then run every method and control on it.

    Prints encoder, dataset, method, compression and nDCG@5 of each. What is in the folder of results already is not run
    again, so a run that was stopped continues when you give the same command again. Results of other pages, queries,
    judgements, weights or options are refused.

    \b
    adamerge evaluate run experiments/one_book.toml -o runs/one_book
    adamerge evaluate run experiments/books.toml -o runs/books --dataset zsh --method sem-cluster:m=4
    """  # noqa: D301 (click reads the backslash)
    with reporting() as report:
        tasks: dict[str, Task] = {}

        def show_progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                if what == "cells":
                    tasks[what] = Task(report, "evaluating", "cells", total, done)
                else:
                    tasks[what] = Task(report, what, "pages", total, done, is_part=True)
            task = tasks[what]
            task.advance(done - task.done)

        api.run(
            file,
            out,
            encoders=encoders,
            datasets=datasets,
            methods=methods,
            data=data,
            vectors=vectors,
            jobs=jobs,
            on_cell=_print_cell,
            progress=show_progress,
        )


def _print_cell(cell: api.Cell) -> None:
    score = f"{cell.mean():.4f}" if cell.measures else "-"
    click.echo(f"{cell.encoder}\t{cell.dataset}\t{cell.method}\t{cell.compression:.1%}\t{score}")
