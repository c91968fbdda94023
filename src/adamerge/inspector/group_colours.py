"""Groups -> colours that no two neighbours share, at any cut.

Every node of the tree has one colour, so a group keeps its colour while the cut moves. A node gets its colour when it
is made, from the nodes around it at that time. Any node that it meets later is made later, and looks at this one then.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from adamerge.arrays import Floats, Ints
from adamerge.geometry import sides

PALETTE = 12  # colours that the eye tells apart; a node with that many neighbours gets another one
REACH = 0.45  # of a box: two boxes are neighbours if the space between them is less than twice this
LONGEST = (
    1.5  # a word is long, but the space after it is not: count at most so many times its height
)


def neighbours(boxes: Floats) -> list[set[int]]:
    """The patches next to each patch, also across a corner or the space between two words: boxes (n, 4)."""
    size = np.median(sides(boxes), axis=0)
    reach = REACH * np.minimum(size, size.min() * LONGEST)
    low = boxes[:, :2] - reach
    high = boxes[:, 2:] + reach

    near = []
    for i in range(len(boxes)):
        touches = ((low[i] < high) & (high[i] > low)).all(axis=1)
        touches[i] = False
        near.append(set(np.flatnonzero(touches).tolist()))
    return near


def node_colours(near: Sequence[set[int]], merges: Ints) -> Ints:
    """A colour for each node of a tree of n patches: neighbours of each (n), merges (t, 2) -> (n + t,).

    A merge keeps the colour of its larger part if none of its neighbours has it, else that of the smaller part. If
    both are taken it gets the free colour that is used least.
    """
    around = [set(patches) for patches in near]
    sizes = [1] * len(near)
    colours: list[int] = []
    used: Counter[int] = Counter()

    for patch, patches in enumerate(near):
        taken = {colours[j] for j in patches if j < patch}
        colours.append(_least_used(taken, used))

    for a, b in merges.tolist():
        larger, smaller = (a, b) if sizes[a] >= sizes[b] else (b, a)
        taken = {colours[j] for j in _join(around, a, b)}
        if colours[larger] not in taken:
            colours.append(colours[larger])
        elif colours[smaller] not in taken:
            colours.append(colours[smaller])
        else:
            colours.append(_least_used(taken, used))
        sizes.append(sizes[a] + sizes[b])
    return np.array(colours, np.int32)


def group_colours(near: Sequence[set[int]], groups: Ints) -> Ints:
    """A colour for each group, where there is no tree: neighbours of each patch, groups (n,) -> (m,)."""
    met: list[set[int]] = [set() for _ in range(int(groups.max()) + 1)]
    for patch, patches in enumerate(near):
        group = int(groups[patch])
        if group >= 0:
            met[group] |= {int(groups[j]) for j in patches} - {-1, group}
    return node_colours(met, np.zeros((0, 2), np.int32))


def _join(around: list[set[int]], a: int, b: int) -> set[int]:
    """Put one new node in the place of two; returns the nodes around it."""
    new = len(around)
    met = (around[a] | around[b]) - {a, b}
    for j in met:
        around[j] -= {a, b}
        around[j].add(new)
    around.append(met)
    return met


def _least_used(taken: set[int], used: Counter[int]) -> int:
    """The colour of the palette that is not taken and used least, or the first free one beyond the palette."""
    free = [colour for colour in range(PALETTE) if colour not in taken]
    if free:
        colour = min(free, key=lambda colour: used[colour])
    else:
        colour = PALETTE
        while colour in taken:
            colour += 1
    used[colour] += 1
    return colour
