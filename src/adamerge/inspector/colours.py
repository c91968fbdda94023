"""Groups -> colours that no two neighbours share, at whatever cut.

Every node of the tree has one colour for life, so groups keep theirs while a cut moves. A node is coloured when it is
born, by a look at the nodes around it then: those are all that it can ever meet, but for later ones, which look at it.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from adamerge.arrays import Floats, Ints

PALETTE = 12  # colours the eye tells apart; more are made when that many neighbours meet
REACH = 0.45  # of a box: what is nearer than twice this is a neighbour


def neighbours(boxes: Floats) -> list[set[int]]:
    """The patches next to each patch, also across a corner or the space between two words: boxes (n, 4)."""
    sides = np.median(boxes[:, 2:] - boxes[:, :2], axis=0)
    reach = REACH * np.minimum(
        sides, sides.min() * 1.5
    )  # a word is long, the space after it is not
    low, high = boxes[:, :2] - reach, boxes[:, 2:] + reach
    near = (((low[i] < high) & (high[i] > low)).all(axis=1) for i in range(len(boxes)))
    return [set(np.flatnonzero(touch).tolist()) - {i} for i, touch in enumerate(near)]


def of_nodes(near: Sequence[set[int]], merges: Ints) -> Ints:
    """A colour per node of a tree of n patches: neighbours of each (n), merges (t, 2) -> (n + t,).

    A merge keeps the colour of its larger part if it can, else of the other, else takes the rarest one that is free.
    """
    around, sizes = [set(some) for some in near], [1] * len(near)
    colours: list[int] = []
    used: Counter[int] = Counter()
    for i, some in enumerate(near):
        colours.append(_free({colours[j] for j in some if j < i}, used))
    for a, b in merges.tolist():
        met = _join(around, a, b)
        taken = {colours[j] for j in met}
        wanted = [colours[node] for node in sorted((a, b), key=lambda node: -sizes[node])]
        colours.append(next((c for c in wanted if c not in taken), -1))
        if colours[-1] < 0:
            colours[-1] = _free(taken, used)
        sizes.append(sizes[a] + sizes[b])
    return np.array(colours, np.int32)


def of_groups(near: Sequence[set[int]], groups: Ints) -> Ints:
    """A colour per group, where there is no tree: neighbours of each patch, groups (n,) -> (m,)."""
    met: list[set[int]] = [set() for _ in range(int(groups.max()) + 1)]
    for i, some in enumerate(near):
        if groups[i] >= 0:
            met[groups[i]] |= {int(groups[j]) for j in some} - {-1, int(groups[i])}
    return of_nodes(met, np.zeros((0, 2), np.int32))


def _join(around: list[set[int]], a: int, b: int) -> set[int]:
    """Put one node in the place of two; returns the nodes around it."""
    new, met = len(around), (around[a] | around[b]) - {a, b}
    for j in met:
        around[j] -= {a, b}
        around[j].add(new)
    around.append(met)
    return met


def _free(taken: set[int], used: Counter[int]) -> int:
    """The rarest colour of the palette that is not taken, or the first one beyond it."""
    free = [c for c in range(PALETTE) if c not in taken]
    beyond = PALETTE
    while beyond in taken:
        beyond += 1
    colour = min(free, key=lambda c: used[c]) if free else beyond
    used[colour] += 1
    return colour
