"""What tests of trees share."""

import numpy as np


def unit(vectors):
    """Rows of length one, in float64."""
    vectors = vectors.astype(np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def partitions(merges):
    """The group that every merge makes, in order: two trees with equal lists have equal groups at every level."""
    n = len(merges) + 1
    nodes, made = {i: frozenset([i]) for i in range(n)}, []
    for t, (a, b) in enumerate(merges):
        nodes[n + t] = nodes.pop(int(a)) | nodes.pop(int(b))
        made.append(nodes[n + t])
    return made
