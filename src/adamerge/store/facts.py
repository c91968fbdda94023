"""The facts of a store, in the order in which a person reads them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adamerge.store.about import About


@dataclass(frozen=True)
class Totals:
    """Sums over all pages of a store.

    rows         stored vectors, the extra rows included
    total_bytes  of the whole database; None where it does not tell
    """

    pages: int
    files: int
    patches: int
    rows: int
    extra: int
    total_bytes: int | None


def facts_of(about: About, columns: Mapping[str, str], totals: Totals) -> dict[str, Any]:
    """What a store holds and what made it; bytes are None where the database does not tell."""
    groups = totals.rows - totals.extra
    compression = 0.0
    if totals.patches:
        compression = 1 - groups / totals.patches

    vector_bytes = totals.rows * about.vector_bytes
    bytes_of_rest = bytes_per_page = None
    if totals.total_bytes is not None:
        bytes_of_rest = totals.total_bytes - vector_bytes
        if totals.pages:
            bytes_per_page = totals.total_bytes // totals.pages

    facts: dict[str, Any] = {
        "pages": totals.pages,
        "files": totals.files,
        "dimensions": about.dimension,
        "dtype": about.dtype,
        "method": about.method,
        "patches": totals.patches,
        "stored": groups,
        "extra": totals.extra,
        "compression": compression,
        "bytes of vectors": vector_bytes,
        "bytes of the rest": bytes_of_rest,
        "bytes in all": totals.total_bytes,
        "bytes per page": bytes_per_page,
    }
    if columns:
        kinds = [f"{name} {kind}" for name, kind in columns.items()]
        facts["metadata"] = ", ".join(kinds)
    for key, value in about.encoder.items():
        facts.setdefault(key, value)  # an encoder may say what it likes, but not how many pages
    return facts
