"""A merge tree -> figures of each of its nodes: patches first, then merges in order."""

import numpy as np

from adamerge.arrays import Doubles, Floats, Ints
from adamerge.types import Tree


def mean_cosines(tree: Tree, vectors: Floats) -> Doubles:
    r"""The mean cosine between the patches of each node.

        (|sum_i u_i|^2 - s) / (s (s - 1)) ,   u_i = x_i / |x_i| ,   s patches

    vectors (n, d) -> (2n-1,), 1 for a single patch
    """
    unit = vectors / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    squared = np.square(_sums(tree, unit)).sum(axis=1)
    size = sizes(tree)
    pairs = np.maximum(size * (size - 1), 1)
    return np.where(size == 1, 1.0, (squared - size) / pairs)


def pooled_lengths(tree: Tree, vectors: Floats, weights: Floats | None) -> Doubles:
    """The length of each node's pooled vector before it is scaled to 1: (n, d) -> (2n-1,).

    A node without weight, or without weights, is pooled by the plain mean.
    """
    rows = vectors.astype(np.float64)
    pooled = _sums(tree, rows) / sizes(tree)[:, None]
    if weights is not None:
        weight = weights.astype(np.float64)[:, None]
        total = _sums(tree, weight)
        weighted = _sums(tree, rows * weight) / np.where(total > 0, total, 1)
        pooled = np.where(total > 0, weighted, pooled)
    return np.asarray(np.linalg.norm(pooled, axis=1))


def sizes(tree: Tree) -> Ints:
    """Patches of each node: (2n-1,)."""
    ones = np.ones((len(tree), 1))
    return _sums(tree, ones)[:, 0].astype(np.int32)


def _sums(tree: Tree, rows: Doubles) -> Doubles:
    """The sum of each node's rows: (n, d) -> (2n-1, d)."""
    n = len(rows)
    sums = np.zeros((2 * n - 1, rows.shape[1]))
    sums[:n] = rows
    for t, (a, b) in enumerate(tree.merges.tolist()):
        sums[n + t] = sums[a] + sums[b]
    return sums
