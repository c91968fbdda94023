"""Write docs/tutorial.ipynb from docs/tutorial.md: a cell for each block of code, and for the text between them."""

import json
import re
from pathlib import Path
from typing import Any

Cell = dict[str, Any]
HERE = Path(__file__).parent
BLOCK = re.compile(r"(?<! -->\n)```(sh|python|text)\n(.*?)```\n", re.DOTALL)
ABOUT = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def render() -> str:
    """The notebook as JSON; the output of a block is left out, since running the cell shows it."""
    page = (HERE / "tutorial.md").read_text()
    cells: list[Cell] = []
    end = 0
    for block in BLOCK.finditer(page):
        add_cell(cells, "markdown", page[end : block.start()])
        kind, code = block.groups()
        if kind == "sh":
            code = "".join(f"!{line}\n" for line in code.splitlines())
        if kind != "text":
            add_cell(cells, "code", code)
        end = block.end()
    add_cell(cells, "markdown", page[end:])
    notebook = {"cells": cells, "metadata": ABOUT, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def add_cell(cells: list[Cell], kind: str, text: str) -> None:
    """Add a cell of text, unless the text is empty."""
    if not text.strip():
        return
    lines = text.strip("\n").splitlines(keepends=True)
    cell: Cell = {"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}, "source": lines}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    cells.append(cell)


if __name__ == "__main__":
    (HERE / "tutorial.ipynb").write_text(render())
