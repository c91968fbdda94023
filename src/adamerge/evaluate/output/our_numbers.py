"""Our number beside a published one: a function of results for each kind of number.

| kind         | is                                                                                     |
|--------------|----------------------------------------------------------------------------------------|
| mean         | the measure of one method                                                              |
| height       | the curve of a method at a compression                                                 |
| gain         | the curve of one method minus that of another, at a compression                        |
| largest gain | the same, the most over a range of compressions                                        |
| largest loss | what a curve loses against uncompressed pages, the most up to a compression            |
| ablation     | a row of Table 2, its gain over another row, or its compression                        |
| pair         | AdaMerge against PtM at the same k, as in Table 1: a mean, the difference, or p        |
| theta        | median or spread over all pages, the lowest or the highest median of a dataset         |
| ms           | milliseconds a page, or how many more than another method                              |
| count        | pages or queries                                                                       |

The curve of AdaMerge is the better one of the paper's two floors. The curve of PtM takes one k for all datasets and an
m for each, the others one configuration for all.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from adamerge.compress.names import Name
from adamerge.evaluate.analysis import (
    BUDGET,
    FLOORS,
    READINGS,
    Results,
    Series,
    Table,
    all_series,
    line_at,
    tables,
    value_at,
)
from adamerge.evaluate.output.published import CLIFF_METHOD

Ask = Mapping[str, Any]
HeightAt = Callable[[Results, str, Series, str, float], float | None]
SHARED = READINGS[0]
PERCENTS = range(101)


def mean(results: Results, encoder: str, ask: Ask) -> float | None:
    """The mean of one method."""
    method = str(ask["method"])
    if not results.has(encoder, method):
        return None
    return results.mean(encoder, method)


def height(results: Results, encoder: str, ask: Ask) -> float | None:
    """The curve of a method at a compression."""
    return _height(results, encoder, ask["series"], ask["compression"], ask)


def gain(results: Results, encoder: str, ask: Ask) -> float | None:
    """The curve of one method minus that of another."""
    return _gain(results, encoder, ask, ask["compression"])


def largest_gain(results: Results, encoder: str, ask: Ask) -> float | None:
    """The most that one curve is above another, at a whole percent of a range."""
    gains = _over_range(results, encoder, ask)
    return max(gains, default=None)


def largest_loss(results: Results, encoder: str, ask: Ask) -> float | None:
    """The most that a curve is below uncompressed pages, at a whole percent of a range."""
    gains = _over_range(results, encoder, dict(ask) | {"over": "identity"})
    if not gains:
        return None
    return -min(gains)


def ablation(results: Results, encoder: str, ask: Ask) -> float | None:
    """A row of the ablation, its gain over another row, or its compression; as printed, without unit length."""
    table = tables.ablation(results.of(encoder), any_ratio=False)
    column = results.measure if ask.get("column") is None else ask["column"]
    values = []
    for value, unit in zip(table[column], table["unit"], strict=True):
        if unit == "no":
            values.append(float(value or 0))
    if len(values) != 4:
        return None
    value = values[int(ask["row"])]
    if "over" in ask:
        return value - values[int(ask["over"])]
    return value


def pair(results: Results, encoder: str, ask: Ask) -> float | None:
    """A number of AdaMerge and PtM with one k, pooled over encoders.

    The paper does not print its k. The k whose two means are nearest to the printed ones is taken.
    """
    table = _pairs(results)
    best: dict[str, Any] | None = None
    least = np.inf
    for row in table.rows:
        values = dict(zip(table.names(), row, strict=True))
        is_asked = (values["c_min"], values["m"]) == (ask["c_min"], ask["m"])
        if values.get("encoder") != encoder or not is_asked or values["unit"] == "yes":
            continue
        ours, theirs = values[f"{results.measure} AdaMerge"], values["PtM"]
        distance = abs(ours - ask["means"][0]) + abs(theirs - ask["means"][1])
        if distance < least:
            best, least = values, distance
    if best is None:
        return None
    columns = {"ours": f"{results.measure} AdaMerge", "theirs": "PtM"}
    asked = str(ask["statistic"])
    return float(best[columns.get(asked, asked)])


@lru_cache(maxsize=1)
def _pairs(results: Results) -> Table:
    """The table behind all numbers of Table 1, made once: its intervals take long."""
    return tables.significance(results)


def theta(results: Results, encoder: str, ask: Ask) -> float | None:
    """Median or standard deviation of theta over all pages, or the lowest or highest median of a dataset."""
    if (encoder, CLIFF_METHOD) not in results.cells:
        return None
    thetas = results.thetas(encoder, CLIFF_METHOD)
    cells = results.cells[encoder, CLIFF_METHOD]
    medians = [float(np.median(cell.thetas)) for cell in cells if cell.thetas]
    if not medians:
        return None
    statistics = {
        "median": float(np.median(thetas)),
        "sd": float(np.std(thetas, ddof=1)),
        "lowest median": min(medians),
        "highest median": max(medians),
    }
    return statistics[ask["statistic"]]


def ms(results: Results, encoder: str, ask: Ask) -> float | None:
    """Milliseconds a page of the configuration nearest to 81 %, or how many more than another method takes."""
    ours = _ms(results, encoder, ask["method"])
    if "over" not in ask or ours is None:
        return ours
    theirs = _ms(results, encoder, ask["over"])
    if theirs is None:
        return None
    return ours - theirs


def count(results: Results, encoder: str, ask: Ask) -> float | None:
    """Pages of all datasets, or queries of all datasets and encoders."""
    if ask["of"] == "pages":
        return float(sum(one["pages"] for one in results.about.values()))
    queries = sum(len(one["queries"]) for one in results.about.values())
    return queries * len(results.encoders)


def _ms(results: Results, encoder: str, method: str) -> float | None:
    table = tables.efficiency(results.of(encoder))
    for name, value in zip(table["method"], table["ms a page"], strict=True):
        parsed = results.names[str(name)]
        if parsed.method == method and not parsed.words() and value is not None:
            return float(value)
    return None


def _gain(results: Results, encoder: str, ask: Ask, compression: float) -> float | None:
    ours = _height(results, encoder, ask["series"], compression, ask)
    theirs = _height(results, encoder, ask["over"], compression, ask)
    if ours is None or theirs is None:
        return None
    return ours - theirs


def _over_range(results: Results, encoder: str, ask: Ask) -> list[float]:
    """The gain at every whole percent of a range that both curves reach."""
    gains = []
    for percent in PERCENTS:
        compression = percent / 100
        if ask["from"] <= compression <= ask["to"]:
            value = _gain(results, encoder, ask, compression)
            if value is not None:
                gains.append(value)
    return gains


def _height(
    results: Results, encoder: str, method: str, compression: float, ask: Ask
) -> float | None:
    """The best curve of a method at a compression, as steps or, where the ask says so, as a line."""
    if method == "identity":
        return mean(results, encoder, {"method": method})

    at: HeightAt = line_at if ask.get("line") else value_at
    reading = BUDGET if method == "ptm" else SHARED
    heights = []
    for one in all_series(results, encoder):
        if one.shared.method == method and _is_the_papers(one.shared, ask.get("stats")):
            value = at(results, encoder, one, reading, compression)
            if value is not None:
                heights.append(value)
    return max(heights, default=None)


def _is_the_papers(shared: Name, stats: str | None) -> bool:
    """Whether a series is one of the paper's: one of its floors, and no option but the asked statistics."""
    words = {} if stats is None else {"stats": stats}
    if shared.words() != words:
        return False
    return shared.options.get("c_min", FLOORS[0]) in FLOORS


KINDS: dict[str, Callable[[Results, str, Ask], float | None]] = {
    "mean": mean,
    "height": height,
    "gain": gain,
    "largest gain": largest_gain,
    "largest loss": largest_loss,
    "ablation": ablation,
    "pair": pair,
    "theta": theta,
    "ms": ms,
    "count": count,
}
CURVES = ("height", "gain", "largest gain", "largest loss")  # kinds that read a curve
