"""The hot loops: contiguous arrays in, arrays out, no checks; the interpreter's lock is free while they work.

Every native kernel has a slow twin of the same name in reference.py, and a test that compares them.
ADAMERGE_KERNELS=reference picks the twins, and needs nothing compiled.
"""

import os

if os.environ.get("ADAMERGE_KERNELS") == "reference":
    from adamerge.kernels.reference import (
        gelu,
        gram,
        groups,
        layer_norm,
        matmul_batch,
        matmul_packed,
        maxsim,
        maxsim_planes,
        pack,
        pool,
        softmax,
        ward,
        ward_bytes,
    )
else:
    from adamerge.kernels._native import (
        gelu,
        gram,
        groups,
        layer_norm,
        matmul_batch,
        matmul_packed,
        maxsim,
        maxsim_planes,
        pack,
        pool,
        softmax,
        ward,
        ward_bytes,
    )
from adamerge.kernels.int8 import quantise

__all__ = [
    "gelu",
    "gram",
    "groups",
    "layer_norm",
    "matmul_batch",
    "matmul_packed",
    "maxsim",
    "maxsim_planes",
    "pack",
    "pool",
    "quantise",
    "softmax",
    "ward",
    "ward_bytes",
]
