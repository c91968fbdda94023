"""Tables: what unit length is worth, and the readings of the merge-cosine sequence."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from adamerge.compress.names import Name
from adamerge.evaluate.analysis.results import Results, pick
from adamerge.evaluate.analysis.table import Row, Table, columns, make_table

# methods that take the cosines as they are by default
RAW = ("adamerge", "adamerge-mean")


def unit(results: Results) -> Table:
    """What scaling groups to unit length is worth, over all pairs that differ in nothing else."""
    rows: list[Row] = []
    for encoder in results.encoders:
        for method, gains in sorted(_gains_of_unit(results, encoder).items()):
            rows.append([encoder, method, len(gains), fmean(gains), min(gains), max(gains)])

    head = columns(
        "encoder",
        "methods",
        ("pairs", "d"),
        ("mean gain", "+.4f"),
        ("least", "+.4f"),
        ("most", "+.4f"),
    )
    note = (
        f"Gains of {results.measure}, averaged over datasets, "
        "of all pairs of such methods that differ in unit alone."
    )
    return make_table("What unit length is worth", note, head, rows)


def _gains_of_unit(results: Results, encoder: str) -> dict[str, list[float]]:
    """Method -> the gain of each of its configurations with unit length over the same without."""
    gains: dict[str, list[float]] = {}
    for method, name in results.methods(encoder):
        if name.control or not results.is_unit(name):
            continue
        without = results.find(encoder, results.with_unit(name, False))
        if without:
            gain = results.mean(encoder, method) - results.mean(encoder, without)
            gains.setdefault(name.method, []).append(gain)
    return gains


def sequence(results: Results, methods: Sequence[str] = ()) -> Table:
    """The readings of the merge-cosine sequence side by side, of these methods or of all that have several."""
    rows: list[Row] = []
    for encoder in results.encoders:
        there = _with_other_readings(results, encoder)
        asked = pick(methods, list(there), "several sequences of")
        for method in asked or there:
            default = "raw" if results.names[method].method in RAW else "default"
            for reading, variant in [(default, method), *there[method]]:
                point = results.point(encoder, variant)
                theta = _median_theta(results, encoder, variant)
                rows.append([encoder, method, reading, *point, theta])

    head = columns(
        "encoder",
        "method",
        "sequence",
        ("compression", ".1%"),
        (results.measure, ".4f"),
        ("theta", ".3f"),
    )
    note = "Means over datasets; theta is the median over all pages."
    return make_table("Three readings of the sequence", note, head, rows)


def _with_other_readings(results: Results, encoder: str) -> dict[str, list[tuple[str, str]]]:
    """Method -> its other readings, of every method that has some."""
    found = {}
    for method, name in results.methods(encoder):
        others = _other_readings(results, encoder, name)
        if others:
            found[method] = others
    return found


def _other_readings(results: Results, encoder: str, name: Name) -> list[tuple[str, str]]:
    """The other readings of a method that were run: sequence, method."""
    if name.control:
        return []
    found = []
    for method, other in results.methods(encoder):
        reading = other.options.get("sequence")
        if reading and other.but(sequence=None) == name:
            found.append((reading, method))
    return sorted(found)


def _median_theta(results: Results, encoder: str, method: str) -> float | None:
    thetas = results.thetas(encoder, method)
    if not thetas:
        return None
    return float(np.median(thetas))
