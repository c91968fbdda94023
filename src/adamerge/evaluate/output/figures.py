"""Every figure by the name that the command line has for it. Needs the extra `paper`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from adamerge import files
from adamerge.errors import BadInput
from adamerge.evaluate.analysis import Results
from adamerge.evaluate.output.bytes_plot import in_bytes
from adamerge.evaluate.output.cliff_plot import cliff
from adamerge.evaluate.output.frontier_plot import frontier
from adamerge.evaluate.output.plotting import KINDS, render_figure

__all__ = [
    "FIGURES",
    "KINDS",
    "cliff",
    "frontier",
    "frontier_unit",
    "in_bytes",
    "render_figure",
    "save_figure",
]


def frontier_unit(results: Results) -> Any:
    """The frontier with groups of unit length."""
    return frontier(results, unit=True)


FIGURES: dict[str, Callable[[Results], Any]] = {
    "frontier": frontier,
    "frontier-unit": frontier_unit,
    "cliff": cliff,
    "bytes": in_bytes,
}


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a figure as .svg or .png; the figure is closed."""
    path = Path(path)
    kind = path.suffix.removeprefix(".").lower()
    if kind not in KINDS:
        raise BadInput(f"a figure is written as .svg or .png, not as {path.name}")
    files.make_folder(path.parent)
    files.write(path, render_figure(figure, kind))
