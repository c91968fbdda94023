"""Pages -> a sample of them, spread evenly: every file gives its share."""

from collections.abc import Iterable, Sequence

import numpy as np

from adamerge.errors import BadInput
from adamerge.types import MultiVector

SAMPLE = 200  # pages: enough for a mean size within a few percent, in less than a minute
LARGEST_SAMPLE = 500


def check_sample(sample: int) -> None:
    """Refuse a sample that tells nothing, or that would take too long."""
    if not 1 <= sample <= LARGEST_SAMPLE:
        raise BadInput(f"a sample has 1 to {LARGEST_SAMPLE} pages, got {sample}")


def spread(count: int, most: int) -> list[int]:
    """The numbers of at most `most` of `count` pages, at equal distances."""
    if count <= most:
        return list(range(count))
    middles = (np.arange(most) + 0.5) * count / most
    return [int(middle) for middle in middles]


def draw_sample(pages: Iterable[MultiVector], most: int, seed: int) -> list[MultiVector]:
    """At most `most` of the pages, in their order.

    Pages of a sequence are taken at equal distances. Of an iterator nobody knows the length: every page is read, and
    each has the same chance to stay (reservoir sampling), so no more than `most` pages are held.
    """
    check_sample(most)
    if isinstance(pages, Sequence):
        return [pages[number] for number in spread(len(pages), most)]

    generator = np.random.default_rng(seed)
    kept: dict[int, tuple[int, MultiVector]] = {}  # place -> number of the page, and the page
    for number, page in enumerate(pages):
        place = number
        if number >= most:
            place = int(generator.integers(number + 1))
        if place < most:
            kept[place] = number, page
    in_order = sorted(kept.values(), key=lambda numbered: numbered[0])
    return [page for _, page in in_order]
