"""Compressed pages -> a database, and back by search: open_store(where).

A folder or a bucket holds them by Lance (extra `store`), a server or cluster by Qdrant (extra `qdrant`).
"""

import os
import re
from pathlib import Path
from typing import Any

from adamerge.errors import BadInput, missing_extra
from adamerge.store.base import Store
from adamerge.store.entry import Entry
from adamerge.store.folder import has_table

__all__ = ["Entry", "Store", "is_store", "open_named", "open_store"]

SCHEMES = ("s3", "gs", "az", "http", "https")
KEY = "ADAMERGE_API_KEY"  # variable that holds Qdrant's key: an option would stand in the shell's history
UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def open_store(where: str | Path, **options: Any) -> Store:
    """A store in a folder (`reports`), a bucket (`s3://bucket/reports`) or a Qdrant server (`http://host:6333/reports`).

    encoder  who encodes pages and queries: a name, an Encoder, or what a manifest says of one; known from then on
    dtype    of the stored vectors: float16, float32 or int8
    memory   bytes of vectors that a search may hold to compare them all (Lance): 4 GiB, or "500MB"
    api_key, shard_number, replication_factor   of Qdrant
    """
    if isinstance(options.get("memory"), str):
        options["memory"] = parse_bytes(options["memory"])
    scheme, mark, _ = str(where).partition("://")
    if mark and scheme not in SCHEMES:
        raise BadInput(
            f"a store is a folder, or begins with {', '.join(f'{s}://' for s in SCHEMES)}; got {where}"
        )
    if scheme in ("http", "https"):
        try:
            from adamerge.store.qdrant import open_qdrant
        except ModuleNotFoundError:
            raise missing_extra("a Qdrant store", "qdrant") from None
        return open_qdrant(str(where), **options)
    try:
        from adamerge.store.lance import LanceStore
    except ModuleNotFoundError:
        raise missing_extra("a store", "store") from None
    return LanceStore(where, **options)


def open_named(where: str, **options: Any) -> Store:
    """A store that a person named; Qdrant's key comes from ADAMERGE_API_KEY."""
    if where.startswith(("http://", "https://")):
        options["api_key"] = os.environ.get(KEY)
    return open_store(where, **options)


def is_store(where: str | Path) -> bool:
    """Whether a store is there: a folder that holds one, or an address."""
    return "://" in str(where) or has_table(where)


def parse_bytes(text: str) -> int:
    """Bytes from a number with a unit: 500MB, 4GiB, 1e9."""
    match = re.fullmatch(r"([\d.e+]+)\s*([kmgt]?)(i?)b?", text.strip().lower())
    try:
        number, unit, binary = match.groups() if match else ("", "", "")
        return int(float(number) * (1024 if binary else 1000) ** UNITS[unit])
    except (ValueError, OverflowError):
        raise BadInput(
            f"a size is a number and a unit, such as 500MB or 4GiB; got {text!r}"
        ) from None
