"""What a folder or a file of vectors holds."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from adamerge import compression_report
from adamerge.buckets import AnyPath, as_path
from adamerge.errors import BadInput
from adamerge.files import size_of
from adamerge.store import is_store
from adamerge.types import MultiVector
from adamerge.vectors import ReadOptions, is_shards, open_shards, read_vectors, recorded_encoder


def facts_of_vectors(
    address: str | AnyPath, column: str = "", prompt_rows: tuple[int, int] | None = None
) -> dict[str, Any]:
    """What a folder of vectors holds, or a file of another program; options are refused where they say nothing."""
    options = ReadOptions(column, prompt_rows)
    if options and (is_store(str(address)) or is_shards(address)):
        raise BadInput(f"{address} says itself where its vectors are: leave out {options}")
    if is_shards(address):
        return _facts_of_shards(as_path(address))
    path = Path(str(address))
    pages = read_vectors(path, column=column, prompt_rows=prompt_rows)
    return _facts_of_pages(pages) | recorded_encoder(path)


def _facts_of_shards(path: AnyPath) -> dict[str, Any]:
    """What a folder of vectors holds, compressed or not."""
    folder = open_shards(path)
    manifest = folder.manifest
    facts: dict[str, Any] = {
        "pages": len(folder),
        "dimensions": folder.dimension,
        "dtype": manifest.dtype,
    }
    if manifest.method:
        all_pages = compression_report.total(list(compression_report.page_rows(folder)))
        totals = all_pages.json()
        del totals["page"]
        facts |= {"method": manifest.method} | totals
    facts["bytes on disk"] = sum(size_of(file) for file in path.iterdir())
    facts["shards"] = len(folder.counts)

    versions = {f"{package} version": version for package, version in manifest.versions.items()}
    for key, value in (manifest.encoder | versions).items():
        facts.setdefault(key, value)  # an encoder may say what it likes, but not how many pages
    return facts


def _facts_of_pages(pages: Iterable[MultiVector]) -> dict[str, Any]:
    """What a file of vectors holds."""
    facts: dict[str, Any] = {"pages": 0, "patches": 0, "extra": 0}
    for page in pages:
        facts["pages"] += 1
        facts["patches"] += len(page)
        if page.extra is not None:
            facts["extra"] += len(page.extra)
        facts["dimensions"] = page.vectors.shape[1]
        facts["attention"] = page.attention is not None
    return facts
