"""Pages with their merge trees: one tree a page serves every height.

Linking is most of the work of `height`. A plan tries many heights, so it links each page once and cuts the tree as
often as it likes. What comes out is what the method itself gives.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from adamerge.arrays import Bools, Doubles
from adamerge.compress import Height, cut, prune
from adamerge.compress.merge import link_kept, merge_kept, rule_of
from adamerge.types import Compressed, MultiVector, Tree

SMALLEST_HEIGHT = 1e-4


@dataclass(frozen=True, eq=False)
class LinkedPage:
    """A page, the patches that pruning at k leaves (n,), and the tree of those."""

    page: MultiVector
    keep: Bools
    tree: Tree

    @property
    def extra_rows(self) -> int:
        """Rows that are stored beside the groups, e."""
        if self.page.extra is None:
            return 0
        return len(self.page.extra)


@dataclass(frozen=True, eq=False)
class LinkedPages:
    """The pages of a sample, linked after pruning at k; k is None where nothing is pruned."""

    pages: Sequence[LinkedPage]
    k: float | None
    _rising: Doubles  # the heights of all merges of all pages, lowest first

    def compress(self, h: float, workers: int) -> list[Compressed]:
        """Every page as Height(h, k) compresses it."""
        method = Height(h=h, k=self.k)
        rule = rule_of(method)
        name = str(method)

        def merge(linked: LinkedPage) -> Compressed:
            stop = cut.height(linked.tree, h)
            return merge_kept(linked.page, linked.keep, linked.tree, stop, rule, name)

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(merge, self.pages))

    @property
    def most_rows(self) -> float:
        """Rows a page before the first merge, extra included: the mean over pages."""
        survivors = sum(len(linked.tree) for linked in self.pages)
        return (survivors + self._extra_rows) / len(self.pages)

    @property
    def fewest_rows(self) -> float:
        """Rows a page after the last merge: one, and extra."""
        return 1 + self._extra_rows / len(self.pages)

    @property
    def _extra_rows(self) -> int:
        return sum(linked.extra_rows for linked in self.pages)

    def height_for(self, rows: float) -> float | None:
        """The lowest h, to four digits, at which pages have `rows` rows or fewer on average; None if no h does that."""
        merges = int(np.ceil((self.most_rows - rows) * len(self.pages) - 1e-9))
        if merges > len(self._rising):
            return None
        if merges <= 0:
            return SMALLEST_HEIGHT
        needed = self._rising[merges - 1] / SMALLEST_HEIGHT
        return round(max(1, float(np.ceil(needed))) * SMALLEST_HEIGHT, 4)


def link_pages(pages: Sequence[MultiVector], k: float | None, workers: int) -> LinkedPages:
    """Prune every page at k and link what is left; pruning needs attention."""

    def link(page: MultiVector) -> LinkedPage:
        keep = np.ones(len(page), bool)
        if k is not None and page.attention is not None:
            keep = prune.by_attention(page.attention, k)
        return LinkedPage(page, keep, link_kept(page, keep, rule_of(Height(k=k))))

    with ThreadPoolExecutor(workers) as pool:
        linked = list(pool.map(link, pages))
    heights = [one.tree.heights for one in linked]
    return LinkedPages(linked, k, np.sort(np.concatenate(heights)))
