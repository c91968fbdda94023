"""Tables of paired tests: AdaMerge against PtM as in the paper, any methods, and every method against its controls."""

from collections.abc import Sequence
from dataclasses import replace

from adamerge.compress.names import Name
from adamerge.errors import BadInput
from adamerge.evaluate.analysis.frontier import FLOORS
from adamerge.evaluate.analysis.paired_tests import (
    TEST_COLUMNS,
    Pair,
    compression_of,
    describe_tests,
    mean_of,
    run_tests,
    sizes_and_means,
)
from adamerge.evaluate.analysis.results import Results, pick
from adamerge.evaluate.analysis.table import Row, Table, columns, make_table

BUDGETS = ("2", "4")  # of PtM, as in the paper's table
SAME_SIZE = ("random", "merge-page", "merge-total", "height")
OF_EVERY_METHOD = ("mean-vector", "bm25", "identity")


def significance(results: Results, ks: Sequence[str] = (), methods: Sequence[str] = ()) -> Table:
    """AdaMerge against PtM at the same k: the paper's table, at every k (or some), c_min, m, as printed and unit.

    The same k is not the same compression, so both are shown; controls() compares at the same size. With `methods`, the
    first of them against each of the others.
    """
    if methods:
        return _first_against_others(results, methods, ks)

    family = _pairs_at_same_k(results)
    by_k: dict[str, list[Pair]] = {}
    for pair in family:
        k = results.names[pair[0]].options["k"]
        by_k.setdefault(k, []).append(pair)

    shown = family
    if ks:
        asked = pick(ks, by_k, "pair at k")
        shown = []
        for k, pairs in by_k.items():
            if k in asked:
                shown += pairs

    rows: list[Row] = []
    for test in run_tests(results, family, shown):
        ours = results.names[test.pair[0]]
        theirs = results.names[test.pair[1]]
        unit = "yes" if results.is_unit(ours) else "no"
        options = [ours.options["k"], ours.options["c_min"], theirs.options["m"], unit]
        rows.append([test.encoder, *options, *sizes_and_means(results, test), *test.cells()])

    head = columns(
        "encoder",
        "k",
        "c_min",
        "m",
        "unit",
        ("queries", ",d"),
        ("compression", ".1%"),
        ("of PtM", ".1%"),
        (f"{results.measure} AdaMerge", ".4f"),
        ("PtM", ".4f"),
    )
    family_text = f"the {len(family)} pairs of AdaMerge and PtM, shown or not"
    note = f"Means over all queries. {describe_tests(results, family_text)}"
    title = "AdaMerge against PtM at the same k"
    return make_table(title, note, [*head, *TEST_COLUMNS], rows)


def controls(results: Results, methods: Sequence[str] = ()) -> Table:
    """Every method that has controls (or some) against them: what its choices are worth beyond its size."""
    family: list[Pair] = []
    shown: list[Pair] = []
    there = _methods_with_controls(results)
    asked = pick(methods, there, "controls of") or there
    for method in there:
        for control in _controls_of(results, method):
            family.append((method, control))
            if method in asked:
                shown.append((method, control))

    rows: list[Row] = []
    for test in run_tests(results, family, shown):
        method, control = test.pair
        row: Row = [
            test.encoder,
            method,
            mean_of(results, test.encoder, method),
            control.replace(f"({method})", "(M)"),
            compression_of(results, test.encoder, control),
            mean_of(results, test.encoder, control),
        ]
        rows.append([*row, *test.cells()])

    head = columns(
        "encoder",
        "method M",
        (results.measure, ".4f"),
        "control",
        ("compression", ".1%"),
        ("its", ".4f"),
    )
    family_text = f"the {len(family)} pairs of a method with one of its controls, shown or not"
    note = (
        "Means over datasets; differences (M minus control) over all queries. "
        f"{describe_tests(results, family_text)}"
    )
    return make_table("Methods against controls", note, [*head, *TEST_COLUMNS], rows)


def _first_against_others(results: Results, methods: Sequence[str], ks: Sequence[str]) -> Table:
    there = [method for method, name in results.names.items() if _by_every_encoder(results, name)]
    first, *others = pick(methods, there, "results of")
    if not others or ks:
        raise BadInput(
            "name a method, and those to test it against: --method A --method B; "
            "k is part of their names"
        )

    pairs = [(first, other) for other in others]
    rows: list[Row] = []
    for test in run_tests(results, pairs, pairs):
        rows.append([test.encoder, *test.pair, *sizes_and_means(results, test), *test.cells()])

    head = columns(
        "encoder",
        "method",
        "against",
        ("queries", ",d"),
        ("compression", ".1%"),
        ("of it", ".1%"),
        (results.measure, ".4f"),
        ("its", ".4f"),
    )
    note = f"Means over all queries. {describe_tests(results, 'the pairs of this table')}"
    return make_table("One method against others", note, [*head, *TEST_COLUMNS], rows)


def _pairs_at_same_k(results: Results) -> list[Pair]:
    """AdaMerge and PtM with the same k and words, at the paper's floors and budgets, measured by every encoder."""
    pairs = []
    for method, name in results.methods(results.encoders[0]):
        is_ours = name.method == "adamerge" and not name.control
        if not is_ours or name.number("k") is None or name.options.get("c_min") not in FLOORS:
            continue
        if not _by_every_encoder(results, name):
            continue
        for m in BUDGETS:
            ptm = replace(name, method="ptm").but(c_min=None, m=m)
            theirs = _by_every_encoder(results, ptm)
            if theirs:
                pairs.append((method, theirs))
    return sorted(pairs, key=lambda pair: _order(results, pair))


def _order(results: Results, pair: Pair) -> tuple[bool, float, str, str]:
    ours = results.names[pair[0]]
    return results.is_unit(ours), ours.number("k") or 0.0, ours.options["c_min"], pair[1]


def _methods_with_controls(results: Results) -> list[str]:
    """Methods with a control of their size or, as their floor without the gap, nearly so."""
    found = set()
    for name in results.names.values():
        method = None
        if name.control in SAME_SIZE:
            method = _by_every_encoder(results, replace(name, control=""))
        elif name.options.get("cut") == "floor":
            method = _by_every_encoder(results, name.but(cut=None))
        if method:
            found.add(method)
    return sorted(found)


def _controls_of(results: Results, method: str) -> list[str]:
    """Controls of the same size, its own floor without the gap, and those that belong to no method."""
    name = results.names[method]
    wanted = [replace(name, control=control) for control in SAME_SIZE]
    if not _by_every_encoder(results, wanted[0]):
        # random has nothing to pool: with unit length or without it is the same
        wanted[0] = results.with_unit(wanted[0], not results.is_unit(name))
    if "cut" not in name.options:
        wanted.append(name.but(cut="floor"))
    wanted += map(Name, OF_EVERY_METHOD)

    found = []
    for one in wanted:
        control = _by_every_encoder(results, one)
        if control:
            found.append(control)
    return found


def _by_every_encoder(results: Results, name: Name) -> str | None:
    """The method or control of a name, if it was measured with every encoder."""
    method = None
    for encoder in results.encoders:
        method = results.find(encoder, name)
        if not method:
            return None
    return method
