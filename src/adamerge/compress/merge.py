"""The steps that methods, their controls and the inspector share: weigh, keep, link, merge.

What a method merges by is a MergeRule. A control takes the rule of the method that it is the control of, so the two
differ in nothing but where pages are cut.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from adamerge.arrays import Bools, Floats, Ints
from adamerge.compress import cut, link, pool, prune
from adamerge.compress.link import Linkage
from adamerge.types import Compressed, Cut, MultiVector, Tree

Pool = Literal["attention", "mean"]
Importance = Literal["attention", "density"]  # of the encoder; or from the vectors alone


@dataclass(frozen=True)
class MergeRule:
    """How survivors become groups, wherever the cut is.

    linkage     what Ward is run on, as in link.ward
    pool        "mean": a group is the unweighted mean of its patches; "attention": weighted by importance
    importance  what weighs a patch: the encoder's attention, or the inverse density of its vector
    unit        whether groups are scaled to unit length
    """

    linkage: Linkage = "euclidean"
    pool: Pool = "mean"
    importance: Importance = "attention"
    unit: bool = False


def rule_of(method: Any) -> MergeRule:
    """The rule of a method: its options of these names; what it has no option for has the default."""
    chosen: dict[str, Any] = {}
    for option in fields(MergeRule):
        if hasattr(method, option.name):
            chosen[option.name] = getattr(method, option.name)
    return MergeRule(**chosen)


def weigh(page: MultiVector, rule: MergeRule) -> MultiVector:
    """The page with the importance of the rule as its attention: it may have none."""
    if rule.importance != "density":
        return page
    return replace(page, attention=prune.inverse_density(page.vectors))


def link_kept(page: MultiVector, keep: Bools, rule: MergeRule) -> Tree:
    """The merge tree of the patches that `keep` (n,) leaves: n' of them."""
    if keep.all():
        return link.ward(page.vectors, rule.linkage)  # a copy would cost as much as the checks
    return link.ward(page.vectors[keep], rule.linkage)


def pooling_weights(page: MultiVector, rule: MergeRule) -> Floats | None:
    """The weight of every patch in its group (n,); None for an unweighted mean, as of a page without attention."""
    if rule.pool == "mean":
        return None
    return page.attention


def merge_kept(
    page: MultiVector, keep: Bools, tree: Tree, stop: Cut, rule: MergeRule, method: str
) -> Compressed:
    """The page with its tree cut at `stop` and every group pooled to one vector.

    page    as weigh() gives it
    keep    (n,)  the patches of the tree, in its order; the others are pruned
    method  the name of what compresses the page
    """
    groups: Ints = np.full(len(page), -1, np.int32)
    groups[keep] = cut.groups(tree, stop)

    weights = pooling_weights(page, rule)
    if weights is None:
        vectors = pool.mean(page.vectors, groups, rule.unit)
    else:
        vectors = pool.weighted(page.vectors, groups, weights, rule.unit)
    return as_compressed(page, vectors, groups, stop, method)


def keep_only(page: MultiVector, keep: Bools, method: str) -> Compressed:
    """The page with the patches that `keep` (n,) leaves, each a group of its own."""
    groups = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    return as_compressed(page, page.vectors[keep], groups, Cut(), method)


def as_compressed(
    page: MultiVector, vectors: Floats, groups: Ints, stop: Cut, method: str
) -> Compressed:
    """What is stored of a page: its groups (m, d), and its extra rows and places as they were."""
    return Compressed(vectors, groups, page.extra, stop, method, page.grid, page.boxes, page.id)
