"""adamerge: the same pages found from a fraction of the vectors."""

from typing import TYPE_CHECKING

from adamerge.compress import (
    AdaMerge,
    DocPruner,
    Height,
    Identity,
    Method,
    PruneThenMerge,
    Random,
    SemCluster,
    compress,
    compress_pages,
    height_at,
    parse_method,
)
from adamerge.errors import AdamergeError
from adamerge.lazy_names import lazy_names
from adamerge.types import Compressed, Cut, MultiVector, Page, Tree

if TYPE_CHECKING:
    from adamerge.documents import read_pages
    from adamerge.encoders import load_encoder
    from adamerge.fidelities import Fidelity, fidelity
    from adamerge.inspector import inspect
    from adamerge.plans import Plan, plan
    from adamerge.search import Found, Hit, Match, Snippet
    from adamerge.store import Entry, Indexing, Store, index_files, open_store
    from adamerge.vectors import read_compressed, read_vectors, write_vectors

__all__ = [
    "AdaMerge",
    "AdamergeError",
    "Compressed",
    "Cut",
    "DocPruner",
    "Entry",
    "Fidelity",
    "Found",
    "Height",
    "Hit",
    "Identity",
    "Indexing",
    "Match",
    "Method",
    "MultiVector",
    "Page",
    "Plan",
    "PruneThenMerge",
    "Random",
    "SemCluster",
    "Snippet",
    "Store",
    "Tree",
    "compress",
    "compress_pages",
    "fidelity",
    "height_at",
    "index_files",
    "inspect",
    "load_encoder",
    "open_store",
    "parse_method",
    "plan",
    "read_compressed",
    "read_pages",
    "read_vectors",
    "write_vectors",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "adamerge.documents": ["read_pages"],
        "adamerge.encoders": ["load_encoder"],
        "adamerge.fidelities": ["Fidelity", "fidelity"],
        "adamerge.inspector": ["inspect"],
        "adamerge.plans": ["Plan", "plan"],
        "adamerge.search": ["Found", "Hit", "Match", "Snippet"],
        "adamerge.store": ["Entry", "Indexing", "Store", "index_files", "open_store"],
        "adamerge.vectors": ["read_compressed", "read_vectors", "write_vectors"],
    },
)
