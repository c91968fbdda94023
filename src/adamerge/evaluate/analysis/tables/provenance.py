"""Tables: which datasets the results are of, and what made them."""

from collections import Counter

from adamerge.evaluate.analysis.results import Results
from adamerge.evaluate.analysis.table import Row, Table, columns, make_table


def datasets(results: Results) -> Table:
    """The datasets that the results are of."""
    rows: list[Row] = []
    for name, about in results.about.items():
        queries = len(about["queries"])
        rows.append([name, about["pages"], queries, about["judgements"], about["source"]])

    head = columns("dataset", ("pages", ",d"), ("queries", ",d"), ("judgements", ",d"), "source")
    note = "Source: the hash of the book, or the revision of the data."
    return make_table("Datasets", note, head, rows)


def manifest(results: Results) -> Table:
    """What made the results: encoders, versions, machines, and how many cells of each."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for (encoder, _), cells in results.cells.items():
        for cell in cells:
            versions = [f"{name} {version}" for name, version in sorted(cell.versions.items())]
            counts[encoder, ", ".join(versions), cell.machine] += 1

    rows: list[Row] = []
    for made_by, count in sorted(counts.items()):
        rows.append([*made_by, count])
    head = columns("of encoder", "versions", "machine", ("cells", ",d"))
    note = f"{len(results.left_out)} methods without a cell for every dataset were left out."
    return make_table("What made these results", note, head, rows)
