"""Results beside published numbers: which are within the known drift, and which cannot be compared at all."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from adamerge.evaluate.analysis import (
    READINGS,
    Results,
    Row,
    Table,
    all_series,
    columns,
    make_table,
    tables,
    value_at,
)
from adamerge.evaluate.data import dataset_names
from adamerge.evaluate.experiment import MEASURE
from adamerge.evaluate.output.published import CLIFF_METHOD, PublishedNumber, read_published

SHARED, PER_DATASET = READINGS


def compare(results: Results) -> Table:
    """Every published number, ours if there is one, and a verdict on the two; all are nDCG@5."""
    published = read_published()
    results = replace(results, measure=MEASURE)
    rows: list[Row] = []
    for number in published.numbers:
        ours, verdict = _judge(results, number)
        known: Row = [number.encoder, number.what, number.source, number.value, number.drift]
        rows.append([*known, ours, verdict])

    head = columns(
        "encoder",
        "what",
        "source",
        ("published", ".4f"),
        ("drift", ".3f"),
        ("here", ".4f"),
        "verdict",
    )
    sources = "; ".join(f"{name}: {text}" for name, text in published.sources.items())
    note = f"Drift: {published.drift}. Not here: {published.left_out}. Sources: {sources}."
    return make_table("Beside published numbers", note, head, rows)


def compare_what_is_here(results: Results) -> Table:
    """The same without the published numbers that these results have none beside; its note counts them."""
    every = compare(results)
    place = every.place("here")
    rows = tuple(row for row in every.rows if row[place] is not None)
    missing = len(every.rows) - len(rows)
    if not missing:
        return every
    note = f"{missing} more have nothing beside them here: `adamerge evaluate compare` lists them."
    return replace(every, rows=rows, note=f"{note} {every.note}")


def _judge(results: Results, number: PublishedNumber) -> tuple[float | None, str]:
    """Our number, and what can be said of the two."""
    names: list[str] = []
    for dataset in number.datasets:
        names += dataset_names(dataset)
    ask = number.ask
    find = KINDS[ask["kind"]]

    if number.encoder in results.encoders and set(names) <= set(results.datasets):
        ours = find(results.on(tuple(names)), number.encoder, ask)
        if ours is None:
            return None, "not comparable: the method is not in these results"
        if abs(ours - number.value) <= number.drift:
            return ours, "within drift"
        return ours, "outside drift"

    # differences and theta say something of other data too
    is_theta = ask["kind"] == "theta"
    if is_theta or "over" in ask:
        ours = find(results, results.encoders[0], ask)
        if ours is not None and is_theta:
            return ours, "not comparable: other data"
        if ours is not None:
            sign = "same" if ours * number.value > 0 else "other"
            return ours, f"not comparable: other data; {sign} sign"
    return None, "not comparable: no results of this encoder on these datasets"


def _mean(results: Results, encoder: str, ask: Mapping[str, Any]) -> float | None:
    """The mean of one method."""
    method = str(ask["method"])
    if not results.has(encoder, method):
        return None
    return results.mean(encoder, method)


def _height(results: Results, encoder: str, ask: Mapping[str, Any]) -> float | None:
    """The best curve of a method at a compression."""
    return _height_of(results, encoder, ask["series"], ask["compression"])


def _height_of(results: Results, encoder: str, method: str, compression: float) -> float | None:
    """PtM takes its own m for each dataset, the others one configuration for all."""
    if method == "identity":
        return _mean(results, encoder, {"method": method})

    reading = PER_DATASET if method == "ptm" else SHARED
    heights = []
    for one in all_series(results, encoder):
        if one.shared.method == method and not one.shared.words():
            value = value_at(results, encoder, one, reading, compression)
            if value is not None:
                heights.append(value)
    return max(heights, default=None)


def _gain(results: Results, encoder: str, ask: Mapping[str, Any]) -> float | None:
    """The curve of one method minus that of another."""
    ours = _height_of(results, encoder, ask["series"], ask["compression"])
    theirs = _height_of(results, encoder, ask["over"], ask["compression"])
    if ours is None or theirs is None:
        return None
    return ours - theirs


def _ablation(results: Results, encoder: str, ask: Mapping[str, Any]) -> float | None:
    """A row of the ablation, or its gain over another row; as printed, without unit length."""
    table = tables.ablation(results.of(encoder))
    values = []
    for value, unit in zip(table[results.measure], table["unit"], strict=True):
        if unit == "no":
            values.append(float(value or 0))
    if len(values) != 4:
        return None
    value = values[int(ask["row"])]
    if "over" in ask:
        return value - values[int(ask["over"])]
    return value


def _theta(results: Results, encoder: str, ask: Mapping[str, Any]) -> float | None:
    """Median or standard deviation of theta over all pages."""
    if (encoder, CLIFF_METHOD) not in results.cells:
        return None
    thetas = results.thetas(encoder, CLIFF_METHOD)
    if ask["statistic"] == "median":
        return float(np.median(thetas))
    return float(np.std(thetas, ddof=1))


KINDS: dict[str, Callable[[Results, str, Mapping[str, Any]], float | None]] = {
    "mean": _mean,
    "height": _height,
    "gain": _gain,
    "ablation": _ablation,
    "theta": _theta,
}
