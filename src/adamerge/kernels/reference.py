"""The slow twins of the native kernels: obvious, in float64, the truth in tests.

gram    all inner products                                        O(n^2 d)
ward    join the closest two groups until one is left             O(n^3 d)
groups  follow the first merges of a tree                         O(n^2)
pool    the mean of each group                                    O(n d)
widen, narrow   float16 as float32, and float32 as float16        O(n d)
maxsim  all inner products, their maxima, their sum               O(q rows d)
maxsim_planes   the same for rows that are kept as bit planes      O(q rows d)
matmul_packed, matmul_batch   matrix products                      O(n m k)
softmax, gelu, layer_norm   the rows of a transformer, in place   O(rows n)
"""

from collections.abc import Sequence
from itertools import pairwise
from math import erf

import numpy as np

from adamerge.arrays import Bits, Bytes, Doubles, Floats, Halves, Ints, Longs, Stored
from adamerge.kernels.int8 import quantise


def gram(vectors: Floats) -> Floats:
    """Inner products of all pairs of rows, X Xᵀ: (n, d) -> (n, n)."""
    x = vectors.astype(np.float64)
    return (x @ x.T).astype(np.float32)


def ward(
    vectors: Floats, unit: bool = True, condensed: bool = False
) -> tuple[Ints, Doubles, Doubles]:
    """Join the closest two groups until one is left: merges (n-1, 2), heights (n-1,), cosines (n-1,)."""
    if condensed and not unit:
        raise ValueError("condensed takes 1 - cosine of unit vectors: unit must be true")
    x = vectors.astype(np.float64)
    if not np.isfinite(x).all() or (unit and len(x) > 1 and not x.any(axis=1).all()):
        raise ValueError("vectors must be finite, and none all zeros where unit is true")
    if unit:
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    n = len(x)
    squared = (1 - x @ x.T) ** 2 if condensed else ((x[:, None] - x[None]) ** 2).sum(-1)
    distance = {(i, j): squared[i, j] for i in range(n) for j in range(i + 1, n)}
    members = {i: [i] for i in range(n)}
    merges, heights, cosines = np.zeros((n - 1, 2), np.int32), np.zeros(n - 1), np.zeros(n - 1)
    for t in range(n - 1):
        a, b = min(distance, key=distance.__getitem__)
        merges[t], heights[t] = (a, b), np.sqrt(distance[a, b])
        cosines[t] = _cosine(x[members[a]].mean(0), x[members[b]].mean(0))
        _join(distance, members, a, b, n + t)
    return merges, heights, cosines


def _join(
    distance: dict[tuple[int, int], float], members: dict[int, list[int]], a: int, b: int, new: int
) -> None:
    """Lance and Williams: d(ab, j) = ((a+j) d(a,j) + (b+j) d(b,j) - j d(a,b)) / (a+b+j), all squared."""
    between = distance.pop((a, b))
    left, right = members.pop(a), members.pop(b)
    na, nb = len(left), len(right)
    for j, others in members.items():
        nj = len(others)
        to_a, to_b = distance.pop((min(a, j), max(a, j))), distance.pop((min(b, j), max(b, j)))
        distance[j, new] = ((na + nj) * to_a + (nb + nj) * to_b - nj * between) / (na + nb + nj)
    members[new] = left + right


def _cosine(a: Doubles, b: Doubles) -> float:
    length = np.linalg.norm(a) * np.linalg.norm(b)
    if length == 0:  # a centroid of zero has no direction
        return 0.0
    return float(a @ b / length)


def ward_bytes(n: int, d: int) -> int:
    """About what linking n rows of d numbers takes here: every distance and every row in float64."""
    return 8 * n * (n + 2 * d)


def groups(merges: Ints, made: int) -> Ints:
    """The group of every patch after the first merges of a tree, numbered by first patch: (n,)."""
    n = len(merges) + 1
    node = np.arange(n)
    for t in range(made):
        node[np.isin(node, merges[t])] = n + t
    _, first, group = np.unique(node, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group].astype(np.int32)


def pool(
    vectors: Floats, groups: Ints, weights: Floats | None, m: int, unit: bool = False
) -> Floats:
    """The mean of each group, by weight where it has any: (m, d)."""
    out = np.zeros((m, vectors.shape[1]))
    for g in range(m):
        mine = groups == g
        weight = None
        if weights is not None and weights[mine].sum() > 0:
            weight = weights[mine].astype(np.float64)
        out[g] = np.average(vectors[mine].astype(np.float64), axis=0, weights=weight)
        length = np.linalg.norm(out[g])
        if unit and length > 0:
            out[g] /= length
    return out.astype(np.float32)


