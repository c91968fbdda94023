"""Table: the two parts of AdaMerge, the cut at the cliff and the attention-weighted centroid, alone and together."""

from collections.abc import Sequence
from dataclasses import replace

from adamerge.evaluate.analysis.results import Results, pick
from adamerge.evaluate.analysis.table import Row, Table, columns, make_table

COMPRESSION = 0.81  # where the paper compares
FLOOR = "0.7"  # the paper's c_min


def ablation(
    results: Results, compression: float = COMPRESSION, c_min: str = "", any_ratio: bool = True
) -> Table:
    """The 2x2 of cut and centroid, at the k that brings AdaMerge nearest to a compression, as printed and unit.

    A fixed cut is PtM with the m whose compression is nearest, the same m with a plain mean and with attention.
    any_ratio  m may be any number: merge-total(M), which is PtM at AdaMerge's own total; else only an m that was run
    """
    floor = FLOOR
    if c_min:
        ours = [name for name in results.names.values() if name.method == "adamerge"]
        floors = [name.options.get("c_min", "") for name in ours]
        (floor,) = pick([c_min], floors, "adamerge at c_min")

    rows: list[Row] = []
    for encoder in results.encoders:
        for unit in (False, True):
            candidates = _adaptive(results, encoder, floor, unit)
            full = nearest(results, encoder, candidates, compression)
            if full:
                rows += _two_by_two(results, encoder, full, any_ratio)

    head = columns(
        "encoder",
        "unit",
        "cut",
        "centroid",
        "method",
        ("compression", ".1%"),
        (results.measure, ".4f"),
        ("gain", "+.4f"),
    )
    note = (
        f"Mean over {len(results.datasets)} datasets, at the k nearest to {compression:.0%} compression with "
        f"c_min={floor}. merge-total(M) is PtM with the m whose total is M's or the nearest below."
    )
    return make_table("The two parts of AdaMerge", note, head, rows)


def nearest(
    results: Results, encoder: str, methods: Sequence[str], compression: float
) -> str | None:
    """The method whose compression is nearest to a given one; None of none."""

    def distance(method: str) -> float:
        return abs((results.compression(encoder, method) or 0.0) - compression)

    return min(methods, key=distance, default=None)


def _adaptive(results: Results, encoder: str, c_min: str, unit: bool) -> list[str]:
    """AdaMerge over k, where the same with a plain mean is there too."""
    found = []
    for method, name in results.methods(encoder):
        is_ours = not name.control and name.method == "adamerge"
        if not is_ours or name.options["c_min"] != c_min or results.is_unit(name) != unit:
            continue
        other_words = results.with_unit(name, False).words()
        with_plain_mean = results.find(encoder, replace(name, method="adamerge-mean"))
        if with_plain_mean and not other_words:
            found.append(method)
    return found


def _two_by_two(results: Results, encoder: str, full: str, any_ratio: bool) -> list[Row]:
    """The four rows below one AdaMerge; a row whose method was not run is left out."""
    name = results.names[full]
    unit = "yes" if results.is_unit(name) else "no"
    cliff_mean = results.find(encoder, replace(name, method="adamerge-mean")) or ""
    size = results.compression(encoder, full) or 0.0
    with_attention = _fixed_cuts(results, encoder, full, any_ratio)
    fixed_mean = nearest(results, encoder, list(with_attention), size)
    fixed_attention = with_attention.get(fixed_mean or "")

    choices = [
        ("fixed", "mean", fixed_mean),
        ("fixed", "attention", fixed_attention),
        ("cliff", "mean", cliff_mean),
        ("cliff", "attention", full),
    ]
    rows: list[Row] = []
    base = None
    for cut, centroid, method in choices:
        if not method:
            continue
        compression, value = results.point(encoder, method)
        if base is None:
            base = value
        rows.append([encoder, unit, cut, centroid, method, compression, value, value - base])
    return rows


def _fixed_cuts(results: Results, encoder: str, full: str, any_ratio: bool) -> dict[str, str]:
    """PtM at the same k and words -> the same with attention; only where both were run, if there are such."""
    name = results.names[full]
    without_m = replace(name, method="ptm").but(c_min=None)
    plain = {}
    for method, other in results.methods(encoder):
        if other.but(m=None) == without_m:
            plain[method] = replace(other, method="ptm-attn")
    if any_ratio:
        total = replace(name, control="merge-total")
        of_mean = results.find(encoder, replace(total, method="adamerge-mean"))
        if of_mean:
            plain[of_mean] = total

    with_attention = {}
    for method, wanted in plain.items():
        found = results.find(encoder, wanted)
        if found:
            with_attention[method] = found
    return with_attention or dict.fromkeys(plain, "")
