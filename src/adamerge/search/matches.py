"""Why a page was found: for each query vector the stored vector that it matched, its patches, and the words there."""

from collections.abc import Sequence

import numpy as np

from adamerge.arrays import ArrayLike, Floats
from adamerge.geometry import cells, contains
from adamerge.search.found import Match
from adamerge.search.page_text import page_text
from adamerge.types import Compressed, Word


def matches(query: ArrayLike, page: Compressed, words: Sequence[Word] = ()) -> tuple[Match, ...]:
    """The best match on a page for each vector of a query (q, d); their similarities sum to the page's score."""
    similarities = np.asarray(query, np.float32) @ page.stored.T
    rows = similarities.argmax(1).tolist()
    boxes = patch_boxes(page)
    word_middles = page_text(words).middles

    regions = {}
    for row in set(rows):
        regions[row] = _region(page, row, boxes, words, word_middles)

    found = []
    for i, row in enumerate(rows):
        region, words_there = regions[row]
        found.append(Match(float(similarities[i, row]), row, region, words_there))
    return tuple(found)


def patch_boxes(page: Compressed) -> Floats | None:
    """Left, top, right, bottom of each patch in parts of the page: (n, 4); None where they are not known."""
    if page.boxes is not None or page.grid is None:
        return page.boxes
    return cells(*page.grid)


def _region(
    page: Compressed, row: int, boxes: Floats | None, words: Sequence[Word], word_middles: Floats
) -> tuple[Floats, tuple[str, ...]]:
    """The boxes of the patches in a group, and the words whose middle is in one of them; none for an extra row."""
    if boxes is None or row >= len(page):
        return np.zeros((0, 4), np.float32), ()
    inside = _distinct(boxes[page.groups == row])
    is_inside = contains(inside, word_middles).any(0)
    texts = [words[i].text for i in np.flatnonzero(is_inside).tolist()]
    return inside, tuple(texts)


def _distinct(boxes: Floats) -> Floats:
    """Each box once, in order. A group has few patches: np.unique would take ten times as long."""
    rows = sorted(set(map(tuple, boxes.tolist())))
    return np.array(rows, np.float32).reshape(-1, 4)
