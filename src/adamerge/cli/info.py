"""The verb that says what there is."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from adamerge import report
from adamerge.cli.common import listed
from adamerge.store import is_store, open_named
from adamerge.types import MultiVector
from adamerge.vectors import open_shards, read_vectors
from adamerge.vectors.manifest import NAME


@click.command()
@click.argument("path", metavar="PATH_OR_URL")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def info(path: str, as_json: bool) -> None:
    """Say what a store, a folder or a file of vectors holds: pages, vectors, bytes, and what made them."""
    known = facts(path)
    click.echo(json.dumps(known) if as_json else listed(known))


def facts(where: str | Path) -> dict[str, Any]:
    """What a store, a folder or a file of vectors holds."""
    if is_store(where):
        with open_named(str(where)) as store:
            return store.facts()
    path = Path(where)
    if not (path / NAME).exists():
        return _facts_of_pages(read_vectors(path))
    folder = open_shards(path)
    manifest = folder.manifest
    facts: dict[str, Any] = {
        "pages": len(folder),
        "dimensions": folder.dimension,
        "dtype": manifest.dtype,
    }
    if manifest.method:
        all_pages = report.total(list(report.rows(folder)))
        facts |= {"method": manifest.method} | {
            k: v for k, v in all_pages.json().items() if k != "page"
        }
    facts |= {
        "bytes on disk": sum(f.stat().st_size for f in path.iterdir()),
        "shards": len(folder.counts),
    }
    versions = {f"{package} version": version for package, version in manifest.versions.items()}
    for key, value in (manifest.encoder | versions).items():
        facts.setdefault(key, value)  # an encoder may say what it likes, but not how many pages
    return facts


def _facts_of_pages(pages: Iterable[MultiVector]) -> dict[str, Any]:
    facts: dict[str, Any] = {"pages": 0, "patches": 0, "extra": 0}
    for page in pages:
        extra = 0 if page.extra is None else len(page.extra)
        facts |= {
            "pages": facts["pages"] + 1,
            "patches": facts["patches"] + len(page),
            "extra": facts["extra"] + extra,
        }
        facts |= {"dimensions": page.vectors.shape[1], "attention": page.attention is not None}
    return facts
