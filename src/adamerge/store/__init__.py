"""Compressed pages -> a database, and back by search: open_store(address).

A folder or a bucket holds them by Lance (extra `store`), a server or cluster by Qdrant (extra `qdrant`).
In the order of the data:

    open.py                        an address -> a store
    index.py                       files -> a store; metadata.py: the values that a person gives them
    index_plan.py                  what indexing would do, without doing it
    about.py, entry.py             what a store says of itself, and what it keeps of each page
    base.py                        what every store does: add, search
    filter_parser.py, filters.py   SQL of a user -> a filter
    lance/, qdrant/                the two databases; limits.py: what they take at most
    contents.py, facts.py          what a store holds, file by file and in all
    transfer.py                    a store -> files of vectors, or another store
"""

from typing import TYPE_CHECKING

from adamerge.lazy_names import lazy_names
from adamerge.store.about import DEFAULT_DTYPE
from adamerge.store.base import Store
from adamerge.store.entry import Entry
from adamerge.store.open import is_store, open_named, open_store, parse_bytes

if TYPE_CHECKING:
    from adamerge.store.index import Change, Indexing, index_files

__all__ = [
    "DEFAULT_DTYPE",
    "Change",
    "Entry",
    "Indexing",
    "Store",
    "index_files",
    "is_store",
    "open_named",
    "open_store",
    "parse_bytes",
]

__getattr__, __dir__ = lazy_names(
    __name__, {"adamerge.store.index": ["Change", "Indexing", "index_files"]}
)
