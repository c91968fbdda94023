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
        narrow,
        pack,
        pool,
        softmax,
        ward,
        ward_bytes,
        widen,
    )
else:
    try:
        from adamerge.kernels._native import (
            gelu,
            gram,
            groups,
            layer_norm,
            matmul_batch,
            matmul_packed,
            maxsim,
            maxsim_planes,
            narrow,
            pack,
            pool,
            softmax,
            ward,
            ward_bytes,
            widen,
        )
    except ImportError as error:
        raise ImportError(
            f"the compiled kernels are missing or older than the source ({error}): build them again, "
            "in a clone by: python -m pip install --no-deps --no-build-isolation -e ."
        ) from None
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
    "narrow",
    "pack",
    "pool",
    "quantise",
    "softmax",
    "ward",
    "ward_bytes",
    "widen",
]
