"""What every result is held against: controls that give a method's size without its choices.

A control is written like a method, and what it is the control of in brackets: random(adamerge:k=none,c_min=0.6).

| control       | keeps                                                                                  |
|---------------|----------------------------------------------------------------------------------------|
| random(M)     | on each page as many patches as M stores, drawn without looking                         |
| merge-page(M) | on each page as many groups as M stores, of all patches: what M's pruning is worth      |
| merge-total(M)| M's survivors merged by one ratio for all pages, M's total or the nearest below          |
| height(M)     | M's survivors merged up to one Ward height for all pages, M's total                     |
| gaussian(M)   | M on pages without structure: a Gaussian of each page's mean and covariance; theta only |
| mean-vector   | one vector a page: the plain mean                                                       |
| bm25          | no vectors: words of the text layer                                                     |

Patches are linked, weighed and pooled by M's own rule (compress/merge.py), so a control differs from M in nothing but
what the table says.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from zlib import crc32

import numpy as np
from numpy.random import default_rng

from adamerge.arrays import Bools, Doubles, Ints
from adamerge.compress import cut, pool, prune
from adamerge.compress.merge import (
    as_compressed,
    keep_only,
    link_kept,
    merge_kept,
    rule_of,
    weigh,
)
from adamerge.compress.names import METHODS, Method, Name, method_of, read_name
from adamerge.errors import BadInput, UnknownName, did_you_mean
from adamerge.types import Compressed, Cut, MultiVector

Compressor = Callable[[MultiVector], Compressed]


@dataclass(frozen=True)
class Control:
    """A control, and the method whose size it takes, where it takes one."""

    name: str
    of: Method | None = None

    def __str__(self) -> str:
        """The control's name, which parse() reads back."""
        return self.name if self.of is None else f"{self.name}({self.of})"


def parse(text: str) -> Method | Control:
    """The method or control of a name."""
    name = read_name(text)
    known = sorted(CONTROLS.keys() | ALONE)
    if name.control in CONTROLS:
        return Control(name.control, _controlled(name))

    if name.control in ALONE:
        raise BadInput(f"'{text}': write {name.control} alone; controls are {', '.join(known)}")
    if name.control:
        guess = did_you_mean(name.control, known)
        raise UnknownName(f"no control '{name.control}'{guess}; controls are {', '.join(known)}")

    if str(name) in ALONE:
        return Control(name.method)
    if name.method in CONTROLS and name.method not in METHODS:
        raise BadInput(f"'{text}': write {name.method}(METHOD); controls are {', '.join(known)}")
    return method_of(name)


def _controlled(name: Name) -> Method:
    """The method that a name has in the brackets of its control."""
    try:
        return method_of(replace(name, control=""))
    except UnknownName as error:
        raise UnknownName(f"'{name}': {error}") from None


def compressor(entry: Method | Control, pages: Sequence[MultiVector]) -> Compressor:
    """What compresses a page: a method as it is, a control once it has seen the sizes of all pages."""
    if isinstance(entry, Method):
        return entry
    if entry.of is None:
        return _mean_vector
    make = CONTROLS[entry.name](entry.of, pages)
    return lambda page: replace(make(page), method=str(entry))


def _random(of: Method, pages: Sequence[MultiVector]) -> Compressor:
    def control(page: MultiVector) -> Compressed:
        share = len(of(page)) / len(page)
        keep = prune.at_random(len(page), share, [0, _seed(page)])
        return keep_only(page, keep, "")

    return control


def _merge_page(of: Method, pages: Sequence[MultiVector]) -> Compressor:
    def control(page: MultiVector) -> Compressed:
        every = np.ones(len(page), bool)
        return _merged(page, every, lambda _: len(of(page)), of)

    return control


def _merge_total(of: Method, pages: Sequence[MultiVector]) -> Compressor:
    groups = _groups(of, pages)
    survivors, stored = _sizes(groups)
    ratio = _ratio_of_total(survivors, int(stored.sum()))

    def control(page: MultiVector) -> Compressed:
        keep = groups[page.id] >= 0
        return _merged(page, keep, lambda heights: _divided(len(heights) + 1, ratio), of)

    return control


def _ratio_of_total(survivors: Ints, total: int) -> float:
    """The least ratio that leaves at most `total` groups of all pages together, by bisection."""
    low, high = 1.0, float(survivors.max())
    for _ in range(60):  # the number of groups falls with the ratio
        ratio = (low + high) / 2
        groups = sum(_divided(int(n), ratio) for n in survivors)
        if groups > total:
            low = ratio
        else:
            high = ratio
    return high


def _divided(n: int, ratio: float) -> int:
    return max(1, ceil(n / ratio))


def _height(of: Method, pages: Sequence[MultiVector]) -> Compressor:
    groups = _groups(of, pages)
    survivors, stored = _sizes(groups)
    merges = int((survivors - stored).sum())
    rule = rule_of(of)
    trees = [link_kept(page, groups[page.id] >= 0, rule) for page in pages]
    heights = np.sort(np.concatenate([tree.heights for tree in trees]))
    limit = heights[merges - 1] if merges else -1.0

    def control(page: MultiVector) -> Compressed:
        keep = groups[page.id] >= 0
        return _merged(page, keep, lambda h: len(h) + 1 - int((h <= limit).sum()), of)

    return control


def _gaussian(of: Method, pages: Sequence[MultiVector]) -> Compressor:
    return lambda page: of(structureless(page))


def structureless(page: MultiVector) -> MultiVector:
    r"""A page whose patches are drawn from a Gaussian with its mean and covariance.

    y_i = mu + 1/sqrt(n-1) sum_j z_ij (x_j - mu) ,   z_ij ~ N(0, 1)
    """
    n = len(page)
    mean = page.vectors.mean(axis=0)
    noise = default_rng([1, _seed(page)]).standard_normal((n, n), np.float32)
    return replace(page, vectors=mean + noise @ (page.vectors - mean) / max(n - 1, 1) ** 0.5)


def _mean_vector(page: MultiVector) -> Compressed:
    groups = np.zeros(len(page), np.int32)
    return as_compressed(page, pool.mean(page.vectors, groups), groups, Cut(), "mean-vector")


def _groups(of: Method, pages: Sequence[MultiVector]) -> dict[str, Ints]:
    """The groups that a method makes of each page, by its id."""
    return {page.id: of(page).groups for page in pages}


def _sizes(groups: Mapping[str, Ints]) -> tuple[Ints, Ints]:
    """Patches that a method leaves to merge, and groups that it stores, of each page."""
    return np.array([(g >= 0).sum() for g in groups.values()]), np.array(
        [g.max() + 1 for g in groups.values()]
    )


def _merged(
    page: MultiVector, keep: Bools, count: Callable[[Doubles], int], of: Method
) -> Compressed:
    """The survivors merged by the rule of `of`, to as many groups as `count` says of the tree's heights."""
    rule = rule_of(of)
    tree = link_kept(page, keep, rule)
    stop = cut.budget(tree, count(tree.heights))
    return merge_kept(weigh(page, rule), keep, tree, stop, rule, "")


def _seed(page: MultiVector) -> int:
    return crc32(page.id.encode())


CONTROLS: dict[str, Callable[[Method, Sequence[MultiVector]], Compressor]] = {
    "random": _random,
    "merge-page": _merge_page,
    "merge-total": _merge_total,
    "height": _height,
    "gaussian": _gaussian,
}
ALONE = {"mean-vector", "bm25"}  # controls of no method
