"""Tables of paired tests: AdaMerge against PtM as in the paper, any methods, and every method against its controls.

Every pair is tested per encoder and, where there are several, pooled as in the paper.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from adamerge.arrays import Doubles
from adamerge.compress.names import Name
from adamerge.errors import BadInput
from adamerge.evaluate.frontier import FLOORS
from adamerge.evaluate.points import Results, pick
from adamerge.evaluate.statistics import bootstrap, holm, wilcoxon
from adamerge.evaluate.table import Table, Value, columns, table

POOLED = "pooled"
BUDGETS = ("2", "4")  # of PtM, as in the paper's table
SAME_SIZE = ("random", "merge-page", "merge-total", "height")
OF_ALL = ("mean-vector", "bm25", "identity")  # controls of every method
TESTED = columns(
    ("difference", "+.4f"), ("low", "+.4f"), ("high", "+.4f"), ("p", "p"), ("p corrected", "p")
)
Pair = tuple[str, str]  # ours, theirs


@dataclass(frozen=True)
class Test:
    """One method against another on the same queries.

    difference      mean of ours minus theirs
    low, high       its 95 % bootstrap interval
    p, p_corrected  two-sided Wilcoxon signed-rank; and after Holm's correction over its family
    """

    encoder: str
    pair: Pair
    queries: int
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float

    def values(self) -> list[Value]:
        """What stands below the columns TESTED."""
        return [self.difference, self.low, self.high, self.p, self.p_corrected]


def significance(results: Results, ks: Sequence[str] = (), methods: Sequence[str] = ()) -> Table:
    """AdaMerge against PtM at the same k: the paper's table, at every k (or some), c_min, m, as printed and unit.

    The same k is not the same compression, so both are shown; controls() compares at the same size. With `methods`, the
    first of them against each of the others.
    """
    if methods:
        return _against(results, methods, ks)
    every = _matched(results)
    asked = pick(ks, (results.names[ours].options["k"] for ours, _ in every), "pair at k")
    shown = [pair for pair in every if not ks or results.names[pair[0]].options["k"] in asked]
    rows: list[list[Value]] = []
    for test in _tests(results, every, shown):
        mine, other = (results.names[method] for method in test.pair)
        said = [
            mine.options["k"],
            mine.options["c_min"],
            other.options["m"],
            "yes" if results.is_unit(mine) else "no",
        ]
        rows.append([test.encoder, *said, *_sizes_and_means(results, test), *test.values()])
    head = columns(
        "encoder",
        "k",
        "c_min",
        "m",
        "unit",
        ("queries", ",d"),
        ("compression", ".1%"),
        ("of PtM", ".1%"),
    )
    values = columns((f"{results.measure} AdaMerge", ".4f"), ("PtM", ".4f"))
    note = f"Means over all queries. {_how(results, f'the {len(every)} pairs of AdaMerge and PtM, shown or not')}"
    return table("AdaMerge against PtM at the same k", note, [*head, *values, *TESTED], rows)


def controls(results: Results, methods: Sequence[str] = ()) -> Table:
    """Every method that has controls (or some) against them: what its choices are worth beyond its size."""
    every = [
        (method, control)
        for method in _controlled(results)
        for control in _controls_of(results, method)
    ]
    asked = pick(methods, (method for method, _ in every), "controls of")
    rows: list[list[Value]] = []
    for test in _tests(results, every, [pair for pair in every if not methods or pair[0] in asked]):
        ours, theirs = test.pair
        values = [_compression(results, test.encoder, theirs), _mean(results, test.encoder, theirs)]
        said = [
            ours,
            _mean(results, test.encoder, ours),
            theirs.replace(f"({ours})", "(M)"),
            *values,
        ]
        rows.append([test.encoder, *said, *test.values()])
    head = columns(
        "encoder",
        "method M",
        (results.measure, ".4f"),
        "control",
        ("compression", ".1%"),
        ("its", ".4f"),
    )
    family = f"the {len(every)} pairs of a method with one of its controls, shown or not"
    note = f"Means over datasets; differences (M minus control) over all queries. {_how(results, family)}"
    return table("Methods against controls", note, [*head, *TESTED], rows)


def _against(results: Results, methods: Sequence[str], ks: Sequence[str]) -> Table:
    there = (method for method in results.names if _everywhere(results, results.names[method]))
    first, *others = pick(methods, there, "results of")
    if not others or ks:
        raise BadInput(
            "name a method, and those to test it against: --method A --method B; k is part of their names"
        )
    pairs = [(first, other) for other in others]
    rows: list[list[Value]] = [
        [test.encoder, *test.pair, *_sizes_and_means(results, test), *test.values()]
        for test in _tests(results, pairs, pairs)
    ]
    head = columns(
        "encoder", "method", "against", ("queries", ",d"), ("compression", ".1%"), ("of it", ".1%")
    )
    values = columns((results.measure, ".4f"), ("its", ".4f"))
    note = f"Means over all queries. {_how(results, 'the pairs of this table')}"
    return table("One method against others", note, [*head, *values, *TESTED], rows)


def _how(results: Results, family: str) -> str:
    pooled = " Pooled: the same query asked of each encoder counts as another one, as in the paper; it is not."
    return (
        "Paired Wilcoxon signed-rank test over queries, two-sided, pairs without a difference left out "
        '(zero_method="wilcox"); 95 % bootstrap interval; Holm\'s correction, per encoder, over '
        f"{family}.{pooled if len(results.encoders) > 1 else ''}"
    )


def _matched(results: Results) -> list[Pair]:
    """AdaMerge and PtM with the same k and words, at the paper's floors and budgets, measured by every encoder."""
    found = []
    for method, mine in results.methods(results.encoders[0]):
        if mine.control or mine.method != "adamerge" or mine.options.get("c_min") not in FLOORS:
            continue
        for m in BUDGETS:
            theirs = _everywhere(results, replace(mine, method="ptm").but(c_min=None, m=m))
            if mine.number("k") is not None and theirs and _everywhere(results, mine):
                found.append((method, theirs))
    return sorted(found, key=lambda pair: _order(results, pair))


