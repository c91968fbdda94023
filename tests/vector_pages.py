"""Pages for tests of vectors on disk."""

import numpy as np
from conftest import random_page

import adamerge as am
from adamerge.vectors import Writer


def full_page(n, id, d=8, e=2):
    """A page with everything a page can have."""
    page = random_page(n, d)
    boxes = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
    return am.MultiVector(page.vectors, page.attention, page.vectors[:e], (1, n), boxes, id)


def write_in_shards(folder, pages, pages_per_shard):
    """A folder of vectors, so many pages to a shard."""
    with Writer(folder) as out:
        for number, page in enumerate(pages, 1):
            out.add(page)
            if number % pages_per_shard == 0:
                out.end_shard()
    return folder
