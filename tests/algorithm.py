"""The paper's Algorithm 1, `height` and the baselines again: SciPy and explicit centroids, nothing of adamerge.

Everything is float64, slow and as the formulas read. test_algorithm.py holds every method equal to it.
"""

import math

import numpy as np
from scipy.cluster.hierarchy import linkage


def compress(
    vectors,
    attention,
    *,
    k=None,
    stats="iqr",
    stop,
    pool="mean",
    unit=False,
    importance="attention",
):
    """(groups (n,) with -1 where pruned, stored vectors (m, d)); `stop(heights, cosines)` gives the merges made."""
    x = np.asarray(vectors, np.float64)
    alpha = inverse_density(x) if importance == "density" else attention
    survivors = np.arange(len(x)) if k is None else pruned(np.asarray(alpha, np.float64), k, stats)
    rows = unit_rows(x[survivors])

    pairs, heights, cosines = ward(rows)
    clusters = merged(len(rows), pairs[: stop(heights, cosines)])

    groups = np.full(len(x), -1)
    stored = []
    for number, members in enumerate(sorted(clusters, key=min)):
        patches = survivors[sorted(members)]
        groups[patches] = number
        weights = np.asarray(alpha, np.float64)[patches] if pool == "attention" else None
        stored.append(centroid(x[patches], weights, unit))
    return groups, np.array(stored)


def pruned(alpha, k, stats):
    """The patches above mu + k sigma, of attention clipped at q75 + 3 IQR where `stats` is "iqr".

    Constant attention says nothing and keeps all; if no patch is above, the most attended one stays.
    """
    if np.isclose(alpha.min(), alpha.max(), rtol=1e-6, atol=0):
        return np.arange(len(alpha))
    values = alpha
    if stats == "iqr":
        low, high = np.quantile(alpha, [0.25, 0.75])
        values = np.minimum(alpha, high + 3 * (high - low))
    tau = values.mean() + k * values.std(ddof=1)
    kept = np.flatnonzero(alpha > tau)
    return kept if len(kept) else np.array([alpha.argmax()])


def ward(rows):
    """SciPy's tree: pairs of cluster numbers, heights, and the cosine of the two centroids of every merge."""
    if len(rows) < 2:
        return [], np.zeros(0), np.zeros(0)
    tree = linkage(rows, "ward")
    members = {i: [i] for i in range(len(rows))}
    pairs, cosines = [], []
    for step, (a, b) in enumerate(tree[:, :2].astype(int).tolist()):
        first, second = rows[members[a]].mean(0), rows[members[b]].mean(0)
        cosines.append(first @ second / np.linalg.norm(first) / np.linalg.norm(second))
        members[len(rows) + step] = members[a] + members[b]
        pairs.append((a, b))
    return pairs, tree[:, 2], np.array(cosines)


def merged(n, pairs):
    """The clusters after these merges, each a list of patches."""
    clusters = {i: [i] for i in range(n)}
    for step, (a, b) in enumerate(pairs):
        clusters[n + step] = clusters.pop(a) + clusters.pop(b)
    return list(clusters.values())


def centroid(patches, weights, unit):
    """The mean of patches, weighted where there are weights, scaled to length 1 where `unit`."""
    mean = np.average(patches, axis=0, weights=weights)
    return mean / np.linalg.norm(mean) if unit else mean


def cliff(c_min, sequence):
    """Stop after the merge t with c_t >= c_min and the widest drop after it."""

    def stop(heights, cosines):
        c = read(heights, cosines, sequence)
        best, widest = 0, -math.inf
        for t in range(len(c) - 1):
            if c[t] >= c_min and c[t] - c[t + 1] > widest:
                best, widest = t + 1, c[t] - c[t + 1]
        return best

    return stop


def floor(c_min, sequence):
    """Stop after the last merge with c_t >= c_min."""

    def stop(heights, cosines):
        c = read(heights, cosines, sequence)
        if len(c) < 2:
            return 0
        return max([t + 1 for t in range(len(c)) if c[t] >= c_min], default=0)

    return stop


def read(heights, cosines, sequence):
    """The sequence of a reading."""
    if sequence == "height":
        return 1 - heights**2 / 2
    if sequence == "running-min":
        return np.minimum.accumulate(cosines)
    return cosines


def height(h):
    """Stop after the last merge of a height up to h."""
    return lambda heights, _: int((heights <= h).sum())


def ratio(m, rounding="ceil"):
    """Stop when one group in m is left."""
    whole = math.ceil if rounding == "ceil" else math.floor
    return lambda heights, _: len(heights) + 1 - max(1, whole((len(heights) + 1) / m))


def inverse_density(x):
    """1 / sum_j exp((cos(x_i, x_j) - 1) / 0.1)."""
    rows = unit_rows(x)
    return 1 / np.exp((rows @ rows.T - 1) / 0.1).sum(1)


def unit_rows(x):
    """Rows scaled to length 1."""
    return x / np.linalg.norm(x, axis=1, keepdims=True)
