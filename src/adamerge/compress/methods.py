"""The paper's method and all it is compared with. Each is a choice of stages, one line a stage.

|                | prune        | link | cut                  | pool                  |
|----------------|--------------|------|----------------------|-----------------------|
| Identity       |              |      |                      |                       |
| Random         | at random    |      |                      |                       |
| DocPruner      | by attention |      |                      |                       |
| SemCluster     |              | Ward | n/m groups           | mean                  |
| PruneThenMerge | by attention | Ward | n'/m groups          | mean, or by attention |
| AdaMerge       | by attention | Ward | the page's own cliff | by attention, or mean |
| Height         | if k is given| Ward | one height for all   | by attention, or mean |
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal
from zlib import crc32

import numpy as np

from adamerge.arrays import Bools
from adamerge.compress import cut, prune
from adamerge.compress.cut import CosineSequence
from adamerge.compress.link import Linkage
from adamerge.compress.merge import (
    Importance,
    MergeRule,
    Pool,
    keep_only,
    link_kept,
    merge_kept,
    rule_of,
    weigh,
)
from adamerge.compress.names import Method
from adamerge.compress.prune import Stats
from adamerge.errors import BadInput
from adamerge.types import Compressed, MultiVector

Rounding = Literal["ceil", "floor"]
SMALLEST = 1e-4  # height that height_at() tells apart


@dataclass(frozen=True)
class Identity(Method, names={"identity": {}}):
    """Keep every patch as it is."""

    def __call__(self, page: MultiVector) -> Compressed:
        """Every patch is its own group."""
        return keep_only(page, _all(page), str(self))


@dataclass(frozen=True)
class Random(Method, names={"random": {}}):
    """Keep a share of the patches, drawn without looking; pages of other ids draw other patches."""

    keep: float = 0.5
    seed: int = 0

    shown: ClassVar = ("keep", "seed")

    def __post_init__(self) -> None:
        """Check that keep is a share and seed a seed."""
        super().__post_init__()
        _require(0 < self.keep <= 1, f"keep is a share, 0 < keep <= 1, got {self.keep}")
        _require(self.seed >= 0, f"seed must not be negative, got {self.seed}")

    def __call__(self, page: MultiVector) -> Compressed:
        """Keep max(1, round(keep n)) patches."""
        seed = [self.seed, crc32(page.id.encode())]
        keep = prune.at_random(len(page), self.keep, seed)
        return keep_only(page, keep, str(self))


@dataclass(frozen=True)
class DocPruner(Method, names={"docpruner": {}}):
    """Keep the patches that the end token attends to (Yan et al., 2025)."""

    k: float = -0.25
    stats: Stats = "iqr"
    importance: Importance = "attention"

    shown: ClassVar = ("k",)

    def __call__(self, page: MultiVector) -> Compressed:
        """Keep the patches above mu + k sigma."""
        page = weigh(page, rule_of(self))
        keep = _survivors(page, self.k, self.stats)
        return keep_only(page, keep, str(self))


@dataclass(frozen=True)
class SemCluster(Method, names={"sem-cluster": {}}):
    """Merge alike patches to one in m (Ma et al., 2025); `linkage` and `rounding` have the variants of others."""

    m: float = 4.0
    linkage: Linkage = "euclidean"
    rounding: Rounding = "ceil"
    unit: bool = False

    shown: ClassVar = ("m",)

    def __post_init__(self) -> None:
        """Check that m merges."""
        super().__post_init__()
        _require(self.m >= 1, f"m must be at least 1, got {self.m}")

    def __call__(self, page: MultiVector) -> Compressed:
        """Leave n/m groups, each its mean."""
        rule = rule_of(self)
        keep = _all(page)
        tree = link_kept(page, keep, rule)
        stop = cut.budget(tree, _count(len(tree), self.m, self.rounding))
        return merge_kept(page, keep, tree, stop, rule, str(self))


@dataclass(frozen=True)
class PruneThenMerge(Method, names={"ptm": {"pool": "mean"}, "ptm-attn": {"pool": "attention"}}):
    """Prune by attention, then merge what is left to one in m (Yan et al., 2026)."""

    k: float | None = -0.25
    m: float = 4.0
    pool: Pool = "mean"
    stats: Stats = "iqr"
    rounding: Rounding = "ceil"
    unit: bool = False
    importance: Importance = "attention"

    shown: ClassVar = ("k", "m")

    def __post_init__(self) -> None:
        """Check that m merges."""
        super().__post_init__()
        _require(self.m >= 1, f"m must be at least 1, got {self.m}")

    def __call__(self, page: MultiVector) -> Compressed:
        """Leave n'/m groups of the n' survivors."""
        rule = rule_of(self)
        page = weigh(page, rule)
        keep = _survivors(page, self.k, self.stats)
        tree = link_kept(page, keep, rule)
        stop = cut.budget(tree, _count(len(tree), self.m, self.rounding))
        return merge_kept(page, keep, tree, stop, rule, str(self))


@dataclass(frozen=True)
class AdaMerge(
    Method, names={"adamerge": {"pool": "attention"}, "adamerge-mean": {"pool": "mean"}}
):
    """Prune by attention, cut the merge tree at the page's own cliff, pool by attention: the paper.

    `cut="floor"` makes every merge above c_min and looks for no cliff: the control.
    """

    k: float | None = -0.25
    c_min: float = 0.7
    pool: Pool = "attention"
    cut: Literal["cliff", "floor"] = "cliff"
    sequence: CosineSequence = "raw"
    stats: Stats = "iqr"
    unit: bool = False
    importance: Importance = "attention"

    shown: ClassVar = ("k", "c_min")

    def __post_init__(self) -> None:
        """Check that c_min is a cosine."""
        super().__post_init__()
        _require(-1 <= self.c_min <= 1, f"c_min is a cosine, -1 <= c_min <= 1, got {self.c_min}")

    def __call__(self, page: MultiVector) -> Compressed:
        """Prune, link, cut, pool."""
        rule = rule_of(self)
        page = weigh(page, rule)
        keep = _survivors(page, self.k, self.stats)
        tree = link_kept(page, keep, rule)
        if self.cut == "cliff":
            stop = cut.cliff(tree, self.c_min, self.sequence)
        else:
            stop = cut.floor(tree, self.c_min, self.sequence)
        return merge_kept(page, keep, tree, stop, rule, str(self))


@dataclass(frozen=True)
class Height(Method, names={"height": {}}):
    """Merge up to one Ward height on every page: ours, not the paper's.

    Two single patches of unit length are h apart at a cosine of 1 - h²/2, so h = 1 is a cosine of 0.5. Dense pages
    keep more groups than empty ones. It needs no attention: `k` prunes by it first, and a page that has it is pooled
    by it unless `pool` is "mean".
    """

    h: float = 1.0
    k: float | None = None
    pool: Pool = "attention"
    stats: Stats = "iqr"
    unit: bool = True
    importance: Importance = "attention"

    shown: ClassVar = ("h",)

    def __post_init__(self) -> None:
        """Check that h is a height."""
        super().__post_init__()
        _require(self.h > 0, f"h is a Ward height, a number above 0, got {self.h}")

    def __call__(self, page: MultiVector) -> Compressed:
        """Prune if k is given, link, cut at the height, pool."""
        rule = rule_of(self)
        page = weigh(page, rule)
        keep = _survivors(page, self.k, self.stats)
        tree = link_kept(page, keep, rule)
        stop = cut.height(tree, self.h)
        return merge_kept(page, keep, tree, stop, rule, str(self))


def height_at(pages: Iterable[MultiVector], compression: float, k: float | None = None) -> float:
    """The lowest h, to four digits, at which Height(h, k) compresses these pages together by `compression` or more.

    compression  1 - stored patches / patches, over all pages; what is pruned at k counts too
    """
    _require(0 <= compression < 1, f"compression is a share, 0 <= c < 1, got {compression}")
    patches = 0
    removed = 0
    heights = [np.zeros(0)]
    for page in pages:
        keep = _survivors(page, k, "iqr")
        patches += len(page)
        removed += len(page) - int(keep.sum())
        heights.append(link_kept(page, keep, MergeRule()).heights)
    _require(patches > 0, "height_at needs at least one page")

    rising = np.sort(np.concatenate(heights))
    merges = math.ceil(compression * patches - removed - 1e-9)
    most = (removed + len(rising)) / patches
    _require(
        merges <= len(rising),
        f"a vector a page stays, so these pages compress by {most:.4f} at most, not by {compression}",
    )
    if merges <= 0:
        return SMALLEST
    needed = float(rising[merges - 1])
    return round(max(SMALLEST, math.ceil(needed / SMALLEST) * SMALLEST), 4)


def _all(page: MultiVector) -> Bools:
    return np.ones(len(page), bool)


def _survivors(page: MultiVector, k: float | None, stats: Stats) -> Bools:
    if k is None:
        return _all(page)
    if page.attention is None:
        raise BadInput(
            f"pruning at k={k:g} needs the attention of each patch, and the page has none: "
            f"use the method 'height', which needs none, or pass attention=, "
            f"or skip pruning by k=None (k=none in a name)"
        )
    return prune.by_attention(page.attention, k, stats)


def _count(n: int, m: float, rounding: Rounding) -> int:
    """max(1, n/m), rounded; 21/1.4 is 15, though not in floating point."""
    if rounding == "ceil":
        return max(1, math.ceil(n / m - 1e-9))
    return max(1, math.floor(n / m + 1e-9))


def _require(true: bool, message: str) -> None:
    if not true:
        raise BadInput(message)
