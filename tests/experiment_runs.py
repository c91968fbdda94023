"""Runs of `adamerge evaluate run` in a folder that holds all they need: data, vectors, results and plan.toml."""

from dataclasses import replace

import manual
from cli import call

from adamerge.evaluate.books import build_book, write_book
from adamerge.evaluate.experiment import plan_cells, read_cells, run_cells


def make_run(folder, plan):
    """A book, the plan of an experiment, and a whole run of it."""
    pdf = manual.make(folder / "manual.pdf")
    write_book(build_book(pdf, "manual"), pdf, folder / "data" / "manual")
    (folder / "plan.toml").write_text(plan)
    done = go(folder)
    assert done.returncode == 0, done.stderr
    return folder


def go(folder, *words, how=call):
    where = ["--data", folder / "data", "--vectors", folder / "vectors", "-o", folder / "results"]
    return how("evaluate", "run", folder / "plan.toml", *where, *words)


def run_in(experiment, folder, results=None):
    """The cells of an experiment with the datasets and vectors of a folder, one after the other."""
    experiment = replace(experiment, data=folder / "data", vectors=folder / "vectors")
    results = results or folder / "results"
    yield from run_cells(plan_cells(experiment, results), results, experiment.vectors)


def is_done(experiment, folder):
    """Whether every cell of an experiment is in the results of a folder."""
    plan = plan_cells(replace(experiment, data=folder / "data"), folder / "results")
    return not any(planned.entries for planned in plan)


def by_method(folder):
    return {cell.method: cell for cell in read_cells(folder / "results")}
