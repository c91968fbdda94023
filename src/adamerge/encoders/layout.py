"""Where each patch lies on the page, read from what the processor made of it and never from what it says it will make.

ColQwen                    row by row, image_grid_thw of the batch over merge_size
ColIdefics3, ColModernVBert tile by tile, from the <row_r_col_c> tokens; then one thumbnail of the whole page
ColPali                    a square: the page is squashed to it
"""

import math
import re
from typing import Any

import numpy as np

from adamerge.arrays import Floats
from adamerge.errors import BadInput
from adamerge.geometry import cells

Layout = tuple[
    tuple[int, int] | None, Floats
]  # grid (rows, columns) if the patches fill one, boxes (n, 4)


def patch_layout(processor: Any, batch: Any, i: int, n: int) -> Layout:
    """Grid and boxes of the n patches of page i of a batch."""
    grid: tuple[int, int] | None
    if "image_grid_thw" in batch:
        _, height, width = batch["image_grid_thw"][i].tolist()
        merge = processor.image_processor.merge_size
        grid, boxes = (height // merge, width // merge), cells(height // merge, width // merge)
    elif "pixel_attention_mask" in batch:
        grid, boxes = _tiles(processor, batch["input_ids"][i], n)
    else:
        grid, boxes = (math.isqrt(n), math.isqrt(n)), cells(math.isqrt(n), math.isqrt(n))
    if len(boxes) != n:
        raise BadInput(
            f"the processor made {n} patches of page {i}, its layout has {len(boxes)}: another version of it?"
        )
    return (grid if grid and grid[0] * grid[1] == n else None), boxes


def _tiles(processor: Any, ids: Any, n: int) -> tuple[tuple[int, int] | None, Floats]:
    names = processor.tokenizer.convert_ids_to_tokens(ids.tolist())
    found = [match for name in names if (match := re.fullmatch(r"<row_(\d+)_col_(\d+)>", name))]
    rows, columns = (max((int(match[k]) for match in found), default=0) for k in (1, 2))
    side = math.isqrt(n // (rows * columns + 1))
    grid = (
        cells(rows * side, columns * side).reshape(rows * side, columns * side, 4)
        if rows
        else cells(0, 1)
    )
    tiles = [
        grid[r * side : (r + 1) * side, c * side : (c + 1) * side].reshape(-1, 4)
        for r in range(rows)
        for c in range(columns)
    ]
    return None if rows else (side, side), np.concatenate([*tiles, cells(side, side)])
