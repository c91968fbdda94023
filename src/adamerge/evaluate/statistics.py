"""Per-query values of two methods -> whether they differ: paired tests, intervals, and a correction for many tests.

The same queries asked of two encoders are not independent, so every comparison is made per encoder and pooled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.random import default_rng

from adamerge.arrays import ArrayLike, Doubles
from adamerge.errors import BadShape, missing_extra

ZeroMethod = Literal["wilcox", "pratt", "zsplit"]
POOLED = "pooled"
DRAWS = 10_000
BLOCK = 500  # draws at a time


@dataclass(frozen=True)
class Comparison:
    """One method against another on the same queries.

    difference      mean of ours minus theirs
    low, high       its 95 % bootstrap interval
    p, p_corrected  two-sided Wilcoxon signed-rank; and after Holm's correction over what was compared with us
    """

    other: str
    encoder: str
    queries: int
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float = 1.0


def compare(ours: Mapping[str, ArrayLike], others: Mapping[str, Mapping[str, ArrayLike]]) -> list[Comparison]:
    """Compare a method (encoder -> per-query values) with others, per encoder and pooled over all of them."""
    found = []
    for encoder in [*ours, *([POOLED] if len(ours) > 1 else [])]:
        mine = _values(ours, encoder, list(ours))
        rows = [_one(name, encoder, mine, _values(theirs, encoder, list(ours))) for name, theirs in others.items()]
        corrected = holm([row.p for row in rows])
        found += [replace(row, p_corrected=p) for row, p in zip(rows, corrected, strict=True)]
    return found


def wilcoxon(ours: ArrayLike, theirs: ArrayLike, zero_method: ZeroMethod = "wilcox") -> float:
    """The two-sided p of the paired signed-rank test; 1 where no pair differs.

    zero_method  "wilcox" leaves out pairs without a difference, as the paper (SciPy's default)
    """
    try:
        from scipy.stats import wilcoxon as test
    except ImportError:
        raise missing_extra("the signed-rank test", "paper") from None
    differences = _paired(ours, theirs)
    if not differences.any():
        return 1.0
    return float(test(differences, zero_method=zero_method, alternative="two-sided").pvalue)


def bootstrap(differences: ArrayLike, seed: int = 0, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of the mean under resampling of the queries: low, high."""
    values = np.asarray(differences, np.float64)
    rng = default_rng(seed)
    blocks = (rng.integers(len(values), size=(BLOCK, len(values)), dtype=np.int32) for _ in range(DRAWS // BLOCK))
    means = np.concatenate([values[rows].mean(axis=1) for rows in blocks])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the i-th smallest of n times (n - i + 1), never falling, at most 1."""
    order = np.argsort(p, kind="stable")
    stepped = [min(1.0, p[j] * (len(p) - i)) for i, j in enumerate(order)]
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(stepped)
    return [float(value) for value in corrected]


def _one(name: str, encoder: str, ours: Doubles, theirs: Doubles) -> Comparison:
    differences = _paired(ours, theirs)
    low, high = bootstrap(differences)
    p = wilcoxon(ours, theirs)
    return Comparison(name, encoder, len(differences), float(differences.mean()), low, high, p)


def _values(method: Mapping[str, ArrayLike], encoder: str, encoders: list[str]) -> Doubles:
    chosen = encoders if encoder == POOLED else [encoder]
    return np.concatenate([np.asarray(method[name], np.float64) for name in chosen])


def _paired(ours: ArrayLike, theirs: ArrayLike) -> Doubles:
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise BadShape(f"a paired test needs the same queries on both sides, got {a.shape} and {b.shape}")
    return a - b
