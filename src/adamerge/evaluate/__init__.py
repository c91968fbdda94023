"""How much each method loses, on judged pages: run an experiment, load its results, make tables and figures of them.

    from adamerge import evaluate

    experiment = evaluate.Experiment(["minilm"], ["r-intro"], ["identity", "sem-cluster:m=4"])
    results = evaluate.run(experiment, "runs/first")
    print(evaluate.format_table(evaluate.tables.frontier(results)))
    evaluate.figures.save_figure(evaluate.figures.frontier(results), "frontier.svg")

The rooms, in the order of the data; each imports only those before it:

books        PDF manuals -> folders that `data` reads; stands apart
data         what is asked: pages, queries, judgements
experiment   what is run: every method on every dataset, a cell each
analysis     what is concluded: frontier, significance tests, tables
output       what is shown: tables as text, figures, the report, published numbers
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from adamerge.evaluate import books
from adamerge.evaluate.analysis import Results, Table, load_results, tables
from adamerge.evaluate.data import Dataset, load_dataset
from adamerge.evaluate.experiment import (
    MEASURE,
    MEASURES,
    Cell,
    Control,
    Experiment,
    Progress,
    plan_cells,
    read_experiment,
    run_cells,
)
from adamerge.evaluate.output import (
    FORMATS,
    compare,
    figures,
    format_table,
    paper_figures,
    paper_tables,
    report_figures,
    report_tables,
    require_paper,
    save_table,
    write_page,
    write_parts,
)

__all__ = [
    "FORMATS",
    "MEASURE",
    "MEASURES",
    "Cell",
    "Control",
    "Dataset",
    "Experiment",
    "Progress",
    "Results",
    "Table",
    "books",
    "compare",
    "figures",
    "format_table",
    "load",
    "load_dataset",
    "read_experiment",
    "run",
    "save_table",
    "tables",
    "write_report",
]

load = load_results


def run(
    experiment: Experiment | str | Path,
    output: str | Path,
    *,
    encoders: Sequence[str] = (),
    datasets: Sequence[str] = (),
    methods: Sequence[str] = (),
    data: str | Path | None = None,
    vectors: str | Path | None = None,
    jobs: int = 1,
    on_cell: Callable[[Cell], None] | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run an experiment, or the rest of one that was stopped, and return the results of its datasets.

    experiment                   an Experiment, or the path of its TOML file
    output                       folder of results; cells that are there are passed over
    encoders, datasets, methods  instead of those of the experiment
    data, vectors                folders of datasets and of encoded datasets, instead of those of the experiment
    jobs                         threads
    on_cell                      called with each cell once it is written
    progress                     called with what is done, how much of it, and of how much
    """
    if not isinstance(experiment, Experiment):
        experiment = read_experiment(Path(experiment))
    experiment = replace(
        experiment,
        encoders=[experiment.encoder(name) for name in encoders] or experiment.encoders,
        datasets=datasets or experiment.datasets,
        methods=methods or experiment.methods,
        data=Path(data or experiment.data),
        vectors=Path(vectors or experiment.vectors),
    )
    output = Path(output)

    on_cell = on_cell or _ignore
    plan = plan_cells(experiment, output)
    for cell in run_cells(plan, output, experiment.vectors, jobs, progress):
        on_cell(cell)

    names = dict.fromkeys(planned.dataset.name for planned in plan)
    return load_results(output, list(names))


def write_report(
    results: Results,
    page: str | Path,
    parts: str | Path | None = None,
    on_file: Callable[[Path], None] | None = None,
    *,
    paper: bool = False,
) -> None:
    """Write all tables and figures as one HTML page, and with `parts` as a file each into that folder.

    on_file  called with each file once it is written
    paper    the figures and tables of the paper instead, by their numbers
    """
    on_file = on_file or _ignore
    if paper:
        require_paper(results)
        figures_made = paper_figures(results)
        made = paper_tables(results)
    else:
        figures_made = report_figures(results)
        made = report_tables(results)
    if parts:
        for path in write_parts(figures_made, made, Path(parts)):
            on_file(path)
    write_page(results, figures_made, made, Path(page))
    on_file(Path(page))


def _ignore(done: object) -> None:
    """Where nobody asks what is done."""
