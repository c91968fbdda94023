"""What every method is compared with: controls that have a method's size without its choices.

A control is written like a method, with the method M in brackets: random(adamerge:k=none,c_min=0.6).

| control       | keeps                                                                                  |
|---------------|----------------------------------------------------------------------------------------|
| random(M)     | on each page as many patches as M stores, drawn at random                              |
| merge-page(M) | on each page as many groups as M stores, of all patches, without pruning               |
| merge-total(M)| M's survivors merged by one ratio for all pages, to M's total or the nearest below     |
| height(M)     | M's survivors merged up to one Ward height for all pages, to M's total                 |
| gaussian(M)   | M on pages without structure: a Gaussian of each page's mean and covariance; theta only |
| mean-vector   | one vector a page: the plain mean                                                      |
| bm25          | no vectors: words of the text layer                                                    |

Patches are linked, weighed and pooled by M's own rule (compress/merge.py), so a control differs from M only in what the
table says.
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
from adamerge.compress.names import (
    METHODS,
    Method,
    MethodInDtype,
    Name,
    method_of,
    parse_method,
    read_name,
)
from adamerge.errors import BadInput, UnknownName, did_you_mean
from adamerge.types import Compressed, Cut, MultiVector

Compressor = Callable[[MultiVector], Compressed]
GroupCount = Callable[[Doubles], int]  # heights of a tree -> how many groups to leave


@dataclass(frozen=True)
class Control:
    """A control, and the method whose size it takes, where it takes one."""

    name: str
    of: Method | None = None

    def __str__(self) -> str:
        """The name of the control, which parse_method_or_control() reads back."""
        if self.of is None:
            return self.name
        return f"{self.name}({self.of})"


MethodOrControl = Method | MethodInDtype | Control


def parse_method_or_control(text: str) -> MethodOrControl:
    """The method or control of a name."""
    name = read_name(text)
    if name.dtype and (name.control or name.method in ALONE):
        raise BadInput(f"'{text}': a dtype stands after a method, not after a control")
    known = ", ".join(sorted(CONTROLS.keys() | ALONE))
    if name.control in CONTROLS:
        return Control(name.control, _method_in_brackets(name))

    if name.control in ALONE:
        raise BadInput(f"'{text}': write {name.control} alone; controls are {known}")
    if name.control:
        guess = did_you_mean(name.control, sorted(CONTROLS.keys() | ALONE))
        raise UnknownName(f"no control '{name.control}'{guess}; controls are {known}")

    if str(name) in ALONE:
        return Control(name.method)
    if name.method in CONTROLS and name.method not in METHODS:
        raise BadInput(f"'{text}': write {name.method}(METHOD); controls are {known}")
    return parse_method(text)


def _method_in_brackets(name: Name) -> Method:
    try:
        return method_of(replace(name, control=""))
    except UnknownName as error:
        raise UnknownName(f"'{name}': {error}") from None


def compressor(entry: MethodOrControl, pages: Sequence[MultiVector]) -> Compressor:
    """What compresses a page: a method as it is, a control once it has seen the sizes of all pages."""
    if isinstance(entry, Method | MethodInDtype):
        return entry
    if entry.of is None:
        return _mean_vector

    make = CONTROLS[entry.name]
    control = make(entry.of, pages)
    return lambda page: replace(control(page), method=str(entry))


def _random(of: Method, pages: Sequence[MultiVector]) -> Compressor:
    def control(page: MultiVector) -> Compressed:
        share = len(of(page)) / len(page)
        keep = prune.at_random(len(page), share, [0, _seed(page)])
        return keep_only(page, keep, "")

    return control


def _merge_page(of: Method, pages: Sequence[MultiVector]) -> Compressor:
    def control(page: MultiVector) -> Compressed:
        every_patch = np.ones(len(page), bool)
        count = len(of(page))
        return _merge_to(page, every_patch, lambda _: count, of)

    return control


def _merge_total(of: Method, pages: Sequence[MultiVector]) -> Compressor:
    groups = _groups_by_page(of, pages)
    survivors, stored = _sizes(groups)
    ratio = _ratio_of_total(survivors, int(stored.sum()))

    def count(heights: Doubles) -> int:
        return _divided(len(heights) + 1, ratio)

    def control(page: MultiVector) -> Compressed:
        keep = groups[page.id] >= 0
        return _merge_to(page, keep, count, of)

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
    groups = _groups_by_page(of, pages)
    survivors, stored = _sizes(groups)
    merges = int((survivors - stored).sum())

    rule = rule_of(of)
    trees = [link_kept(page, groups[page.id] >= 0, rule) for page in pages]
    heights = np.sort(np.concatenate([tree.heights for tree in trees]))
    limit = heights[merges - 1] if merges else -1.0

    def count(heights: Doubles) -> int:
        made = int((heights <= limit).sum())
        return len(heights) + 1 - made

    def control(page: MultiVector) -> Compressed:
        keep = groups[page.id] >= 0
        return _merge_to(page, keep, count, of)

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
    mean = pool.mean(page.vectors, groups)
    return as_compressed(page, mean, groups, Cut(), "mean-vector")


def _groups_by_page(of: Method, pages: Sequence[MultiVector]) -> dict[str, Ints]:
    """The groups that a method makes of each page, by its id."""
    return {page.id: of(page).groups for page in pages}


def _sizes(groups: Mapping[str, Ints]) -> tuple[Ints, Ints]:
    """Patches that a method leaves to merge, and groups that it stores, of each page."""
    survivors = [(one >= 0).sum() for one in groups.values()]
    stored = [one.max() + 1 for one in groups.values()]
    return np.array(survivors), np.array(stored)


def _merge_to(page: MultiVector, keep: Bools, count: GroupCount, of: Method) -> Compressed:
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
