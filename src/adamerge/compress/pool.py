"""groups -> one vector each: (n, d) -> (m, d)."""

import numpy as np

from adamerge import arrays, kernels
from adamerge.arrays import ArrayLike, Floats, Ints
from adamerge.errors import BadInput, BadShape


def mean(vectors: ArrayLike, groups: ArrayLike, unit: bool = False) -> Floats:
    r"""The unweighted mean of each group.

        p_g = 1/|g| sum_{i in g} x_i

    vectors  (n, d)
    groups   (n,)    0 .. m-1, each at least once; -1 leaves a patch out
    unit     scale every centroid to length 1; a centroid of zero stays zero
    returns  (m, d)
    """
    rows, numbers = _matched(vectors, groups)
    return kernels.pool(rows, numbers, None, _count(numbers), unit)


def weighted(
    vectors: ArrayLike, groups: ArrayLike, attention: ArrayLike, unit: bool = False
) -> Floats:
    r"""The centroid of each group, weighted by attention.

        p_g = sum_{i in g} alpha_i x_i / sum_{i in g} alpha_i

    attention  (n,)  >= 0; a group without any gives its unweighted mean
    The rest as in mean().
    """
    rows, numbers = _matched(vectors, groups)
    weights = arrays.weights(attention, "attention")
    if len(weights) != len(rows):
        raise BadShape(
            f"attention must have one value per patch: {len(rows)} patches, shape {weights.shape}"
        )
    return kernels.pool(rows, numbers, weights, _count(numbers), unit)


def _matched(vectors: ArrayLike, groups: ArrayLike) -> tuple[Floats, Ints]:
    rows = arrays.floats(vectors, "vectors", rank=2)
    numbers = arrays.groups(groups)
    if len(numbers) != len(rows):
        raise BadShape(
            f"groups must have one number per patch: {len(rows)} patches, shape {numbers.shape}"
        )
    return rows, numbers


def _count(groups: Ints) -> int:
    sizes = np.bincount(groups + 1)[1:]
    if not len(sizes) or not sizes.all():
        raise BadInput("groups must be 0 .. m-1, each at least once, or -1 for a pruned patch")
    return len(sizes)
