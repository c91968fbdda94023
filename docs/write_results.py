"""Writes the tables of docs/results.md from the committed results, and draws its figures; `make paper` runs it.

A table stands between a comment and `<!-- end -->`. The comment is the command that prints the table, or `leaders`:
who leads at each compression, or `hybrid`: what words add to vectors.
"""

import json
import re
from functools import cache
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner

from adamerge import evaluate
from adamerge.cli import main
from adamerge.evaluate.analysis import READINGS, columns, drawn_series, make_table, value_at

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results.md"
RESULTS = ROOT / "results" / "books"
HYBRID = ROOT / "results" / "hybrid.json"
BLOCK = re.compile(
    r"(?P<begin><!-- (?P<command>adamerge evaluate .*?|leaders|hybrid) -->\n).*?(?P<end><!-- end -->)",
    re.DOTALL,
)
COMPRESSIONS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)


def render(text: str) -> str:
    """The page with every table as its command prints it; results are read once for all of them."""
    with patch.object(evaluate, "load", cache(evaluate.load)):
        return BLOCK.sub(render_block, text)


def render_block(found: re.Match[str]) -> str:
    """A comment, its table, and the end."""
    if found["command"] == "leaders":
        table = evaluate.format_table(leaders(evaluate.load(RESULTS)))
    elif found["command"] == "hybrid":
        table = evaluate.format_table(hybrid())
    else:
        table = printed(found["command"])
    return found["begin"] + table + found["end"]


def printed(command: str) -> str:
    """What a command prints, run in the root of the repository."""
    _, *words = command.split()
    words = [str(ROOT / word) if word.startswith("results/") else word for word in words]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    if done.exit_code:
        raise SystemExit(done.output)
    return done.stdout


def leaders(results: evaluate.Results) -> evaluate.Table:
    """The best drawn series at each compression: as printed and with unit length, in both readings."""
    (encoder,) = results.encoders
    choices = [(unit, reading) for unit in (False, True) for reading in READINGS]
    rows = []
    for compression in COMPRESSIONS:
        row = [f"{compression:.0%}"]
        for unit, reading in choices:
            row.append(leader(results, encoder, unit, reading, compression))
        rows.append(row)

    names = [f"{'unit length' if unit else 'as printed'}, {reading}" for unit, reading in choices]
    note = (
        "The series with the best nDCG@5 at each compression or more, and its value. Shared: one "
        "configuration for all datasets. Per dataset: each dataset chooses its own."
    )
    return make_table("Who leads", note, columns("compression", *names), rows)


def leader(
    results: evaluate.Results, encoder: str, unit: bool, reading: str, compression: float
) -> str:
    """The best series at a compression, and its value."""
    best, name = 0.0, ""
    for one in drawn_series(results, encoder, unit):
        value = value_at(results, encoder, one, reading, compression)
        if value is not None and value > best:
            best, name = value, str(one.shared)
    return f"`{name}` {best:.3f}"


def hybrid() -> evaluate.Table:
    """Words, vectors, and the gains of both together over vectors alone, by method and book."""
    rows = []
    for method, measured in json.loads(HYBRID.read_text()).items():
        fusions = {name: rows for name, rows in measured.items() if name not in ("bm25", "vectors")}
        for gains in zip(*fusions.values(), strict=True):
            book = gains[0]["book"]
            row = [f"`{method}`", book]
            for alone in ("bm25", "vectors"):
                value = measured[alone].get(book)
                row.append("" if value is None else f"{value:.3f}")
            for gain in gains:
                row.append(f"{gain['gain']:+.3f} ({gain['low']:+.3f} to {gain['high']:+.3f})")
            rows.append(row)
    note = (
        "nDCG@5, and what both together gain over vectors alone, with a 95 % bootstrap interval over queries. The "
        "parameters of each book are those that are best on the mean of the five others. Encoder: minilm."
    )
    names = columns("vectors of", "book", "BM25 alone", "vectors alone", *fusions)
    return make_table("What words add to vectors", note, names, rows)


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text()))
    results = evaluate.load(RESULTS)
    for name, draw in evaluate.figures.FIGURES.items():
        evaluate.figures.save_figure(draw(results), PAGE.with_name(f"{name}.svg"))
