"""Runs of `adamerge evaluate run` in a folder that holds all they need: data, vectors, results and plan.toml."""

from cli import call

from adamerge.evaluate import results
from adamerge.evaluate.run import Folders


def go(folder, *words, how=call):
    where = ["--data", folder / "data", "--vectors", folder / "vectors", "-o", folder / "results"]
    return how("evaluate", "run", folder / "plan.toml", *where, *words)


def folders(folder):
    return Folders(folder / "data", folder / "vectors", folder / "results")


def by_method(folder):
    return {cell.method: cell for cell in results.read_cells(folder / "results")}
