"""Patches -> where each is drawn on the page, and the words that stand there."""

import math
from collections.abc import Sequence

import numpy as np

from adamerge.arrays import Bools, Floats
from adamerge.encoders.layout import cells
from adamerge.errors import BadInput
from adamerge.types import MultiVector, Word

SLACK = 0.01  # of the page: a box may stand over its edge by rounding


def place(page: MultiVector) -> tuple[Floats, bool]:
    """The box of each patch in parts of the page (n, 4), and whether that is its real place.

    Without grid or boxes the patches are laid out in order, row by row. Patches that share one box (the pieces of a
    word) share its width.
    """
    if page.boxes is not None:
        if page.boxes.min() < -SLACK or page.boxes.max() > 1 + SLACK:
            raise BadInput(
                f"boxes must be in parts of the page, 0 to 1, got {page.boxes.min():g} to {page.boxes.max():g}: "
                f"divide pixels by the width and height of the picture"
            )
        return _shared(np.clip(page.boxes, 0, 1)), True
    if page.grid is not None:
        return cells(*page.grid), True
    columns = math.ceil(math.sqrt(len(page)))
    return cells(math.ceil(len(page) / columns), columns)[: len(page)], False


def texts(boxes: Floats, words: Sequence[Word]) -> list[str]:
    """The words of each patch: those whose middle it holds, or else the one that holds its middle (n,)."""
    if not words:
        return []
    frames = np.array([word.box for word in words], np.float32)
    held = _inside(_middle(frames), boxes)  # (n, words)
    over = _inside(_middle(boxes), frames).T
    chosen = np.where(held.any(axis=1, keepdims=True), held, over)
    return [" ".join(words[j].text for j in np.flatnonzero(row).tolist()) for row in chosen]


def tiled(boxes: Floats) -> bool:
    """Whether patches lie side by side, as cells do and words do not: most begin where another ends."""
    left, right = ({(round(float(b[i]), 4), round(float(b[1]), 4)) for b in boxes} for i in (0, 2))
    return len(left & right) > len(left) / 2


def covering(boxes: Floats) -> list[int]:
    """Patches that lie over several others: those of encoders that see the page in tiles and once more as a whole."""
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    large = np.flatnonzero(area > 2 * np.median(area))
    held = _inside(_middle(boxes), boxes[large]).sum(axis=1) if len(large) else np.zeros(0)
    return [int(i) for i in large[held > 2]]


def _shared(boxes: Floats) -> Floats:
    """Boxes cut into as many upright slices as there are patches in them."""
    _, which, count = np.unique(boxes, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    order = np.argsort(which, kind="stable")
    starts = np.cumsum(count) - count
    rank = np.empty(len(boxes), np.int64)
    rank[order] = np.arange(len(boxes)) - starts[which[order]]
    width = (boxes[:, 2] - boxes[:, 0]) / count[which]
    left = boxes[:, 0] + rank * width
    return np.stack([left, boxes[:, 1], left + width, boxes[:, 3]], axis=1).astype(np.float32)


def _middle(boxes: Floats) -> Floats:
    return np.asarray((boxes[:, :2] + boxes[:, 2:]) / 2, np.float32)


def _inside(points: Floats, boxes: Floats) -> Bools:
    """Which points lie in which boxes: (p, 2), (n, 4) -> (n, p)."""
    x, y = points[:, 0], points[:, 1]
    left, top, right, bottom = (boxes[:, i, None] for i in range(4))
    inside: Bools = (left <= x) & (x < right) & (top <= y) & (y < bottom)
    return inside
