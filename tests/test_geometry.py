"""Where things lie on a page: cells, middles, and which box contains a point."""

import numpy as np
import pytest

from adamerge import geometry


def test_cells_of_a_grid_cover_the_page_row_by_row():
    boxes = geometry.cells(2, 4)
    np.testing.assert_array_equal(boxes[0], [0, 0, 0.25, 0.5])
    np.testing.assert_array_equal(boxes[5], [0.25, 0.5, 0.5, 1])
    assert geometry.sides(boxes).prod(axis=1).sum() == 1


def test_the_middle_of_a_box_is_halfway_between_its_sides():
    boxes = geometry.as_boxes([(0, 0, 1, 0.5), (0.25, 0.5, 0.75, 1)])
    np.testing.assert_array_equal(geometry.middles(boxes), [[0.5, 0.25], [0.5, 0.75]])


def test_no_boxes_are_an_array_without_rows():
    boxes = geometry.as_boxes([])
    assert boxes.shape == (0, 4)
    assert geometry.middles(boxes).shape == (0, 2)
    assert geometry.contains(boxes, geometry.middles(geometry.cells(2, 2))).shape == (0, 4)


def test_every_point_of_a_page_lies_in_one_cell():
    boxes = geometry.cells(4, 4)
    along = np.arange(0, 1, 1 / 16, dtype=np.float32)  # every fourth on a line between two cells
    points = np.array([(x, y) for x in along for y in along], np.float32)
    np.testing.assert_array_equal(geometry.contains(boxes, points).sum(axis=0), 1)


@pytest.mark.parametrize("box", [(0.5, 0, 0.5, 1), (0, 0.5, 1, 0.5), (0.5, 0.5, 0.5, 0.5)])
def test_a_box_without_width_or_height_contains_its_own_middle(box):
    boxes = geometry.as_boxes([box])
    assert geometry.contains(boxes, geometry.middles(boxes)).all()
