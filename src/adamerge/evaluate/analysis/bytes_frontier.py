"""Methods x dtypes -> bytes a page against the measure, and which of them are on the frontier."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from adamerge.compress.names import read_name
from adamerge.evaluate.analysis.results import Results
from adamerge.evaluate.experiment import Cell

FLOAT16 = "float16"
WRITTEN_DTYPES = (FLOAT16, "int8", "int4", "int2", "int1")  # in the order of their bytes


@dataclass(frozen=True)
class SizedMethod:
    """A method in a dtype: what a page takes, and how well pages are found.

    merging      the name of the method without its dtype
    bytes        of the vectors of a page with their scales, averaged over all pages
    compression  of patches, averaged over datasets
    value        the measure, averaged over queries, then over datasets
    """

    merging: str
    dtype: str
    bytes: float
    compression: float
    value: float


def sized_methods(results: Results, encoder: str) -> list[SizedMethod]:
    """Every method that was run in more than one dtype, in each of its dtypes, largest pages first."""
    found = list(_all_sized(results, encoder))
    in_fewer_bits = {one.merging for one in found if one.dtype != FLOAT16}
    shown = [one for one in found if one.merging in in_fewer_bits]
    return sorted(shown, key=lambda one: -one.bytes)


def _all_sized(results: Results, encoder: str) -> Iterator[SizedMethod]:
    for method, name in results.methods(encoder):
        if not name.control:
            yield _sized(method, FLOAT16, results.cells[encoder, method], results.measure)
    for (one, method), cells in results.rounded.items():
        if one == encoder:
            dtype = read_name(method).dtype
            yield _sized(method.removesuffix(f"+{dtype}"), dtype, cells, results.measure)


def _sized(merging: str, dtype: str, cells: Sequence[Cell], measure: str) -> SizedMethod:
    pages = sum(cell.pages for cell in cells)
    stored_bytes = sum(cell.bytes for cell in cells)
    return SizedMethod(
        merging,
        dtype,
        stored_bytes / max(pages, 1),
        fmean(cell.compression for cell in cells),
        fmean(cell.mean(measure) for cell in cells),
    )


def on_frontier(methods: Sequence[SizedMethod]) -> list[SizedMethod]:
    """Those that no other method of at most as many bytes beats, smallest pages first."""
    frontier: list[SizedMethod] = []
    for one in sorted(methods, key=lambda one: (one.bytes, -one.value)):
        if not frontier or one.value > frontier[-1].value:
            frontier.append(one)
    return frontier
