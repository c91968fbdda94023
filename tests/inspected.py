"""Pages, pictures and queries to inspect."""

import numpy as np
from conftest import random_page
from PIL import Image, ImageDraw

from adamerge.inspector import Query

GRID = (8, 9)


def picture():
    image = Image.new("RGB", (450, 400), "white")
    draw = ImageDraw.Draw(image)
    for y in range(20, 380, 24):
        draw.text((30, y), "Revenue by region, north and south", fill="black", font_size=20)
    return image


def grid_page(**fields):
    return random_page(GRID[0] * GRID[1], grid=GRID, id="report.pdf#3", **fields)


def queries(page, count=2):
    rng = np.random.default_rng(5)
    vectors = [
        page.vectors[i * 7 : i * 7 + 3] + 0.3 * rng.normal(size=(3, page.vectors.shape[1]))
        for i in range(count)
    ]
    return [Query(f"query {i}", v, ["revenue", "by", "region"]) for i, v in enumerate(vectors)]
