"""Where things lie on a page. A box is left, top, right, bottom in parts of the page, each from 0 to 1."""

from collections.abc import Sequence

import numpy as np

from adamerge.arrays import Bools, Floats

Box = tuple[float, float, float, float]  # left, top, right, bottom in parts of the page


def as_boxes(boxes: Sequence[Box]) -> Floats:
    """Boxes as one array: (n, 4), also if there is none."""
    return np.array(boxes, np.float32).reshape(-1, 4)


def cells(rows: int, columns: int) -> Floats:
    """The boxes of a grid, row by row: (rows columns, 4)."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    left, right = column / columns, (column + 1) / columns
    top, bottom = row / rows, (row + 1) / rows
    return np.stack([left, top, right, bottom], axis=1).astype(np.float32)


def middles(boxes: Floats) -> Floats:
    """The point in the middle of each box: (n, 4) -> (n, 2), x and y."""
    return np.asarray((boxes[:, :2] + boxes[:, 2:]) / 2, np.float32)


def sides(boxes: Floats) -> Floats:
    """The width and height of each box: (n, 4) -> (n, 2)."""
    return np.asarray(boxes[:, 2:] - boxes[:, :2], np.float32)


def contains(boxes: Floats, points: Floats) -> Bools:
    """Which boxes contain which points: (n, 4), (p, 2) -> (n, p).

    A point on the line between two cells belongs to the cell on its right, or below it: every point of a page lies in
    one cell of a grid. A box without width or height contains the points on its line.
    """
    left, top, right, bottom = boxes.T[:, :, None]
    x, y = points.T
    across = (left <= x) & ((x < right) | (x == left))
    down = (top <= y) & ((y < bottom) | (y == top))
    return np.asarray(across & down)
