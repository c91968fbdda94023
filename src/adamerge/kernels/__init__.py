"""The hot loops: contiguous arrays in, arrays out, no checks; the interpreter's lock is free while they work.

Every native kernel has a slow twin of the same name in reference.py, and a test that compares them.
ADAMERGE_KERNELS=reference picks the twins.
"""

import os

if os.environ.get("ADAMERGE_KERNELS") == "reference":
    from adamerge.kernels.reference import gram, groups, pool, ward
else:
    from adamerge.kernels._native import gram, groups, pool, ward
from adamerge.kernels._native import ward_bytes

__all__ = ["gram", "groups", "pool", "ward", "ward_bytes"]
