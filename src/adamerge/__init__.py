"""adamerge: the same pages found from a fraction of the vectors."""

from typing import TYPE_CHECKING, Any

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
from adamerge.documents import read_pages
from adamerge.encoders import load_encoder
from adamerge.errors import AdamergeError
from adamerge.fidelity import Fidelity, fidelity
from adamerge.plan import Plan, plan
from adamerge.search import Found, Hit, Match, Snippet
from adamerge.store import Entry, Indexing, Store, index_files, open_store
from adamerge.types import Compressed, Cut, MultiVector, Page, Tree
from adamerge.vectors import read_compressed, read_vectors, write_vectors

if TYPE_CHECKING:
    from adamerge.inspector import inspect

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


def __getattr__(name: str) -> Any:
    """Import the inspector when `adamerge.inspect` is asked for: no verb but `inspect` needs it."""
    if name != "inspect":
        raise AttributeError(f"module 'adamerge' has no attribute '{name}'")
    from adamerge.inspector import inspect

    globals()["inspect"] = inspect
    return inspect


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
