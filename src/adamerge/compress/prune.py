"""attention -> which patches stay: (n,) -> mask (n,)."""

import math
from typing import Literal

import numpy as np

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
    counted = alpha
    if stats == "iqr":
        counted = _clipped(alpha)
    tau = _threshold(counted, k)
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
    chosen = np.random.default_rng(seed).permutation(n)[: max(1, round(keep * n))]
    mask = np.zeros(n, bool)
    mask[chosen] = True
    return mask


def _threshold(alpha: Doubles, k: float) -> float:
    mu = alpha.sum() / len(alpha)
    variance = np.square(alpha - mu).sum() / (len(alpha) - 1)
    return float(mu + k * np.sqrt(variance))


def _clipped(alpha: Doubles) -> Doubles:
    rising = np.sort(alpha)
    low = _quantile(rising, 0.25)
    high = _quantile(rising, 0.75)
    return np.minimum(alpha, high + 3 * (high - low))


def _quantile(rising: Doubles, share: float) -> float:
    """A quantile of sorted values, interpolated linearly: that of np.quantile, which takes five times as long."""
    place = share * (len(rising) - 1)
    below = int(place)
    above = min(below + 1, len(rising) - 1)
    return float(rising[below] + place % 1 * (rising[above] - rising[below]))
