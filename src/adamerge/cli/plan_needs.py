"""What a planned row needs in a store, in a few lines for a terminal."""

from adamerge.plans import Plan, PlanRow, StoreNeeds
from adamerge.plans.speeds import load_speeds
from adamerge.store.limits import LANCE_MEMORY, QDRANT_DTYPES

GB = 1e9


def needs_lines(found: Plan, row: PlanRow) -> list[str]:
    """Memory, Qdrant's limit, a search and the time to build, for the pages of the corpus."""
    needs = found.needs(row)
    speeds = load_speeds()
    return [
        f"{needs.pages:,} pages as {row.method} (times are those of {speeds}):",
        f"  memory  {_memory(needs)}",
        f"  Qdrant  {_qdrant(row, needs)}",
        f"  search  {_time(needs.search_seconds)} for {speeds.query_vectors} query vectors, {_way(needs)}",
        f"  build   {_time(needs.build_hours * 3600)} to compress and store{_encoding(found, needs)}",
    ]


def _memory(needs: StoreNeeds) -> str:
    text = f"{_size(needs.memory_bytes)} for exact search"
    if needs.sign_plane_bytes is not None:
        text += f", {_size(needs.sign_plane_bytes)} for sign planes"
    return f"{text}; a LanceDB store holds {_size(LANCE_MEMORY)} unless --memory says more"


def _qdrant(row: PlanRow, needs: StoreNeeds) -> str:
    if row.dtype not in QDRANT_DTYPES:
        return f"keeps {' and '.join(QDRANT_DTYPES)} only: plan with --dtype float16"
    text = f"takes {needs.qdrant_vectors:,} vectors a page, and the largest of the sample has {row.most_rows:,}"
    if not needs.fits_qdrant:
        return f"{text}: too many"
    return text


def _way(needs: StoreNeeds) -> str:
    if needs.sign_plane_bytes is None:
        return "exact, with all vectors in memory"
    return "by sign planes, in memory"


def _encoding(found: Plan, needs: StoreNeeds) -> str:
    if needs.encode_hours is None:
        return "; to encode: not measured for this encoder"
    return f", {_time(needs.encode_hours * 3600)} to encode with {found.encoder}"


def _size(count: float) -> str:
    if count < GB / 10:
        return f"{count / 1e6:,.1f} MB"
    return f"{count / GB:,.1f} GB"


def _time(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1e3:,.0f} ms"
    if seconds < 120:
        return f"{seconds:,.1f} s"
    if seconds < 7200:
        return f"{seconds / 60:,.0f} min"
    return f"{seconds / 3600:,.1f} h"
