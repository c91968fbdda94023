"""A folder of vectors -> a folder of compressed pages, shard by shard; a run that was killed goes on where it was."""

from collections.abc import Iterator
from itertools import islice

from adamerge.buckets import AnyPath, as_path
from adamerge.compress.names import Method
from adamerge.compress.stream import compress_pages
from adamerge.types import Compressed
from adamerge.vectors.planned import PlannedFolder, write_unit
from adamerge.vectors.shards import Shards, fingerprint
from adamerge.vectors.units import units_of_shards
from adamerge.vectors.watcher import Watcher
from adamerge.vectors.writer import new_manifest


def compressed_folder(source: Shards, out: AnyPath, method: Method, dtype: str) -> PlannedFolder:
    """The folder to write: a shard of it for each shard of the source."""
    read_from = fingerprint(source.path)
    manifest = new_manifest(dtype, str(method), read_from, source.manifest.encoder)
    return PlannedFolder(out, manifest, lambda: units_of_shards(source))


def compress_folder(
    source: Shards,
    out: str | AnyPath,
    method: Method,
    *,
    dtype: str = "float16",
    workers: int | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Compress the pages of a folder on `workers` threads; shards that an earlier run wrote are passed over."""
    with compressed_folder(source, as_path(out), method, dtype) as folder:
        if watcher:
            watcher.pass_over(folder.done())
        missing = list(folder.missing())
        rest = source.only(unit.parts[0].name for unit in missing)
        pages = _watched(compress_pages(rest.page_loaders(), method, workers), watcher)
        for unit in missing:
            shard = list(islice(pages, unit.pages))
            folder.note(unit, write_unit(folder.path, folder.manifest, unit, shard))


def _watched(pages: Iterator[Compressed], watcher: Watcher | None) -> Iterator[Compressed]:
    for page in pages:
        if watcher:
            watcher.advance()
        yield page
