"""Per-query values of two methods -> whether they differ: paired tests, intervals, and a correction for many tests."""

from collections.abc import Sequence

import numpy as np
from numpy.random import default_rng

from adamerge.arrays import ArrayLike, Doubles
from adamerge.errors import BadShape, missing_extra

DRAWS = 10_000
BLOCK = 500  # draws at a time


def wilcoxon(ours: ArrayLike, theirs: ArrayLike) -> float:
    """The two-sided p of the paired signed-rank test, pairs without a difference left out; 1 where no pair differs."""
    try:
        from scipy.stats import wilcoxon as test
    except ImportError:
        raise missing_extra("the signed-rank test", "paper") from None
    differences = _paired(ours, theirs)
    if not differences.any():
        return 1.0
    return float(test(differences, zero_method="wilcox", alternative="two-sided").pvalue)


def bootstrap(differences: ArrayLike, seed: int = 0, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of the mean under resampling of the queries: low, high."""
    values = np.asarray(differences, np.float64)
    rng = default_rng(seed)
    blocks = (
        rng.integers(len(values), size=(BLOCK, len(values)), dtype=np.int32)
        for _ in range(DRAWS // BLOCK)
    )
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


def _paired(ours: ArrayLike, theirs: ArrayLike) -> Doubles:
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise BadShape(
            f"a paired test needs the same queries on both sides, got {a.shape} and {b.shape}"
        )
    return a - b
