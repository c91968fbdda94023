"""Every table of the evaluation, by name. Each is a function of results and of few options, and leaves a Table."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from adamerge.compress.names import Name
from adamerge.evaluate.frontier import frontier, series
from adamerge.evaluate.points import Results, pick
from adamerge.evaluate.significance import controls, significance
from adamerge.evaluate.table import Table, Value, columns, table

COMPRESSION = 0.81  # where the paper compares
FLOOR = "0.7"
OURS = ("adamerge", "adamerge-mean")  # whose sequence is a running minimum by default


def ablation(results: Results, compression: float = COMPRESSION, c_min: str = "") -> Table:
    """The 2x2 of cut and centroid, at the k that brings AdaMerge nearest to a compression, as printed and unit.

    A fixed cut is PtM with the m whose compression is nearest; merge-total() is PtM at AdaMerge's own total.
    """
    ours = [name for name in results.names.values() if name.method == "adamerge"]
    floors = [name.options.get("c_min", "") for name in ours]
    (c_min,) = pick([c_min], floors, "adamerge at c_min") if c_min else (FLOOR,)
    rows: list[list[Value]] = []
    for encoder in results.encoders:
        for unit in (False, True):
            base = _nearest(results, encoder, _adaptive(results, encoder, c_min, unit), compression)
            rows += _two_by_two(results, encoder, base) if base else []
    head = columns(
        "encoder",
        "unit",
        "cut",
        "centroid",
        "method",
        ("compression", ".1%"),
        (results.measure, ".4f"),
    )
    note = (
        f"Mean over {len(results.datasets)} datasets, at the k nearest to {compression:.0%} compression with "
        f"c_min={c_min}. merge-total(M) is PtM with the m whose total is M's or the nearest below."
    )
    return table("The two parts of AdaMerge", note, [*head, *columns(("gain", "+.4f"))], rows)


def theta(results: Results, methods: Sequence[str] = ()) -> Table:
    """Where pages are cut, beside the same on structureless pages: median and spread per dataset, and over all."""
    rows: list[list[Value]] = []
    for encoder in results.encoders:
        there = controlled_by_gaussian(results, encoder)
        for method in pick(methods, there, "gaussian(M) beside M of") or there:
            rows += _cuts(results, encoder, method)
    one = (("pages cut", ".0%"), ("median", ".3f"), ("sd", ".3f"), ("compression", ".1%"))
    other = tuple((f"Gaussian {name}", form) for name, form in one)
    note = (
        "Theta is the cosine of the last merge made. Gaussian: each page's patches replaced by a draw with the same "
        "mean and covariance, so without structure; its attention is the page's own."
    )
    head = columns("encoder", "method", "dataset", ("pages", ",d"), *one, *other)
    return table("Where pages are cut, and where pages without structure are", note, head, rows)


def efficiency(results: Results, compression: float = COMPRESSION) -> Table:
    """What each series costs at its configuration nearest to a compression: time, bytes, and the measure."""
    rows: list[list[Value]] = []
    for encoder in results.encoders:
        for one in series(results, encoder, fixed=()):  # all floors are one series
            method = _nearest(results, encoder, one.methods, compression)
            if method:
                rows.append([encoder, method, *_costs(results, encoder, method)])
    head = columns(
        "encoder", "method", ("compression", ".1%"), ("with extra", ".1%"), ("bytes a page", ",.0f")
    )
    machines = sorted({cell.machine for cells in results.cells.values() for cell in cells})
    note = (
        f"The configuration of each series nearest to {compression:.0%}. Bytes in float16, extra rows included; time "
        f"of one thread, without encoding ({', '.join(machines)}). Means over datasets; bytes and time over pages."
    )
    head += columns(("ms a page", ".2f"), (results.measure, ".4f"))
    return table("What compression costs", note, head, rows)


def unit(results: Results) -> Table:
    """What scaling groups to unit length is worth, over all pairs that differ in nothing else."""
    rows: list[list[Value]] = []
    for encoder in results.encoders:
        gains: dict[str, list[float]] = {}
        for method, name in results.methods(encoder):
            if name.control or not results.is_unit(name):
                continue
            plain = results.find(encoder, results.with_unit(name, False))
            if plain:
                gain = results.mean(encoder, method) - results.mean(encoder, plain)
                gains.setdefault(name.method, []).append(gain)
        rows += [
            [encoder, kind, len(some), fmean(some), min(some), max(some)]
            for kind, some in sorted(gains.items())
        ]
    head = columns(
        "encoder",
        "methods",
        ("pairs", "d"),
        ("mean gain", "+.4f"),
        ("least", "+.4f"),
        ("most", "+.4f"),
    )
    return table(
        "What unit length is worth",
        f"Gains of {results.measure}, averaged over datasets, of all pairs of such methods that differ in unit alone.",
        head,
        rows,
    )


def sequence(results: Results) -> Table:
    """The three readings of the merge-cosine sequence, side by side."""
    rows: list[list[Value]] = []
    for encoder in results.encoders:
        for method, name in results.methods(encoder):
            readings = _readings(results, encoder, name)
            first = "running-min" if name.method in OURS else "default"
            for reading, variant in [(first, method), *readings] if readings else ():
                rows.append(
                    [
                        encoder,
                        method,
                        reading,
                        *results.point(encoder, variant),
                        _median(results, encoder, variant),
                    ]
                )
    head = columns(
        "encoder",
        "method",
        "sequence",
        ("compression", ".1%"),
        (results.measure, ".4f"),
        ("theta", ".3f"),
    )
    return table(
        "Three readings of the sequence",
        "Means over datasets; theta is the median over all pages.",
        head,
        rows,
    )


TABLES: dict[str, Callable[[Results], Table]] = {
    "frontier": frontier,
    "significance": significance,
    "ablation": ablation,
    "controls": controls,
    "theta": theta,
    "efficiency": efficiency,
    "unit": unit,
    "sequence": sequence,
}


def controlled_by_gaussian(results: Results, encoder: str) -> list[str]:
    """Methods whose cuts were also made on structureless pages."""
    names = [results.names[method] for one, method in results.cells if one == encoder]
    drawn = [name for name in names if name.control == "gaussian"]
    found = (results.find(encoder, replace(name, control="")) for name in drawn)
    return sorted(method for method in found if method)


def thetas(results: Results, encoder: str, method: str) -> dict[str, list[float]]:
    """The cuts of every dataset's pages; pages without a merge have none."""
    return {
        c.dataset: [t for t in c.theta if t is not None] for c in results.cells[encoder, method]
    }


