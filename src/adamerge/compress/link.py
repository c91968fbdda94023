"""vectors -> merge tree: (n, d) -> Tree."""

import os
import resource
import sys
from pathlib import Path
from typing import Literal

import numpy as np

from adamerge import arrays, kernels
from adamerge.arrays import ArrayLike, Floats
from adamerge.errors import TooLarge
from adamerge.types import Tree

Linkage = Literal["euclidean", "condensed", "rows"]
SMALL = 2**24  # bytes that are taken without asking how much is free


def ward(vectors: ArrayLike, linkage: Linkage = "euclidean") -> Tree:
    r"""Ward's tree of the patches, each scaled to unit length, with the cosine of every merge.

        h_t^2 = 2ab/(a+b) |mu_A - mu_B|^2 ,   c_t = <mu_A, mu_B> / |mu_A| |mu_B|

    vectors  (n, d)  no row of zeros
    linkage  what Ward is run on. "euclidean": the unit vectors, which is Ward's method. "condensed": 1 - cosine taken
             for a Euclidean distance (PyLate, sentence-transformers). "rows": the rows of the matrix 1 - cosine taken
             for observations (colpali-engine, Light-ColPali); its cosines are those of such rows
    returns  the tree of n patches. A centroid of zero has cosine 0; with ties, the first of the equal pairs joins
    """
    rows = arrays.directions(vectors, "vectors")
    arrays.one_of(linkage, Linkage, "linkage")
    n = len(rows)
    need = _bytes_needed(rows, linkage)
    if need > SMALL and need > _free_memory():
        raise _too_large(n, need)
    try:
        if linkage == "rows":
            distances = 1 - kernels.gram(_unit(rows))
            return Tree(*kernels.ward(distances, unit=False))
        return Tree(*kernels.ward(rows, condensed=linkage == "condensed"))
    except MemoryError:  # a limit that nobody told us of
        raise _too_large(n, need) from None


def _bytes_needed(rows: Floats, linkage: Linkage) -> int:
    n, d = rows.shape
    if linkage == "euclidean":
        return kernels.ward_bytes(n, d)
    return 2 * kernels.ward_bytes(
        n, n
    )  # "rows" links n numbers a row, "condensed" counts in float64


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return np.ascontiguousarray(rows / lengths, np.float32)


def _too_large(n: int, need: int) -> TooLarge:
    return TooLarge(
        f"linking {n:,} patches needs {need / 1e9:.1f} GB, {_free_memory() / 1e9:.1f} GB are free: "
        f"prune more (a higher k), or split the page"
    )


def _free_memory() -> int:
    """Bytes this process may still take: the least of what the machine has, its container and its own limit allow."""
    return min(_machine(), _container(), _own_limit())


def _machine() -> int:
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable"):
                    return int(line.split()[1]) * 1024
    except OSError:  # not Linux
        pass
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _container() -> int:
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text()
        used = Path("/sys/fs/cgroup/memory.current").read_text()
        return int(limit) - int(used)
    except (OSError, ValueError):  # none, or "max"
        return sys.maxsize


def _own_limit() -> int:
    """Bytes that this process may take until it reaches the limit of its address space."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize
    return max(0, limit - _address_space())


def _address_space() -> int:
    """Bytes of address space that this process has taken; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
