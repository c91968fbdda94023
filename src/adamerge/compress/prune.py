"""attention -> which patches stay: (n,) -> mask (n,)."""

import math
from typing import Literal

import numpy as np
from numpy.random import default_rng

from adamerge import arrays, kernels
from adamerge.arrays import ArrayLike, Bools, Doubles, Floats
from adamerge.errors import BadInput

Stats = Literal["iqr", "plain"]

# relative; attention is float32, and what equals tau but for rounding does not exceed it
ROUNDING = 1e-6


def by_attention(attention: ArrayLike, k: float, stats: Stats = "iqr") -> Bools:
    r"""Keep the patches whose attention exceeds the page's own threshold.

        keep_i = alpha_i > tau ,   tau = mu + k sigma

    attention  (n,)  >= 0
    stats      "iqr": mu and sigma of attention clipped at q75 + 3 (q75 - q25), so that a few attention sinks do not
               set the threshold; "plain": of attention as it is. sigma has n - 1 in its denominator
    returns    (n,)  at least one True: if nothing exceeds tau the most attended patch stays; constant attention
               tells nothing and keeps all
    """
    alpha = arrays.weights(attention, "attention").astype(np.float64)
    arrays.one_of(stats, Stats, "stats")
    if not isinstance(k, int | float | np.number) or not math.isfinite(k):
        raise BadInput(f"k must be a finite number, got {k} (k=None skips pruning)")
    if alpha.max() - alpha.min() <= ROUNDING * alpha.max():
        return np.ones(len(alpha), bool)
    tau = _threshold(_clipped(alpha) if stats == "iqr" else alpha, k)
    keep: Bools = alpha - tau > ROUNDING * np.maximum(alpha, abs(tau))
    keep[alpha.argmax()] |= not keep.any()
    return keep


def inverse_density(vectors: ArrayLike, tau: float = 0.1) -> Floats:
    r"""An importance of patches from their vectors alone, for those who have no attention.

        w_i = 1 / sum_j exp((cos(x_i, x_j) - 1) / tau)

    A crowd of near-duplicates (margins, background) weighs as much as one patch that is like no other.
    vectors (n, d) -> (n,), in (0, 1]
    """
    rows = arrays.directions(vectors, "vectors").astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    alike = np.exp((kernels.gram(rows.astype(np.float32)) - 1) / tau)
    weights: Floats = (1 / alike.sum(axis=1)).astype(np.float32)
    return weights


def at_random(n: int, keep: float, seed: int | list[int] = 0) -> Bools:
    """Keep max(1, round(keep n)) patches, drawn without looking: (n,)."""
    chosen = default_rng(seed).permutation(n)[: max(1, round(keep * n))]
    mask = np.zeros(n, bool)
    mask[chosen] = True
    return mask


def _threshold(alpha: Doubles, k: float) -> float:
    mu = alpha.sum() / len(alpha)
    return float(mu + k * np.sqrt(np.square(alpha - mu).sum() / (len(alpha) - 1)))


def _clipped(alpha: Doubles) -> Doubles:
    low, high = _quartiles(alpha)
    return np.minimum(alpha, high + 3 * (high - low))


def _quartiles(alpha: Doubles) -> tuple[float, float]:
    """q25 and q75, interpolated linearly, as np.quantile gives them in a fifth of the time."""
    ordered = np.sort(alpha)
    places = 0.25 * (len(alpha) - 1), 0.75 * (len(alpha) - 1)
    low, high = (
        ordered[int(p)] + p % 1 * (ordered[min(int(p) + 1, len(alpha) - 1)] - ordered[int(p)])
        for p in places
    )
    return float(low), float(high)
