"""The same work done with other people's libraries, as fast as they allow.

Each linkage of LINKAGES turns unit vectors (n, d) into SciPy's linkage matrix; `adamerge_with` puts the rest of
AdaMerge around it, our own stages wherever they fit. POOLERS are whole programs that people use for Sem-Cluster today.
"""

from collections.abc import Callable

import numpy as np

import adamerge as am
from adamerge.compress import cut, pool
from adamerge.types import Tree

LINKAGES: dict[str, Callable] = {}
POOLERS: dict[str, Callable] = {}


def adamerge_with(linkage: Callable, page: am.MultiVector) -> am.Compressed:
    """AdaMerge without pruning, its tree from another library."""
    unit = page.vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    z = linkage(unit)
    tree = Tree(np.ascontiguousarray(z[:, :2], np.int32), z[:, 2], centroid_cosines(z))
    stop = cut.cliff(tree, 0.7)
    groups = cut.groups(tree, stop)
    return am.Compressed(pool.weighted(page.vectors, groups, page.attention), groups, cut=stop)


def centroid_cosines(z: np.ndarray) -> np.ndarray:
    """Cosines from heights and squared centroid norms, O(1) a merge: the fastest way that needs no compiler.

    With D = |mu_A - mu_B|^2 = h^2 (a+b)/(2ab):  cos = (|A|^2 + |B|^2 - D) / 2|A||B|,
    |mu_AB|^2 = (a|A|^2 + b|B|^2)/(a+b) - ab/(a+b)^2 D.
    """
    n = len(z) + 1
    square, size, out = [1.0] * n, [1.0] * n, []
    for a, b, h, _ in z.tolist():
        i, j = int(a), int(b)
        x, y, p, q = square[i], square[j], size[i], size[j]
        apart = h * h * (p + q) / (2 * p * q)
        length = (x * y) ** 0.5
        out.append((x + y - apart) / (2 * length) if length > 0 else 0.0)
        size.append(p + q)
        square.append(max((p * x + q * y) / (p + q) - p * q / (p + q) ** 2 * apart, 0.0))
    return np.array(out)


def _load() -> None:
    """Enter every peer that is installed."""
    import fastcluster
    from scipy.cluster.hierarchy import linkage

    LINKAGES["SciPy"] = lambda x: linkage(x, "ward")
    LINKAGES["fastcluster"] = lambda x: fastcluster.linkage(x, "ward")
    LINKAGES["scikit-learn"] = _sklearn
    try:
        import torch
        from colpali_engine.compression.token_pooling import HierarchicalTokenPooler
        from sentence_transformers.multi_vector_encoder.modules import HierarchicalTokenPooling
    except ImportError:
        return
    colpali, st = (
        HierarchicalTokenPooler(),
        HierarchicalTokenPooling(pool_factor=4, num_protected_tokens=0),
    )
    POOLERS["colpali-engine"] = lambda x: colpali.pool_embeddings(
        [torch.from_numpy(x)], pool_factor=4
    )
    POOLERS["sentence-transformers"] = lambda x: st.pool([torch.from_numpy(x)])


def _sklearn(x: np.ndarray) -> np.ndarray:
    from sklearn.cluster import ward_tree

    children, _, n, _, distances = ward_tree(x, return_distance=True)
    return np.column_stack([children, distances, np.zeros(n - 1)])


_load()
