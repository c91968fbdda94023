"""Made-up pages for timing: a few heavy groups of near-duplicates (margins), many small ones (text), single patches."""

import numpy as np

import adamerge as am


def page(n: int, d: int = 128, seed: int = 0, id: str = "") -> am.MultiVector:
    """A page of n patches; attention follows a gamma law, as the long tails of real attention do."""
    rng = np.random.default_rng(seed)
    groups = max(2, n // 6)
    centres = rng.normal(size=(groups, d))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    share = rng.pareto(1.2, size=groups) + 0.1
    member = rng.choice(groups, size=n, p=share / share.sum())
    spread = rng.uniform(0.2, 1.3, size=groups)[member] / np.sqrt(d)
    vectors = centres[member] + rng.normal(size=(n, d)) * spread[:, None]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return am.MultiVector(vectors, rng.gamma(0.5, size=n), id=id)
