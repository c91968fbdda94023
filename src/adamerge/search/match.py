"""Why a page was found: for each query vector the stored vector it matched, its patches, and the words on them."""

from collections.abc import Sequence

import numpy as np

from adamerge.arrays import ArrayLike, Floats
from adamerge.types import Compressed, Match, Word


def matches(query: ArrayLike, page: Compressed, words: Sequence[Word] = ()) -> tuple[Match, ...]:
    """The best match on a page for each vector of a query (q, d); their similarities sum to the page's score."""
    similarities = np.asarray(query, np.float32) @ page.stored.T
    rows = similarities.argmax(1)
    boxes = patch_boxes(page)
    found = {row: _region(page, int(row), boxes, words) for row in set(rows.tolist())}
    return tuple(Match(float(s[row]), row, *found[row]) for s, row in zip(similarities, rows.tolist(), strict=True))


def patch_boxes(page: Compressed) -> Floats | None:
    """Left, top, right, bottom of each patch in parts of the page: (n, 4); None where nobody knows."""
    if page.boxes is not None or page.grid is None:
        return page.boxes
    rows, columns = page.grid
    y, x = np.divmod(np.arange(rows * columns), columns)
    return np.stack([x / columns, y / rows, (x + 1) / columns, (y + 1) / rows], 1).astype(np.float32)


def _region(page: Compressed, row: int, boxes: Floats | None, words: Sequence[Word]) -> tuple[Floats, tuple[str, ...]]:
    if boxes is None or row >= len(page):
        return np.zeros((0, 4), np.float32), ()
    inside = np.unique(boxes[page.groups == row], axis=0)
    return inside, tuple(word.text for word in words if _holds(inside, word))


def _holds(boxes: Floats, word: Word) -> bool:
    """Whether the middle of a word lies in one of the boxes."""
    left, top, right, bottom = word.box
    x, y = (left + right) / 2, (top + bottom) / 2
    return bool(((boxes[:, 0] <= x) & (x <= boxes[:, 2]) & (boxes[:, 1] <= y) & (y <= boxes[:, 3])).any())
