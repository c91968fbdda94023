"""Table: the measure of each method in each dtype, and the bytes of a page."""

from adamerge.evaluate.analysis.bytes_frontier import (
    WRITTEN_DTYPES,
    SizedMethod,
    on_frontier,
    sized_methods,
)
from adamerge.evaluate.analysis.results import Results
from adamerge.evaluate.analysis.table import Row, Table, columns, make_table


def in_bytes(results: Results) -> Table:
    """The measure, and the kilobytes of a page: a row for each method that was run in several dtypes."""
    rows: list[Row] = []
    for encoder in results.encoders:
        methods = sized_methods(results, encoder)
        best = on_frontier(methods)
        mergings = dict.fromkeys(one.merging for one in methods)
        for merging in mergings:
            of_merging = {one.dtype: one for one in methods if one.merging == merging}
            rows.append([encoder, merging, *_cells(of_merging, best)])

    note = (
        f"{results.measure} and kB a page (1 kB = 1,000 bytes; vectors, extra rows and scales), means over datasets "
        "and over pages. A star: on the frontier, so no other method in the table has as few bytes and a higher value."
    )
    head = columns("encoder", "method", ("compression", ".1%"), *WRITTEN_DTYPES)
    return make_table("Bytes", note, head, rows)


def _cells(of_merging: dict[str, SizedMethod], best: list[SizedMethod]) -> Row:
    compressions = [one.compression for one in of_merging.values()]
    row: Row = [compressions[0]]
    for dtype in WRITTEN_DTYPES:
        one = of_merging.get(dtype)
        row.append(None if one is None else _text(one, one in best))
    return row


def _text(one: SizedMethod, is_best: bool) -> str:
    text = f"{one.value:.4f} at {one.bytes / 1000:.2f} kB"
    if is_best:
        return f"{text} *"
    return text
