"""Writes the tables of docs/results-images.md from results/images, and draws its figures; `make paper` runs it.

A table stands between `<!-- table NAME -->` and `<!-- end -->`.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

from adamerge.evaluate.output import plotting

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "images"
PAGE = ROOT / "docs" / "results-images.md"
BLOCK = re.compile(r"(<!-- table ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

COLLECTIONS = {"colqwen2": "ColQwen2, 40 pages", "colpali": "ColPali, 14 pages"}
DTYPES = ("float16", "int8", "int4", "int2", "int1")
SIZES = ("50%", "64%", "75%", "80%", "85%", "90%", "95%")
CLIFFS = ("cliff at 0.7", "cliff at 0.8")
READINGS = ("raw", "running-min", "height")
THETA_SETS = ("colqwen2-paper-a", "colqwen2-procurement", "colpali-physics")
POOLED = THETA_SETS[:2]
FLOOR = 0.7
PAPER_MEDIAN, PAPER_SD, PAPER_BAND = 0.79, 0.065, (0.77, 0.85)

Row = dict[str, Any]


def read(name: str) -> list[Row]:
    """The rows of a committed file."""
    rows: list[Row] = json.loads((RESULTS / f"{name}.json").read_text())
    return rows


def select(rows: list[Row], **wanted: Any) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if wanted.items() <= row.items()]


def mean_of(rows: list[Row], key: str) -> float:
    """The mean of a key over rows: `random` has ten."""
    return fmean(row[key] for row in rows)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def sets() -> str:
    """Where the vectors come from."""
    rows = []
    for one in read("sets"):
        source = f"`{one['repository']}` at `{one['commit'][:10]}`, `{one['path']}`"
        rows.append([one["set"], one["model"], one["content"], source])
    return table(["set", "model", "content", "repository, commit, path"], rows)


def sizes() -> str:
    """Agreement of one height, one ratio and chance at the same size."""
    head = ["saved", "", "height", "one ratio", "random"]
    rows = []
    for name, title in COLLECTIONS.items():
        found = read(name)
        for size in SIZES:
            for unit in (False, True):
                cells = [title, f"{size}, {'unit' if unit else 'as they are'}"]
                for rule in ("height", "ratio", "random"):
                    chosen = select(found, rule=rule, size=size, unit=unit)
                    cells.append(_with_interval(chosen))
                rows.append(cells)
    head[0:2] = ["pages", "saved, length of groups"]
    return table(head, rows)


def cliffs() -> str:
    """The literal cliff beside one height and one ratio of its size."""
    rows = []
    for name, title in COLLECTIONS.items():
        found = read(name)
        for size in CLIFFS:
            floor = size.removeprefix("cliff at ")
            for unit in (False, True):
                cliff = select(found, rule="cliff, raw", size=f"c_min={floor}", unit=unit)
                height = select(found, rule="height", size=size, unit=unit)
                ratio = select(found, rule="ratio", size=size, unit=unit)
                spread = f"{cliff[0]['vectors_least']} to {cliff[0]['vectors_most']}"
                saved = f"{mean_of(cliff, 'compression'):.1%}"
                agreements = [_with_interval(chosen) for chosen in (cliff, height, ratio)]
                length = "unit" if unit else "as they are"
                rows.append([title, floor, length, saved, spread, *agreements])
    head = ["pages", "c_min", "groups", "saved", "vectors a page", "cliff", "height", "one ratio"]
    return table(head, rows)


def heights() -> str:
    """What each h saves and keeps: the method that we recommend."""
    rows = []
    for name, title in COLLECTIONS.items():
        found = [row for row in read(name) if row["size"].startswith("h=") and row["unit"]]
        for row in found:
            kilobytes = f"{row['bytes_per_page'] / 1000:.1f}"
            saved = f"{row['compression']:.1%}"
            keeps = [f"{row[key]:.3f}" for key in ("agreement", "correlation", "mrr")]
            rows.append([title, f"`{row['method']}`", saved, kilobytes, *keeps])
    return table(
        ["pages", "method", "saved", "kB, float16", "agreement", "correlation", "MRR"], rows
    )


def dtypes() -> str:
    """What whole pages and each height keep in every dtype, and the kilobytes of a page."""
    found = read("dtypes")
    rows = []
    for name, title in COLLECTIONS.items():
        sizes_there = dict.fromkeys(row["size"] for row in found if row["collection"] == name)
        for size in sizes_there:
            cells = [title, size]
            for dtype in DTYPES:
                (row,) = select(found, collection=name, size=size, dtype=dtype)
                cells.append(f"{row['agreement']:.3f} at {row['bytes_per_page'] / 1000:.1f} kB")
            rows.append(cells)
    return table(["pages", "saved", *DTYPES], rows)


def thetas() -> str:
    """Theta of each reading, pooled over the two sets of ColQwen2."""
    found = read("theta")
    rows = [["the paper, ColQwen2.5, pruned first", "", f"{PAPER_MEDIAN}", f"{PAPER_SD}", "", ""]]
    for reading in READINGS:
        for floor in (0.7, 0.8):
            chosen = select(found, of="pages", sequence=reading, c_min=floor)
            chosen = [row for row in chosen if row["set"] in POOLED]
            pooled = _values(chosen, "theta")
            saved = ", ".join(f"{row['compression']:.2f}" for row in chosen)
            middle = f"{median(pooled):.3f}"
            gap = f"{median(_values(chosen, 'gap')):.3f}"
            rows.append([f"`{reading}`", f"{floor}", middle, f"{pstdev(pooled):.3f}", gap, saved])
    head = ["reading", "c_min", "median theta", "sd", "median gap", "saved, by set"]
    return table(head, rows)


def structureless() -> str:
    """Pages beside pages without structure."""
    found = read("theta")
    rows = []
    for reading in READINGS:
        for name in THETA_SETS:
            cells = [f"`{reading}`", name]
            for kind in ("pages", "gaussian"):
                (row,) = select(found, of=kind, sequence=reading, c_min=FLOOR, set=name)
                theta = _values([row], "theta")
                cells.append(f"{median(theta):.3f}" if theta else "")
                cells.append(f"{row['compression']:.2f}")
            rows.append(cells)
    head = [
        "reading",
        "set",
        "theta",
        "saved",
        "theta without structure",
        "saved without structure",
    ]
    return table(head, rows)


def draw_theta(plt: Any) -> Any:
    """Theta of every page by reading, beside the band of the paper."""
    figure, axes = plt.subplots(1, 3, figsize=(plotting.WIDTH, 1.9), sharex=True, sharey=True)
    found = read("theta")
    for axis, reading in zip(axes, READINGS, strict=True):
        axis.axvspan(*PAPER_BAND, color=plotting.ORANGE, alpha=0.25, lw=0)
        axis.axvline(PAPER_MEDIAN, color=plotting.ORANGE, lw=1)
        for place, name in enumerate(reversed(THETA_SETS)):
            (row,) = select(found, of="pages", sequence=reading, c_min=FLOOR, set=name)
            values = _values([row], "theta")
            axis.plot(values, [place] * len(values), "|", color=plotting.BLUE, ms=9, alpha=0.5)
            axis.plot([median(values)], [place], "o", color=plotting.RED, ms=4)
        axis.set_title(f"sequence={reading}", loc="left")
        axis.set_xlabel("theta")
        axis.set_yticks(range(len(THETA_SETS)), list(reversed(THETA_SETS)))
    figure.tight_layout()
    return figure


def draw_agreement(plt: Any) -> Any:
    """Agreement against size by rule."""
    figure, axes = plt.subplots(1, 2, figsize=(plotting.WIDTH, 2.9))
    for axis, (name, title) in zip(axes, COLLECTIONS.items(), strict=True):
        found = read(name)
        for rule, colour in (("height", plotting.RED), ("ratio", plotting.GREEN)):
            for unit, style in ((True, "-"), (False, "--")):
                x, y = _line(found, rule, unit)
                label = (
                    f"{'one ' if rule == 'ratio' else ''}{rule}{', unit length' if unit else ''}"
                )
                axis.plot(x, y, style, color=colour, lw=1.2, label=label)
        x, y = _line(found, "random", False)
        axis.plot(x, y, ":", color=plotting.GREY, lw=1.2, label="random patches")
        for unit, marker in ((True, "o"), (False, "x")):
            cliffs = select(found, rule="cliff, raw", unit=unit)
            x = [row["compression"] for row in cliffs]
            y = [row["agreement"] for row in cliffs]
            label = f"the paper's cliff{', unit length' if unit else ''}"
            axis.plot(x, y, marker, color=plotting.BLUE, ms=4, label=label)
        axis.set_title(title, loc="left")
        axis.set_xlabel("compression")
        axis.set_ylabel("agreement")
    axes[0].legend(frameon=False, fontsize=6.5, loc="lower left")
    figure.tight_layout()
    return figure


TABLES: dict[str, Callable[[], str]] = {
    "sets": sets,
    "sizes": sizes,
    "cliffs": cliffs,
    "heights": heights,
    "dtypes": dtypes,
    "thetas": thetas,
    "structureless": structureless,
}
FIGURES = {"images-theta": draw_theta, "images-agreement": draw_agreement}


def render(text: str) -> str:
    """The page with every table as the results have it."""
    return BLOCK.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", text)


def _with_interval(rows: list[Row]) -> str:
    if not rows:
        return ""
    low, high = mean_of(rows, "agreement_low"), mean_of(rows, "agreement_high")
    return f"{mean_of(rows, 'agreement'):.3f} ({low:.3f} to {high:.3f})"


def _values(rows: list[Row], key: str) -> list[float]:
    values = []
    for row in rows:
        values += [value for value in row[key] if value is not None]
    return values


def _line(rows: list[Row], rule: str, unit: bool) -> tuple[list[float], list[float]]:
    x, y = [], []
    for size in SIZES:
        chosen = select(rows, rule=rule, size=size, unit=unit)
        x.append(mean_of(chosen, "compression"))
        y.append(mean_of(chosen, "agreement"))
    return x, y


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text()))
    with plotting.plotting() as plt:
        for name, draw in FIGURES.items():
            PAGE.with_name(f"{name}.svg").write_bytes(plotting.render_figure(draw(plt), "svg"))
