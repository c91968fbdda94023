"""Which store an address stands for."""

import os
import re
from pathlib import Path
from typing import Any

from adamerge.errors import BadInput, missing_extra
from adamerge.store.base import Store
from adamerge.store.lance.folder import has_table

SCHEMES = ("s3", "gs", "az", "http", "https")
KEY = "ADAMERGE_API_KEY"  # holds Qdrant's key: an option would stay in the history of the shell
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}  # of 1000, or of 1024 with an i


def open_store(address: str | Path, **options: Any) -> Store:
    """A store in a folder (`reports`), a bucket (`s3://bucket/reports`) or a Qdrant server (`http://host:6333/reports`).

    encoder          what encodes pages and queries: a name, an Encoder, or what a manifest says of one
    dtype            of the stored vectors: float32, float16, int8, int4, int2 or int1
    memory           bytes of vectors that a search may hold (Lance): 4 GiB, or "500MB"
    storage_options  of a bucket, as Lance takes them, where the environment does not say
    api_key, timeout, shard_number, replication_factor   of Qdrant
    """
    if isinstance(options.get("memory"), str):
        options["memory"] = parse_bytes(options["memory"])

    scheme, mark, _ = str(address).partition("://")
    if mark and scheme not in SCHEMES:
        known = ", ".join(f"{known}://" for known in SCHEMES)
        raise BadInput(f"a store is a folder, or begins with {known}; got {address}")

    if scheme in ("http", "https"):
        return _open_qdrant(str(address), options)
    return _open_lance(address, options)


def _open_qdrant(url: str, options: dict[str, Any]) -> Store:
    try:
        from adamerge.store.qdrant.store import open_qdrant
    except ModuleNotFoundError:
        raise missing_extra("a Qdrant store", "qdrant") from None
    return open_qdrant(url, **options)


def _open_lance(path: str | Path, options: dict[str, Any]) -> Store:
    try:
        from adamerge.store.lance.store import LanceStore
    except ModuleNotFoundError:
        raise missing_extra("a store", "store") from None
    return LanceStore(path, **options)


def open_named(address: str, **options: Any) -> Store:
    """A store that a person named on the command line; Qdrant's key comes from ADAMERGE_API_KEY."""
    if address.startswith(("http://", "https://")):
        options["api_key"] = os.environ.get(KEY)
    return open_store(address, **options)


def is_store(address: str | Path) -> bool:
    """Whether an address stands for a store: a folder that holds one, or any address of a bucket or server."""
    return "://" in str(address) or has_table(address)


def parse_bytes(text: str) -> int:
    """Bytes from a number with a unit: 500MB, 4GiB, 1e9."""
    match = re.fullmatch(r"([\d.e+]+)\s*([kmgt]?)(i?)b?", text.strip().lower())
    try:
        if match is None:
            raise ValueError
        number, unit, binary = match.groups()
        base = 1024 if binary else 1000
        return int(float(number) * base ** POWERS[unit])
    except (ValueError, OverflowError):
        raise BadInput(
            f"a size is a number and a unit, such as 500MB or 4GiB; got {text!r}"
        ) from None