def widen(halves: Halves) -> Floats:
    """Float16 as float32, number by number, nan and infinities too: (n, d) -> (n, d)."""
    return halves.astype(np.float32)


def narrow(vectors: Floats) -> Halves:
    """Float32 as the nearest float16, of two the even one; what is too large becomes infinite: (n, d) -> (n, d)."""
    with np.errstate(over="ignore"):
        return vectors.astype(np.float16)


def maxsim(
    query: Floats,
    query_offsets: Longs,
    vectors: Stored,
    scales: Floats | None,
    begins: Longs,
    ends: Longs,
    threads: int,
) -> Floats:
    """Sum over a query's vectors of the largest inner product with a row of the page: (queries, pages).

    Int8 rows meet a query that is quantised too. An empty query scores 0; an empty page -inf with any other.
    """
    x, y = query.astype(np.float64), vectors.astype(np.float64)
    if scales is not None:
        values, of_query = quantise(query)
        x, y = values * of_query.astype(np.float64)[:, None], y * scales[:, None]
    out = np.zeros((len(query_offsets) - 1, len(begins)), np.float32)
    for i, (a, b) in enumerate(pairwise(query_offsets)):
        for page, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            out[i, page] = (x[a:b] @ y[begin:end].T).max(axis=1, initial=-np.inf).sum()
    return out


def maxsim_planes(
    query: Floats,
    query_offsets: Longs,
    planes: Sequence[Bits],
    levels: Bytes,
    scales: Floats,
    begins: Longs,
    ends: Longs,
    steps: int,
    threads: int,
) -> Floats:
    """As `maxsim`, for rows that are kept as bit planes (rows, ceil(d / 8)), the highest bit first.

    The bits of a coordinate are the number of its level; a row is scale * levels. A vector of the query becomes
    integers of -steps .. steps, rounded to nearest, times max|x| / steps.
    """
    numbers = np.zeros((len(scales), query.shape[1]), np.int64)
    for plane in planes:
        bit = np.unpackbits(plane, axis=1, count=query.shape[1], bitorder="little")
        numbers = 2 * numbers + bit
    rows = levels.astype(np.int64)[numbers]

    of_query = np.abs(query).max(axis=1, initial=0) / np.float32(steps)
    divisors = np.where(of_query > 0, of_query, np.float32(1))
    rounded = np.clip(np.rint(query / divisors[:, None]), -steps, steps).astype(np.int64)
    rounded[of_query == 0] = 0

    out = np.zeros((len(query_offsets) - 1, len(begins)), np.float32)
    for i, (a, b) in enumerate(pairwise(query_offsets)):
        for page, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            products = (rounded[a:b] @ rows[begin:end].T).astype(np.float32) * scales[begin:end]
            maxima = products.max(axis=1, initial=-np.inf).astype(np.float64)
            out[i, page] = (maxima * of_query[a:b]).sum()
            if begin == end and a < b:
                out[i, page] = -np.inf
    return out


def pack(b: Floats) -> Floats:
    """A matrix (m, k) as panels for matmul_packed: here one panel, (1, k, m)."""
    return np.ascontiguousarray(b.T)[None]


def matmul_packed(a: Floats, panels: Floats, m: int) -> Floats:
    """A bᵀ of a (n, k) and the panels of b (m, k): (n, m)."""
    out: Floats = (a.astype(np.float64) @ panels[0]).astype(np.float32)
    return out


def matmul_batch(a: Floats, b: Floats) -> Floats:
    """A bᵀ of each pair of a (batch, n, k) and b (batch, m, k): (batch, n, m)."""
    return (a.astype(np.float64) @ b.transpose(0, 2, 1)).astype(np.float32)


def softmax(x: Floats, scale: float) -> None:
    """Rows become e^(scale x) / sum e^(scale x): (rows, n), in place."""
    scaled = scale * x.astype(np.float64)
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True, initial=-np.inf))
    x[:] = powers / powers.sum(axis=1, keepdims=True)


def gelu(x: Floats, bias: Floats) -> None:
    """Rows become y (1 + erf(y / sqrt 2)) / 2, y = x + bias: (rows, n), in place."""
    biased = x.astype(np.float64) + bias
    x[:] = biased * (1 + np.vectorize(erf, otypes=[float])(biased / np.sqrt(2))) / 2


def layer_norm(
    x: Floats, residual: Floats, bias: Floats, weight: Floats, shift: Floats, epsilon: float
) -> None:
    """Rows become weight (y - mean y) / sqrt(var y + epsilon) + shift, y = x + bias + residual: in place."""
    y = x.astype(np.float64) + bias + residual
    centred = y - y.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    x[:] = weight * centred / np.sqrt(variance + epsilon) + shift
