"""The verb that says what a store, a folder or a file of vectors holds."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from adamerge import compression_report
from adamerge.buckets import SCHEMES, AnyPath, as_path
from adamerge.cli.common import vector_options
from adamerge.cli.text_table import counted
from adamerge.errors import BadInput
from adamerge.files import size_of
from adamerge.store import is_store, open_named
from adamerge.types import MultiVector
from adamerge.vectors import (
    NO_OPTIONS,
    ReadOptions,
    is_shards,
    open_shards,
    read_vectors,
    recorded_encoder,
)

NAMES = {  # of facts, where the usual word is another than that of the manifest
    "name": "encoder",
    "revision": "revision of the encoder",
    "options": "options of the encoder",
    "bytes_before": "bytes before",
    "bytes_after": "bytes after",
}


@click.command()
@click.argument("path", metavar="PATH_OR_URL")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@vector_options
def info(path: str, as_json: bool, column: str, prompt_rows: tuple[int, int] | None) -> None:
    """Say what a store or a folder or file of vectors holds. That is pages, vectors, bytes, and what made them.

    Numbers are rounded for reading; --json has all of their digits.
    """
    known = facts(path, ReadOptions(column, prompt_rows))
    if as_json:
        click.echo(json.dumps(known))
    else:
        click.echo(in_words(known))


def in_words(facts: Mapping[str, Any]) -> str:
    """Facts as a person reads them, a line each; empty ones are left out."""
    lines = []
    for key, value in facts.items():
        if value not in ({}, [], ""):
            lines.append(f"{NAMES.get(key, key):<24}{_value_in_words(key, value)}")
    return "\n".join(lines)


def summary(facts: Mapping[str, Any]) -> str:
    """The facts that matter most, in one line: pages, vectors and bytes."""
    parts = [counted(facts["pages"], "page")]
    if facts.get("files"):
        parts[0] += f" of {counted(facts['files'], 'file')}"
    if "stored" in facts:
        share = f"{facts['compression']:.1%} compression"
        parts.append(f"{counted(facts['stored'], 'vector')} ({share})")
    size = facts.get("bytes in all") or facts.get("bytes on disk")
    if size:
        parts.append(bytes_in_words(size))
    return ", ".join(parts)


def bytes_in_words(count: float) -> str:
    """A number of bytes with a unit: 812 bytes, 1.4 MB."""
    if count < 1000:
        return f"{count:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 1000:
            return f"{count:.3g} {unit}"
    return f"{count / 1000:,.3g} TB"


def _value_in_words(key: str, value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    if not isinstance(value, int | float):
        return str(value)
    if key == "compression":
        return f"{value:.1%} of the patches are not stored"
    if "bytes" in key:
        return bytes_in_words(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3g}"


def facts(address: str | AnyPath, options: ReadOptions = NO_OPTIONS) -> dict[str, Any]:
    """What a store, a folder or a file of vectors holds; `options` are for files of other programs."""
    name = str(address)
    if options and (is_store(name) or is_shards(address)):
        raise BadInput(f"{address} says itself where its vectors are: leave out {options}")
    if is_store(name):
        with open_named(name) as store:
            if store.about is not None or not _is_bucket_of_vectors(name):
                return store.facts()
    if is_shards(address):
        return _facts_of_shards(as_path(address))
    path = Path(name)
    pages = read_vectors(path, column=options.column, prompt_rows=options.prompt_rows)
    return _facts_of_pages(pages) | recorded_encoder(path)


def _is_bucket_of_vectors(address: str) -> bool:
    """Whether an address is a folder of vectors in a bucket."""
    scheme = address.partition("://")[0]
    return scheme in SCHEMES and is_shards(address)


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
