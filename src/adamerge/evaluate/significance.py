"""Tables of paired tests: AdaMerge against PtM as in the paper, and every method against its controls."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from adamerge.arrays import Doubles
from adamerge.evaluate import statistics
from adamerge.evaluate.frontier import FLOORS
from adamerge.evaluate.points import Results, put_together, take_apart
from adamerge.evaluate.statistics import POOLED, Comparison
from adamerge.evaluate.table import Table, columns, table

BUDGETS = ("2", "4")  # of PtM, as in the paper's table
SAME_SIZE = ("random", "merge-page", "merge-total", "height")
HOW = (
    "Paired Wilcoxon signed-rank test over queries, two-sided, pairs without a difference left out "
    '(zero_method="wilcox"); 95 % bootstrap interval; Holm\'s correction over all such pairs of an encoder.'
)
TESTED = columns(("difference", "+.4f"), ("low", "+.4f"), ("high", "+.4f"), ("p", "p"), ("p corrected", "p"))
Pair = tuple[str, str]  # ours, theirs


def significance(results: Results, ks: Sequence[str] = ()) -> Table:
    """AdaMerge against PtM at the same k: the paper's table, at every k (or some), c_min, m, as printed and unit.

    The same k is not the same compression, so both are shown; controls() compares at the same size.
    """
    every = _matched(results)
    shown = [pair for pair in every if not ks or take_apart(pair[0]).options["k"] in ks]
    rows = []
    for (ours, theirs), test in _tests(results, every, shown):
        mine, other = take_apart(ours).options, take_apart(theirs).options
        means = [float(_values(results, test.encoder, method).mean()) for method in (ours, theirs)]
        sizes = [_compression(results, test.encoder, method) for method in (ours, theirs)]
        said = "yes" if "unit" in mine else "no"
        rows.append(
            [test.encoder, mine["k"], mine["c_min"], other["m"], said, test.queries, *sizes, *means, *_of(test)]
        )
    head = columns("encoder", "k", "c_min", "m", "unit", ("queries", ",d"), ("compression", ".1%"), ("of PtM", ".1%"))
    values = columns((f"{results.measure} AdaMerge", ".4f"), ("PtM", ".4f"))
    return table(
        "AdaMerge against PtM at the same k", f"Means over all queries. {HOW}", [*head, *values, *TESTED], rows
    )


def controls(results: Results, methods: Sequence[str] = ()) -> Table:
    """Every method that has controls (or some) against them: what its choices are worth beyond its size."""
    there = {method for encoder in results.encoders for method in _controlled(results, encoder)} | set(methods)
    every = [(method, control) for method in sorted(there) for control in _controls_of(results, method)]
    shown = [pair for pair in every if not methods or pair[0] in methods]
    rows = []
    for (ours, theirs), test in _tests(results, every, shown):
        values = [_compression(results, test.encoder, theirs), _mean(results, test.encoder, theirs)]
        said = [ours, _mean(results, test.encoder, ours), theirs.replace(f"({ours})", "(M)"), *values]
        rows.append([test.encoder, *said, *_of(test)])
    head = columns("encoder", "method M", (results.measure, ".4f"), "control", ("compression", ".1%"), ("its", ".4f"))
    note = f"Means over datasets; differences (M minus control) over all queries. {HOW}"
    return table("Methods against controls", note, [*head, *TESTED], rows)


def _matched(results: Results) -> list[Pair]:
    """AdaMerge and PtM with the same k and words, at the paper's floors and budgets, measured by every encoder."""
    found = []
    for method, mine in results.methods(results.encoders[0]):
        if mine.control or mine.name != "adamerge" or mine.options.get("c_min") not in FLOORS:
            continue
        rest = {key: value for key, value in mine.options.items() if key not in ("k", "c_min")}
        for m in BUDGETS:
            theirs = put_together("ptm", {"k": mine.options["k"], "m": m} | rest)
            if mine.number("k") is not None and _everywhere(results, (method, theirs)):
                found.append((method, theirs))
    return sorted(found, key=_order)


def _order(pair: Pair) -> tuple[bool, float, str, str]:
    mine = take_apart(pair[0])
    return "unit" in mine.options, mine.number("k") or 0.0, mine.options["c_min"], pair[1]


def _controlled(results: Results, encoder: str) -> Iterable[str]:
    for method, parts in results.methods(encoder):
        if parts.control in SAME_SIZE:
            yield method.removeprefix(f"{parts.control}(").removesuffix(")")


def _controls_of(results: Results, method: str) -> list[str]:
    """Controls of the same size, its own floor without the gap, and those that belong to no method."""
    parts = take_apart(method)
    found = [f"{control}({method})" for control in SAME_SIZE]
    bare = put_together(parts.name, {k: v for k, v in parts.options.items() if k != "unit"})
    found[0] = found[0] if _everywhere(results, (found[0],)) else f"random({bare})"  # nothing to pool: unit is the same
    if "c_min" in parts.options and "cut" not in parts.options:
        unit = {k: v for k, v in parts.options.items() if k == "unit"}
        found.append(
            put_together(parts.name, {k: v for k, v in parts.options.items() if k != "unit"} | {"cut": "floor"} | unit)
        )
    return [one for one in [*found, "mean-vector", "bm25", "identity"] if _everywhere(results, (method, one))]


def _tests(results: Results, every: Sequence[Pair], shown: Sequence[Pair]) -> list[tuple[Pair, Comparison]]:
    """The pairs to show, per encoder and pooled, corrected over every pair: what is not shown was tested too."""
    corrected = _corrected(results, every)
    found = []
    for pair in shown:
        ours, theirs = ({e: results.values(e, method) for e in results.encoders} for method in pair)
        found += [(pair, test) for test in statistics.compare(ours, {pair[1]: theirs})]
    found = [(pair, replace(test, p_corrected=corrected[test.encoder, pair])) for pair, test in found]
    return sorted(found, key=lambda one: [*results.encoders, POOLED].index(one[1].encoder))


def _corrected(results: Results, pairs: Sequence[Pair]) -> dict[tuple[str, Pair], float]:
    found: dict[tuple[str, Pair], float] = {}
    for encoder in [*results.encoders, POOLED]:
        values = [(_values(results, encoder, ours), _values(results, encoder, theirs)) for ours, theirs in pairs]
        p = statistics.holm([statistics.wilcoxon(ours, theirs) for ours, theirs in values])
        found |= {(encoder, pair): one for pair, one in zip(pairs, p, strict=True)}
    return found


def _values(results: Results, encoder: str, method: str) -> Doubles:
    return np.concatenate([results.values(one, method) for one in _encoders(results, encoder)])


def _of(test: Comparison) -> list[float]:
    return [test.difference, test.low, test.high, test.p, test.p_corrected]


def _everywhere(results: Results, methods: Sequence[str]) -> bool:
    return all(results.has(encoder, method) for encoder in results.encoders for method in methods)


def _encoders(results: Results, encoder: str) -> Sequence[str]:
    return results.encoders if encoder == POOLED else (encoder,)


def _mean(results: Results, encoder: str, method: str) -> float:
    found = [results.mean(one, method) for one in _encoders(results, encoder)]
    return sum(found) / len(found)


def _compression(results: Results, encoder: str, method: str) -> float | None:
    found = [results.compression(one, method) for one in _encoders(results, encoder)]
    there = [one for one in found if one is not None]
    return sum(there) / len(there) if there else None