def _adaptive(results: Results, encoder: str, c_min: str, unit: bool) -> list[str]:
    """AdaMerge over k, where its twin with a plain mean is there too."""
    found = []
    for method, name in results.methods(encoder):
        plain = results.with_unit(name, False)
        is_ours = not name.control and name.method == "adamerge"
        if is_ours and name.options["c_min"] == c_min and not plain.words():
            twin = results.find(encoder, replace(name, method="adamerge-mean"))
            if twin and results.is_unit(name) == unit:
                found.append(method)
    return found


def _two_by_two(results: Results, encoder: str, full: str) -> Iterator[list[Value]]:
    name = results.names[full]
    mean = results.find(encoder, replace(name, method="adamerge-mean")) or ""
    size = results.compression(encoder, full) or 0.0
    fixed = [
        _nearest(results, encoder, _fixed(results, encoder, *pair), size)
        for pair in (("ptm", mean), ("ptm-attn", full))
    ]
    said = "yes" if results.is_unit(name) else "no"
    named = zip(
        ("fixed", "fixed", "cliff", "cliff"),
        ("mean", "attention") * 2,
        [*fixed, mean, full],
        strict=True,
    )
    first = None
    for cut, centroid, method in named:
        if method:
            there, value = results.point(encoder, method)
            first = value if first is None else first
            yield [encoder, said, cut, centroid, method, there, value, value - first]


def _fixed(results: Results, encoder: str, ptm: str, like: str) -> list[str]:
    """PtM at the same k and words, over m, and at the total of `like` itself."""
    wanted = results.names[like]
    without_m = replace(wanted, method=ptm).but(c_min=None)
    found = [method for method, name in results.methods(encoder) if name.but(m=None) == without_m]
    total = results.find(encoder, replace(wanted, control="merge-total"))
    return [*found, total] if total else found


def _nearest(
    results: Results, encoder: str, methods: Sequence[str], compression: float
) -> str | None:
    return min(
        methods,
        key=lambda m: abs((results.compression(encoder, m) or 0.0) - compression),
        default=None,
    )


def _cuts(results: Results, encoder: str, method: str) -> Iterator[list[Value]]:
    real, drawn = (results.cells[encoder, name] for name in (method, f"gaussian({method})"))
    for dataset, mine, other in zip(results.datasets, real, drawn, strict=True):
        yield [
            encoder,
            method,
            dataset,
            mine.pages,
            *_spread([mine.theta]),
            mine.compression,
            *_spread([other.theta]),
            other.compression,
        ]
    if len(real) == 1:
        return
    pages = sum(cell.pages for cell in real)
    ends = [
        [*_spread([c.theta for c in some]), fmean(c.compression for c in some)]
        for some in (real, drawn)
    ]
    yield [encoder, method, "all", pages, *ends[0], *ends[1]]


def _spread(thetas: Sequence[Sequence[float | None]]) -> tuple[float, Value, Value]:
    """Share of pages with a cut, and median and standard deviation of their theta."""
    every = [value for some in thetas for value in some]
    there = [value for value in every if value is not None]
    if not there:
        return 0.0, None, None
    return (
        len(there) / len(every),
        float(np.median(there)),
        float(np.std(there, ddof=1)) if len(there) > 1 else None,
    )


def _costs(results: Results, encoder: str, method: str) -> list[Value]:
    cells = results.cells[encoder, method]
    pages = sum(cell.pages for cell in cells)
    times = [cell.ms * cell.pages for cell in cells if cell.ms is not None]
    small = sum(cell.bytes for cell in cells) / pages
    ms = sum(times) / pages if len(times) == len(cells) else None
    sizes = [
        fmean(cell.compression for cell in cells),
        fmean(cell.compression_of_all for cell in cells),
    ]
    return [*sizes, small, ms, results.mean(encoder, method)]


def _readings(results: Results, encoder: str, name: Name) -> list[tuple[str, str]]:
    """The other readings of a method that were run: sequence, method."""
    if name.control:
        return []
    found = []
    for method, other in results.methods(encoder):
        reading = other.options.get("sequence")
        if reading and other.but(sequence=None) == name:
            found.append((reading, method))
    return sorted(found)


def _median(results: Results, encoder: str, method: str) -> float | None:
    every = [value for some in thetas(results, encoder, method).values() for value in some]
    return float(np.median(every)) if every else None