def _order(results: Results, pair: Pair) -> tuple[bool, float, str, str]:
    mine = results.names[pair[0]]
    return results.is_unit(mine), mine.number("k") or 0.0, mine.options["c_min"], pair[1]


def _controlled(results: Results) -> list[str]:
    """Methods with a control of their size or, as their floor without the gap, nearly so."""
    found = set()
    for name in results.names.values():
        if name.control in SAME_SIZE:
            found.add(_everywhere(results, replace(name, control="")))
        elif name.options.get("cut") == "floor":
            found.add(_everywhere(results, name.but(cut=None)))
    return sorted(method for method in found if method)


def _controls_of(results: Results, method: str) -> list[str]:
    """Controls of the same size, its own floor without the gap, and those that belong to no method."""
    name = results.names[method]
    same = [replace(name, control=control) for control in SAME_SIZE]
    if not _everywhere(results, same[0]):  # nothing to pool: unit length or not is the same
        same[0] = results.with_unit(same[0], not results.is_unit(name))
    floor = [] if "cut" in name.options else [name.but(cut="floor")]
    found = [_everywhere(results, one) for one in [*same, *floor, *map(Name, OF_ALL)]]
    return [control for control in found if control]


def _tests(results: Results, family: Sequence[Pair], shown: Sequence[Pair]) -> list[Test]:
    """The pairs to show, per encoder and pooled, corrected over their family: what is not shown was tested too."""
    tests = []
    for encoder in [*results.encoders, *([POOLED] if len(results.encoders) > 1 else [])]:
        values = {pair: [_values(results, encoder, method) for method in pair] for pair in family}
        p = [wilcoxon(ours, theirs) for ours, theirs in values.values()]
        both = dict(zip(values, zip(p, holm(p), strict=True), strict=True))
        for pair in shown:
            differences = values[pair][0] - values[pair][1]
            mean, ends = float(differences.mean()), bootstrap(differences)
            tests.append(Test(encoder, pair, len(differences), mean, *ends, *both[pair]))
    return tests


def _sizes_and_means(results: Results, test: Test) -> list[Value]:
    """Queries, and compression and mean over all queries of both."""
    sizes = [_compression(results, test.encoder, method) for method in test.pair]
    means = [float(_values(results, test.encoder, method).mean()) for method in test.pair]
    return [test.queries, *sizes, *means]


def _everywhere(results: Results, name: Name) -> str | None:
    """The method or control of a name, if every encoder has it."""
    found = {results.find(encoder, name) for encoder in results.encoders}
    return None if None in found else found.pop()


def _values(results: Results, encoder: str, method: str) -> Doubles:
    return np.concatenate([results.values(one, method) for one in _encoders(results, encoder)])


def _encoders(results: Results, encoder: str) -> Sequence[str]:
    return results.encoders if encoder == POOLED else (encoder,)


def _mean(results: Results, encoder: str, method: str) -> float:
    found = [results.mean(one, method) for one in _encoders(results, encoder)]
    return sum(found) / len(found)


def _compression(results: Results, encoder: str, method: str) -> float | None:
    found = [results.compression(one, method) for one in _encoders(results, encoder)]
    there = [one for one in found if one is not None]
    return sum(there) / len(there) if there else None
