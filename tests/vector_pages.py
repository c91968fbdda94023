"""Pages for tests of vectors on disk."""

import numpy as np
from conftest import random_page

import adamerge as am


def full_page(n, id, d=8, e=2):
    """A page with everything a page can have."""
    page = random_page(n, d)
    boxes = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
    return am.MultiVector(page.vectors, page.attention, page.vectors[:e], (1, n), boxes, id)
