"""Page and method -> the method at each k that a reader can choose, each with the merge tree that it cuts."""

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
    MethodInDtype,
    PruneThenMerge,
    Random,
    SemCluster,
    cut,
)
from adamerge.compress.merge import link_kept, rule_of, weigh
from adamerge.compress.names import in_dtype
from adamerge.types import Compressed, MultiVector, Tree

KS: tuple[float | None, ...] = (None, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5)
WITH_K = AdaMerge, Height, PruneThenMerge, DocPruner
MERGING = AdaMerge, Height, PruneThenMerge, SemCluster
KNOWN = *MERGING, DocPruner, Identity, Random  # a method of somebody else may follow any rule


@dataclass(frozen=True, eq=False)
class Step:
    """A page under a method at one k.

    dtype  in which its vectors are kept, where the method's name says one; else ""
    small  what the method makes of the page
    tree   the merge tree of the n' survivors; None if the method does not cut one
    """

    method: Method
    dtype: str
    small: Compressed
    tree: Tree | None

    @property
    def name(self) -> str:
        """The name of the method, with its dtype."""
        if self.dtype:
            return str(MethodInDtype(self.method, self.dtype))
        return str(self.method)

    @property
    def kept(self) -> Ints:
        """The patches that were not pruned, in order: (n',)."""
        return np.flatnonzero(self.small.groups >= 0).astype(np.int32)

    @property
    def cosines(self) -> Doubles:
        """The cosine of each merge of the tree: (n'-1,), empty without a tree."""
        if self.tree is None:
            return np.zeros(0)
        return self.tree.cosines

    @property
    def sequence(self) -> Doubles:
        """The merge-cosine sequence that the method cuts: (n'-1,), empty without a tree."""
        if self.tree is None:
            return np.zeros(0)
        if isinstance(self.method, Height):
            return cut.cosines(self.tree, "height")
        return cut.cosines(self.tree, getattr(self.method, "sequence", "raw"))


def make_step(page: MultiVector, method: Method, dtype: str = "") -> Step:
    """What a method makes of a page."""
    small = method(page)
    if dtype:
        small = in_dtype(small, dtype)
    return Step(method, dtype, small, _tree(page, small, method))


def sweep_k(page: MultiVector, method: Method, dtype: str = "") -> Iterator[Step]:
    """The method at every k of KS and at its own, the lowest first; only its own where it cannot have another k."""
    if not has_k(page, method):
        yield make_step(page, method, dtype)
        return
    own: Any = method
    ks = {own.k, *KS}
    if isinstance(method, DocPruner):
        ks.remove(None)  # it prunes and does nothing else
    for k in sorted(ks, key=_none_first):
        yield make_step(page, replace(own, k=k), dtype)


def has_k(page: MultiVector, method: Method) -> bool:
    """Whether the page can be pruned at another k."""
    if type(method) not in WITH_K:
        return False
    return weigh(page, rule_of(method)).attention is not None


def stop_rule(step: Step) -> str:
    """How the method stops merging.

    cliff, floor  of AdaMerge
    budget        a number of groups, or a height
    none          the method never merges
    own           the method is not ours: its rule is not known
    """
    if isinstance(step.method, AdaMerge) and step.tree is not None:
        return step.method.cut
    if step.tree is not None:
        return "budget"
    return "none" if type(step.method) in KNOWN else "own"


def floor_choices(method: Method) -> list[float]:
    """Each c_min that a reader can choose, the method's own among them; empty if the method has none."""
    if type(method) is not AdaMerge:
        return []
    lowest = 0 if method.c_min >= 0 else -100
    hundredths = {i / 100 for i in range(lowest, 101)}
    return sorted(hundredths | {method.c_min})


def _tree(page: MultiVector, small: Compressed, method: Method) -> Tree | None:
    """Ward's tree of the survivors, for methods that cut one. Tests check that its cut gives the method's groups."""
    if type(method) not in MERGING:
        return None
    return link_kept(page, small.groups >= 0, rule_of(method))


def _none_first(k: float | None) -> float:
    if k is None:
        return -np.inf
    return k
