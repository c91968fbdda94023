"""Results beside what was published: which come back within the known drift, and which cannot be compared at all.

The numbers and their sources are in published.json.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from adamerge.evaluate import catalogue
from adamerge.evaluate.frontier import READINGS, series, value_at
from adamerge.evaluate.points import MEASURE, Results, restricted
from adamerge.evaluate.table import Table, columns, table
from adamerge.evaluate.tables import ablation, thetas

CLIFF = "adamerge:k=-0.25,c_min=0.7"  # whose theta is compared: the paper's floor, and our reading of its k


@dataclass(frozen=True)
class Claim:
    """A published number: of what, by whom, its drift, of which encoder and datasets; `ask` is how to get ours."""

    what: str
    source: str
    value: float
    drift: float
    encoder: str
    datasets: tuple[str, ...]
    ask: Mapping[str, Any]


@cache
def published() -> tuple[tuple[Claim, ...], Mapping[str, Any]]:
    """The claims that are shipped, and what is said of them all: sources, drift, what was left out."""
    raw = json.loads(files("adamerge.evaluate").joinpath("published.json").read_text())
    claims = raw.pop("claims")
    return tuple(Claim(**claim | {"datasets": tuple(claim["datasets"])}) for claim in claims), raw


def compare(results: Results) -> Table:
    """Every published number, ours if there is one, and what may be said of the two; all are of one measure."""
    claims, about = published()
    results = replace(results, measure=MEASURE)
    rows = [[c.encoder, c.what, c.source, c.value, c.drift, *_judged(results, c)] for c in claims]
    head = columns(
        "encoder",
        "what",
        "source",
        ("published", ".4f"),
        ("drift", ".3f"),
        ("here", ".4f"),
        "verdict",
    )
    sources = "; ".join(f"{name}: {where}" for name, where in about["sources"].items())
    note = f"Drift: {about['drift']}. Not here: {about['left_out']}. Sources: {sources}."
    return table("Beside published numbers", note, head, rows)


def compare_what_is_here(results: Results) -> Table:
    """The same without the published numbers that these results have none beside: its note counts them."""
    every = compare(results)
    rows = [row for row, ours in zip(every.rows, every["here"], strict=True) if ours is not None]
    missing = len(every.rows) - len(rows)
    if not missing:
        return every
    said = f"{missing} more have nothing beside them here: `adamerge evaluate compare` lists them."
    return replace(every, rows=tuple(rows), note=f"{said} {every.note}")


def _judged(results: Results, claim: Claim) -> tuple[float | None, str]:
    names = tuple(name for one in claim.datasets for name in catalogue.names(one))
    if claim.encoder in results.encoders and set(names) <= set(results.datasets):
        ours = ASKED[claim.ask["kind"]](restricted(results, names), claim.encoder, claim.ask)
        if ours is None:
            return None, "not comparable: the method is not in these results"
        return ours, "within drift" if abs(ours - claim.value) <= claim.drift else "outside drift"
    if (
        "over" in claim.ask or claim.ask["kind"] == "theta"
    ):  # differences and shapes say something of other data too
        ours = ASKED[claim.ask["kind"]](results, results.encoders[0], claim.ask)
        if ours is not None:
            sign = (
                ""
                if claim.ask["kind"] == "theta"
                else f"; {'same' if ours * claim.value > 0 else 'other'} sign"
            )
            return ours, f"not comparable: other data{sign}"
    return None, "not comparable: no results of this encoder on these datasets"


def _mean(results: Results, encoder: str, ask: Mapping[str, Any]) -> float | None:
    method = str(ask["method"])
    return results.mean(encoder, method) if results.has(encoder, method) else None


def _height(
    results: Results, encoder: str, ask: Mapping[str, Any], of: str = "series"
) -> float | None:
    """The best curve of a method at a compression: m per dataset for PtM, one configuration for the others."""
    if ask[of] == "identity":
        return _mean(results, encoder, {"method": "identity"})
    reading = READINGS[ask[of] == "ptm"]
    every = [one for one in series(results, encoder) if one.shared.method == ask[of]]
    plain = [one for one in every if not one.shared.words()]
    found = [value_at(results, encoder, one, reading, ask["compression"]) for one in plain]
    return max((value for value in found if value is not None), default=None)


def _gain(results: Results, encoder: str, ask: Mapping[str, Any]) -> float | None:
    ours, theirs = _height(results, encoder, ask), _height(results, encoder, ask, "over")
    return None if ours is None or theirs is None else ours - theirs


def _ablation(results: Results, encoder: str, ask: Mapping[str, Any]) -> float | None:
    made = ablation(
        Results(results.datasets, {k: v for k, v in results.cells.items() if k[0] == encoder}, {})
    )
    values = [
        float(value or 0)
        for value, unit in zip(made[results.measure], made["unit"], strict=True)
        if unit == "no"
    ]
    if len(values) != 4:
        return None
    base = values[int(ask["over"])] if "over" in ask else 0.0
    return values[int(ask["row"])] - base


def _theta(results: Results, encoder: str, ask: Mapping[str, Any]) -> float | None:
    if (encoder, CLIFF) not in results.cells:
        return None
    every = [value for some in thetas(results, encoder, CLIFF).values() for value in some]
    return float(np.median(every) if ask["statistic"] == "median" else np.std(every, ddof=1))


ASKED: dict[str, Callable[[Results, str, Mapping[str, Any]], float | None]] = {
    "mean": _mean,
    "height": _height,
    "gain": _gain,
    "ablation": _ablation,
    "theta": _theta,
}
