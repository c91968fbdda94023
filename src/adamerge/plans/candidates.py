"""Which methods a plan tries: heights that keep certain shares of the rows, and heights that meet the target exactly.

Heights differ between encoders: h = 0.8 removes 40 % of the patches of ColQwen2 and 78 % of those of ColPali. So shares
are fixed, and their heights are read off the trees of the sample.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from adamerge.codes import bytes_per_row
from adamerge.plans.linked_pages import LinkedPages
from adamerge.plans.target import Target

DTYPES = ("float16", "int8", "int4", "int2", "int1")
SHARES = (0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05)
SHARES_AFTER_PRUNING = (0.3, 0.15, 0.07)
PRUNE_AT = -0.25  # the paper's k


class Candidate(NamedTuple):
    """A height and a k, in some dtypes; h = None is the page as it is."""

    h: float | None
    k: float | None
    dtypes: tuple[str, ...]


def on_grid(linked: LinkedPages, whole_rows: float, dtypes: Sequence[str]) -> Iterator[Candidate]:
    """Candidates at fixed shares of the rows of whole pages.

    In float16 only the whole page is tried where int8 may be used: int8 keeps the same pages in half of the bytes.
    """
    shares: Sequence[float] = SHARES_AFTER_PRUNING
    if linked.k is None:
        yield Candidate(None, None, tuple(dtypes))
        shares = SHARES

    merged_dtypes = tuple(dtype for dtype in dtypes if dtype != "float16" or "int8" not in dtypes)
    seen: set[float] = set()
    for share in shares:
        h = linked.height_for(share * whole_rows)
        if h is None or share * whole_rows >= linked.most_rows:
            continue
        h = max(0.01, round(h, 2))
        if h not in seen:
            seen.add(h)
            yield Candidate(h, linked.k, merged_dtypes)


def for_target(
    linked: LinkedPages, target: Target, d: int, patches: float, dtypes: Sequence[str]
) -> Iterator[Candidate]:
    """Candidates that meet a target as closely as a height can; none for a loss, which no height tells.

    patches  of a page, the mean over the sample
    """
    if target.kind == "max_loss":
        return
    dtypes_at: dict[float, list[str]] = {}
    for dtype in dtypes:
        rows = target.value
        if target.kind == "bytes_per_page":
            rows = target.value / bytes_per_row(d, dtype)
        elif target.kind == "compression":
            extra = linked.fewest_rows - 1
            rows = (1 - target.value) * patches + extra
        if rows >= linked.most_rows:
            continue  # the page as it is will do
        h = linked.height_for(rows)
        if h is not None:
            dtypes_at.setdefault(h, []).append(dtype)
    for h, dtypes_of_height in dtypes_at.items():
        yield Candidate(h, linked.k, tuple(dtypes_of_height))
