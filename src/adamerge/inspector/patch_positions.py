"""Patches -> where each is drawn on the page, and the words that stand there."""

import math
from collections.abc import Sequence

import numpy as np

from adamerge.arrays import Floats
from adamerge.errors import BadInput
from adamerge.geometry import as_boxes, cells, contains, middles, sides
from adamerge.types import MultiVector, Word

SLACK = 0.01  # of the page: rounding may put a box a little over the edge
LARGE = 2.0  # a patch with so many times the median area is a large one
DECIMALS = 4  # corners that agree in so many are the same


def locate(page: MultiVector) -> tuple[Floats, bool]:
    """The box of each patch in parts of the page (n, 4), and whether that is its real place.

    Patches that share one box (the pieces of a word) share its width. Without grid or boxes the patches are laid out in
    order, row by row.
    """
    if page.boxes is not None:
        _check_parts(page.boxes)
        return _share_width(np.clip(page.boxes, 0, 1)), True
    if page.grid is not None:
        return cells(*page.grid), True
    columns = math.ceil(math.sqrt(len(page)))
    rows = math.ceil(len(page) / columns)
    return cells(rows, columns)[: len(page)], False


def words_on_patches(boxes: Floats, words: Sequence[Word]) -> list[str]:
    """The words of each patch (n,): those with their middle in it, or else those that contain the patch's middle."""
    if not words:
        return []
    word_boxes = as_boxes([word.box for word in words])
    in_patch = contains(boxes, middles(word_boxes))  # (n, words)
    over_patch = contains(word_boxes, middles(boxes)).T
    chosen = np.where(in_patch.any(axis=1, keepdims=True), in_patch, over_patch)

    texts = []
    for row in chosen:
        found = [words[j].text for j in np.flatnonzero(row).tolist()]
        texts.append(" ".join(found))
    return texts


def is_tiled(boxes: Floats) -> bool:
    """Whether patches lie side by side, as cells do and words do not: most begin where another ends."""
    corners = boxes.astype(np.float64).round(DECIMALS)
    top_left = set(map(tuple, corners[:, [0, 1]].tolist()))
    top_right = set(map(tuple, corners[:, [2, 1]].tolist()))
    return len(top_left & top_right) > len(top_left) / 2


def covering_patches(boxes: Floats) -> list[int]:
    """Patches that lie over several others: some encoders see the page in tiles and once more as a whole."""
    area = np.prod(sides(boxes), axis=1)
    large = np.flatnonzero(area > LARGE * np.median(area))
    if not len(large):
        return []
    below = contains(boxes[large], middles(boxes)).sum(axis=1)  # a patch lies over itself too
    covering: list[int] = large[below > 2].tolist()
    return covering


def _check_parts(boxes: Floats) -> None:
    lowest, highest = boxes.min(), boxes.max()
    if lowest < -SLACK or highest > 1 + SLACK:
        raise BadInput(
            f"boxes must be in parts of the page, 0 to 1, got {lowest:g} to {highest:g}: "
            f"divide pixels by the width and height of the picture"
        )


def _share_width(boxes: Floats) -> Floats:
    """Boxes cut into as many upright slices as there are patches in them."""
    _, which, count = np.unique(boxes, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    order = np.argsort(which, kind="stable")
    starts = np.cumsum(count) - count

    rank = np.empty(len(boxes), np.int64)  # of a patch among those that share its box
    rank[order] = np.arange(len(boxes)) - starts[which[order]]

    width = (boxes[:, 2] - boxes[:, 0]) / count[which]
    left = boxes[:, 0] + rank * width
    return np.stack([left, boxes[:, 1], left + width, boxes[:, 3]], axis=1).astype(np.float32)
