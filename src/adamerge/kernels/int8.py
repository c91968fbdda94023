"""Vectors in a byte a number. NumPy does this as fast as memory allows, so there is no native twin."""

import numpy as np

from adamerge.arrays import Bytes, Floats

BLOCK = 4096  # rows at a time: what lies between the steps stays in the cache


def quantise(vectors: Floats) -> tuple[Bytes, Floats]:
    """Rows as int8 (rows, d) and their scales (rows,): a row is about scale * int8, scale = max|x| / 127.

    Rounded to nearest, halves to even. A row of zeros, or too small for its scale to be a float32, has scale 0.
    """
    values = np.zeros(vectors.shape, np.int8)
    scales = np.zeros(len(vectors), np.float32)
    for at in range(0, len(vectors), BLOCK):
        rows = vectors[at : at + BLOCK]
        scale = np.abs(rows).max(axis=1, initial=0) / np.float32(127)
        scales[at : at + BLOCK] = scale
        steps = np.divide(rows, scale[:, None], where=scale[:, None] > 0, out=np.zeros_like(rows))
        values[at : at + BLOCK] = np.clip(np.rint(steps, out=steps), -127, 127, out=steps)
    return values, scales
