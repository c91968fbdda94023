"""tree -> where to stop merging -> groups: Tree -> Cut -> (n,).

The sequence c_1 .. c_{n-1} holds one similarity per merge. Merges are made in its order; stopping after t of them
leaves n - t groups.
"""

from typing import Literal

import numpy as np

from adamerge import arrays, kernels
from adamerge.arrays import Doubles, Ints
from adamerge.errors import BadInput
from adamerge.types import Cut, Tree

CosineSequence = Literal["raw", "running-min", "height"]


def cosines(tree: Tree | Doubles, sequence: CosineSequence = "raw") -> Doubles:
    r"""The merge-cosine sequence of a tree: (n-1,). What is a sequence already comes back as it is.

    "raw"           c_t                       centroid cosines, as the paper prints them; a third of the steps rise
    "running-min"   min_{s <= t} c_s          centroid cosines made monotone
    "height"        1 - h_t^2 / 2             the cosine of two single patches at that height; monotone
    """
    if not isinstance(tree, Tree):
        return np.asarray(tree, np.float64)
    arrays.one_of(sequence, CosineSequence, "sequence")
    if sequence == "height":
        return 1 - tree.heights**2 / 2
    if sequence == "raw":
        return tree.cosines
    return np.minimum.accumulate(tree.cosines)


def cliff(tree: Tree | Doubles, c_min: float = 0.7, sequence: CosineSequence = "raw") -> Cut:
    r"""Stop before the widest drop that starts at or above the floor.

        t* = argmax_t  c_t - c_{t+1} ,   1 <= t <= n-2 ,   c_t >= c_min

    The first of equal drops wins. No such t, or fewer than three patches: no merge.
    """
    c = cosines(tree, sequence)
    above = c[:-1] >= _floor(c_min)
    if not above.any():
        return Cut()
    drops = np.where(above, c[:-1] - c[1:], -np.inf)
    return _after(c, int(drops.argmax()) + 1)


def floor(tree: Tree | Doubles, c_min: float = 0.7, sequence: CosineSequence = "raw") -> Cut:
    """Make every merge up to the last with c_t >= c_min, and look for no gap; fewer than three patches: no merge."""
    c = cosines(tree, sequence)
    above = np.flatnonzero(c >= _floor(c_min))
    if not len(above) or len(c) < 2:
        return Cut()
    return _after(c, int(above[-1]) + 1)


def budget(tree: Tree | Doubles, m: int, sequence: CosineSequence = "raw") -> Cut:
    """Merge until m groups are left; a tree of fewer patches stays as it is."""
    if not isinstance(m, int | np.integer) or m < 1:
        raise BadInput(f"a page needs a whole number of groups, at least one, got m={m}")
    c = cosines(tree, sequence)
    return _after(c, max(len(c) + 1 - int(m), 0))


def height(tree: Tree, h: float = 1.0) -> Cut:
    """Make every merge of a Ward height up to h; theta and gap are of the raw cosines.

    Heights rise, so the cut leaves groups that are more than h apart. No merge is that low: no merge.
    """
    if not isinstance(h, int | float | np.number) or not 0 < h < np.inf:
        raise BadInput(f"h is a Ward height, a number above 0, got {h}")
    merges = int(np.searchsorted(tree.heights, h, side="right"))
    return _after(cosines(tree, "raw"), merges)


def groups(tree: Tree, cut: Cut | int) -> Ints:
    """The group of every patch under a cut, or under a number of groups m: (n,), numbered by their first patch."""
    if not isinstance(cut, Cut):
        cut = budget(tree, cut)
    made = cut.merges
    if made >= len(tree):
        raise BadInput(
            f"a tree of {len(tree)} patches has {len(tree) - 1} merges, the cut wants {made}"
        )
    try:
        return kernels.groups(np.ascontiguousarray(tree.merges, np.int32), made)
    except ValueError as error:
        raise BadInput(f"the merges of a tree must be in SciPy's numbering: {error}") from None


def _after(c: Doubles, merges: int) -> Cut:
    """The cut after that many merges."""
    if merges == 0:
        return Cut()
    theta = float(c[merges - 1])
    if merges == len(c):
        return Cut(merges, theta)
    return Cut(merges, theta, gap=theta - float(c[merges]))


def _floor(c_min: float) -> float:
    if not isinstance(c_min, int | float | np.number) or not -1 <= c_min <= 1:
        raise BadInput(f"c_min is a cosine, -1 <= c_min <= 1, got {c_min}")
    return c_min
