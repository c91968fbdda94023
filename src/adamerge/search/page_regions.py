"""What every query asks of a page: where each stored row lies on it, and which words stand there. Found once a row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from adamerge.arrays import Floats
from adamerge.geometry import cells, contains
from adamerge.search.page_text import PageText, page_text
from adamerge.types import Compressed, Word


class Region(NamedTuple):
    """Where a stored row lies on its page.

    boxes        (p, 4) of the patches in its group, each once
    word_places  which words of the page have their middle in one of the boxes
    words        the texts of those words
    """

    boxes: Floats
    word_places: tuple[int, ...]
    words: tuple[str, ...]


NOWHERE = Region(np.zeros((0, 4), np.float32), (), ())


@dataclass(frozen=True, eq=False)
class PageRegions:
    """The regions and the text of a page. A store keeps them with the page, since they depend on no query."""

    page: Compressed
    words: Sequence[Word]
    _found: dict[int, Region] = field(default_factory=dict, repr=False)

    @cached_property
    def text(self) -> PageText:
        """The sentences of the page, and where its words stand."""
        return page_text(self.words)

    @cached_property
    def _patch_boxes(self) -> Floats | None:
        return patch_boxes(self.page)

    def region(self, row: int) -> Region:
        """Where a stored row lies; an extra row, or one of a page without boxes, lies nowhere."""
        known = self._found.get(row)
        if known is None:
            known = self._find(row)
            self._found[row] = known
        return known

    def _find(self, row: int) -> Region:
        patches = self._patch_boxes
        if patches is None or row >= len(self.page):
            return NOWHERE
        boxes = _distinct(patches[self.page.groups == row])
        is_inside = contains(boxes, self.text.middles).any(0)
        places = np.flatnonzero(is_inside).tolist()
        texts = [self.words[place].text for place in places]
        return Region(boxes, tuple(places), tuple(texts))


def patch_boxes(page: Compressed) -> Floats | None:
    """Left, top, right, bottom of each patch in parts of the page: (n, 4); None where they are not known."""
    if page.boxes is not None or page.grid is None:
        return page.boxes
    return cells(*page.grid)


def _distinct(boxes: Floats) -> Floats:
    """Each box once, in order. A group has few patches: np.unique would take ten times as long."""
    rows = sorted(set(map(tuple, boxes.tolist())))
    return np.array(rows, np.float32).reshape(-1, 4)
