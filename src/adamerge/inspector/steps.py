"""Method and page -> steps: what the method makes of the page at each k, and the tree all other cuts are read from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adamerge.arrays import Doubles, Ints
from adamerge.compress import (
    AdaMerge,
    DocPruner,
    Height,
    Identity,
    Method,
    PruneThenMerge,
    Random,
    SemCluster,
    cut,
)
from adamerge.compress.merge import link_kept, rule_of, weigh
from adamerge.types import Compressed, MultiVector, Tree

KS: tuple[float | None, ...] = (None, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5)
MERGING = AdaMerge, Height, PruneThenMerge, SemCluster
KNOWN = *MERGING, DocPruner, Identity, Random  # what others write may do as it likes


@dataclass(frozen=True, eq=False)
class Step:
    """A page under a method at one k.

    small  what the library makes of the page there
    tree   the merge tree of the n' survivors; None if the method cuts none
    """

    method: Method
    small: Compressed
    tree: Tree | None

    @property
    def kept(self) -> Ints:
        """The patches that were not pruned, in order: (n',)."""
        return np.flatnonzero(self.small.groups >= 0).astype(np.int32)

    @property
    def sequence(self) -> Doubles:
        """The merge-cosine sequence that the method cuts: (n'-1,), empty without a tree."""
        if self.tree is None:
            return np.zeros(0)
        if isinstance(self.method, Height):
            return cut.cosines(self.tree, "height")
        return cut.cosines(self.tree, getattr(self.method, "sequence", "raw"))


def take(page: MultiVector, method: Method) -> Step:
    """What a method makes of a page."""
    small = method(page)
    return Step(method, small, _tree(page, small, method))


def over_k(page: MultiVector, method: Method) -> Iterator[Step]:
    """The method at every k of KS and at its own, the lowest first; just its own if k means nothing to it here."""
    if not has_k(page, method):
        yield take(page, method)
        return
    own: Any = method
    ks = {own.k, *(k for k in KS if k is not None or not isinstance(method, DocPruner))}
    for k in sorted(ks, key=lambda k: -np.inf if k is None else k):
        yield take(page, replace(own, k=k))


def has_k(page: MultiVector, method: Method) -> bool:
    """Whether the page can be pruned at another k."""
    return (
        type(method) in (AdaMerge, Height, PruneThenMerge, DocPruner)
        and weigh(page, rule_of(method)).attention is not None
    )


def rule(step: Step) -> str:
    """How the method stops merging: cliff, floor, budget; "own" by a rule we do not know, "none" if it never merges."""
    if step.tree is None:
        return "none" if type(step.method) in KNOWN else "own"
    return step.method.cut if isinstance(step.method, AdaMerge) else "budget"


def floors(method: Method) -> list[float]:
    """The c_min a reader can choose from, the method's own among them; empty if it has none."""
    if type(method) is not AdaMerge:
        return []
    lowest = 0 if method.c_min >= 0 else -100
    return sorted({method.c_min, *(i / 100 for i in range(lowest, 101))})


def _tree(page: MultiVector, small: Compressed, method: Method) -> Tree | None:
    """Ward's tree of the survivors, for the methods that cut one; a test holds that its cut gives their groups."""
    if type(method) not in MERGING:
        return None
    return link_kept(page, small.groups >= 0, rule_of(method))
