"""Values -> their mean and an interval for it, by drawing pages again and again (the bootstrap).

Queries of one page are alike, so pages are drawn and not queries. The interval is that of the percentiles 2.5 and 97.5.
SciPy has the same, but is no part of the base install.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adamerge.arrays import Doubles, Longs

RESAMPLES = 1000
PERCENTILES = (2.5, 97.5)


@dataclass(frozen=True)
class Estimate:
    """A mean, and the interval that holds 95 % of the means of pages that were drawn again."""

    value: float
    low: float
    high: float


UNKNOWN = Estimate(np.nan, np.nan, np.nan)


def ratio_of_sums(
    numerators: NDArray[np.number], denominators: NDArray[np.number], seed: int
) -> Estimate:
    """Sum of numerators / sum of denominators, of a value a page each: (pages,)."""
    pages = len(numerators)
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(pages, np.full(pages, 1 / pages), RESAMPLES)
    above = drawn @ numerators
    below = drawn @ denominators
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = np.nanpercentile(above / below, PERCENTILES)
    value = numerators.sum() / denominators.sum()
    return Estimate(float(value), float(low), float(high))


def mean_by_page(values: Doubles, pages: Longs, seed: int) -> Estimate:
    """The mean of a value a query, where query i belongs to page pages[i]; queries without a value do not count."""
    is_known = np.isfinite(values)
    if not is_known.any():
        return UNKNOWN
    _, page = np.unique(pages[is_known], return_inverse=True)
    sums = np.bincount(page, values[is_known])
    counts = np.bincount(page)
    return ratio_of_sums(sums, counts, seed)
