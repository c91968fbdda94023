"""MultiVector -> Compressed: prune, link, cut, pool. Stages are functions on arrays, methods are choices of stages.

prune.py, link.py, cut.py, pool.py   the stages, in their order
merge.py                             the steps that methods, controls and the inspector share
methods.py                           choices of stages
names.py                             a method is its name; the only reader of names
default_method.py                    the method where nobody names one
stream.py                            many pages, in several threads
mistaken_input.py                    what is given to compress by mistake, and the line that was meant
"""

from adamerge.compress import cut, link, pool, prune
from adamerge.compress.default_method import DEFAULT_METHOD, INDEX_DTYPE
from adamerge.compress.methods import (
    AdaMerge,
    DocPruner,
    Height,
    Identity,
    PruneThenMerge,
    Random,
    SemCluster,
    height_at,
)
from adamerge.compress.names import Method, MethodInDtype, parse_method
from adamerge.compress.stream import compress, compress_pages

__all__ = [
    "DEFAULT_METHOD",
    "INDEX_DTYPE",
    "AdaMerge",
    "DocPruner",
    "Height",
    "Identity",
    "Method",
    "MethodInDtype",
    "PruneThenMerge",
    "Random",
    "SemCluster",
    "compress",
    "compress_pages",
    "cut",
    "height_at",
    "link",
    "parse_method",
    "pool",
    "prune",
]
