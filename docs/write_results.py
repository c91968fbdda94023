"""Writes the tables of docs/results.md from the committed results, and draws its figures; `make paper` runs it.

A table stands between `<!-- adamerge evaluate table ... -->` and `<!-- end -->`, and is what that command prints.
"""

import re
from functools import cache
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner

from adamerge import evaluate
from adamerge.cli import main

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results.md"
BLOCK = re.compile(r"(<!-- adamerge (evaluate .*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def render(text: str) -> str:
    """The page with every table as its command prints it; results are read once for all of them."""
    with patch.object(evaluate, "load", cache(evaluate.load)):
        return BLOCK.sub(lambda found: f"{found[1]}{printed(found[2])}{found[3]}", text)


def printed(command: str) -> str:
    """What a command prints, run in the root of the repository."""
    words = [str(ROOT / word) if word.startswith("results/") else word for word in command.split()]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    if done.exit_code:
        raise SystemExit(done.output)
    return done.stdout


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text()))
    results = evaluate.load(ROOT / "results" / "books")
    for name, draw in evaluate.figures.FIGURES.items():
        evaluate.figures.save_figure(draw(results), PAGE.with_name(f"{name}.svg"))
