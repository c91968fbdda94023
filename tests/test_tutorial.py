"""The tutorial runs: its notebook has the same steps, and each step prints what the page shows."""

import contextlib
import io
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
pytestmark = pytest.mark.xdist_group("agents")  # it shares what they import


def shown():
    """Each block of code of the page, and what it prints by the page; None where the page does not say."""
    steps = []
    for kind, text in re.findall(r"(?<! -->\n)```(sh|python|text)\n(.*?)```\n", PAGE, re.DOTALL):
        if kind == "text":
            steps[-1][1] = text
        else:
            steps.append([text, None])
    return steps


def run_cell(source, names):
    """What a cell of the notebook prints; lines that begin with ! are commands."""
    if source.startswith("!"):
        command = re.sub("^!", "", source, flags=re.MULTILINE)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["sh", "-e", "-c", command],
            env=os.environ | {"PATH": path, "COLUMNS": "100"},  # snippets are broken at its width
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "cell", "exec"), names)
    return printed.getvalue()


def test_the_notebook_is_the_tutorial():
    render = runpy.run_path(str(ROOT / "docs" / "write_notebook.py"))["render"]
    assert (ROOT / "docs" / "tutorial.ipynb").read_text() == render(), "run: make notebook"


def test_every_step_prints_what_the_tutorial_shows(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "docs" / "tutorial.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names = {"__name__": "__main__"}
    for cell, (_, want) in zip(cells, shown(), strict=True):
        printed = run_cell("".join(cell["source"]), names)
        if want is not None:
            assert printed == want
    assert "Where merging stops" in (tmp_path / "page.html").read_text()
