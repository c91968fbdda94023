"""vectors -> merge tree: (n, d) -> Tree."""

import os
from typing import Literal

import numpy as np

from adamerge import arrays, kernels
from adamerge.arrays import ArrayLike, Floats
from adamerge.errors import BadInput, TooLarge
from adamerge.types import Tree

Linkage = Literal["euclidean", "condensed", "rows"]


def ward(vectors: ArrayLike, linkage: Linkage = "euclidean") -> Tree:
    r"""Ward's tree of the patches, each scaled to unit length, with the cosine of every merge.

        h_t^2 = 2ab/(a+b) |mu_A - mu_B|^2 ,   c_t = <mu_A, mu_B> / |mu_A| |mu_B|

    vectors  (n, d)  no row of zeros
    linkage  what Ward is run on. "euclidean": the unit vectors, which is Ward's method. "condensed": 1 - cosine taken
             for a Euclidean distance (PyLate, sentence-transformers). "rows": the rows of the matrix 1 - cosine taken
             for observations (colpali-engine, Light-ColPali); its cosines are those of such rows
    returns  the tree of n patches. A centroid of zero has cosine 0; with ties, the first of the equal pairs joins
    """
    rows = arrays.floats(vectors, "vectors", rank=2)
    n, d = rows.shape
    if len(zero := arrays.zero_rows(rows)):
        raise BadInput(f"row {zero[0]} of vectors {rows.shape} is all zeros and has no direction: drop it")
    _check_memory(n, d if linkage == "euclidean" else n, doubles=linkage != "euclidean")
    if linkage == "rows":
        return Tree(*kernels.ward(1 - kernels.gram(_unit(rows)), unit=False))
    return Tree(*kernels.ward(rows, condensed=linkage == "condensed"))


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return np.ascontiguousarray(rows / lengths, np.float32)


def _check_memory(n: int, d: int, doubles: bool) -> None:
    need = kernels.ward_bytes(n, d) * (2 if doubles else 1)
    if need > 2**24 and need > (free := _free_memory()):  # a page of 16 MB is not worth the question
        raise TooLarge(
            f"linking {n:,} patches needs {need / 1e9:.1f} GB, {free / 1e9:.1f} GB are free: "
            f"prune more (a higher k), or split the page"
        )


def _free_memory() -> int:
    """Bytes this process may still take: what Linux calls available, else all that the machine has."""
    try:
        with open("/proc/meminfo") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
