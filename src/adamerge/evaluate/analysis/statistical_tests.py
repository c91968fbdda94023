"""Values of two methods per query -> whether they differ: a paired test, an interval, a correction for many tests."""

from collections.abc import Sequence

import numpy as np
from numpy.random import default_rng

from adamerge.arrays import ArrayLike, Doubles
from adamerge.errors import BadShape, missing_extra

DRAWS = 10_000
BLOCK = 500  # draws at a time
LEVEL = 0.95  # of the bootstrap interval


def wilcoxon(ours: ArrayLike, theirs: ArrayLike) -> float:
    """The two-sided p of the paired signed-rank test, pairs without a difference left out; 1 where no pair differs."""
    try:
        from scipy.stats import wilcoxon as scipy_wilcoxon
    except ImportError:
        raise missing_extra("the signed-rank test", "paper") from None

    differences = _differences(ours, theirs)
    if not differences.any():
        return 1.0
    test = scipy_wilcoxon(differences, zero_method="wilcox", alternative="two-sided")
    return float(test.pvalue)


def bootstrap(differences: ArrayLike) -> tuple[float, float]:
    """The 95 % percentile interval of the mean under resampling of the queries: low, high."""
    values = np.asarray(differences, np.float64)
    rng = default_rng(0)
    means = []
    for _ in range(DRAWS // BLOCK):
        chosen = rng.integers(len(values), size=(BLOCK, len(values)), dtype=np.int32)
        means.append(values[chosen].mean(axis=1))

    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile(np.concatenate(means), ends)
    return float(low), float(high)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the i-th smallest of n times (n - i + 1), never falling, at most 1."""
    corrected = np.empty(len(p))
    largest = 0.0
    for i, place in enumerate(np.argsort(p, kind="stable")):
        stepped = min(1.0, p[place] * (len(p) - i))
        largest = max(largest, stepped)
        corrected[place] = largest
    return corrected.tolist()


def _differences(ours: ArrayLike, theirs: ArrayLike) -> Doubles:
    a = np.asarray(ours, np.float64)
    b = np.asarray(theirs, np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise BadShape(
            f"a paired test needs the same queries on both sides, got {a.shape} and {b.shape}"
        )
    return a - b
