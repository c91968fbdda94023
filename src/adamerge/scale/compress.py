"""A folder of vectors -> a folder of compressed pages, by the cores of a cluster: a task for each shard."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from adamerge.buckets import AnyPath, as_path
from adamerge.compress import Method, compress_pages, parse_method
from adamerge.compress.names import MethodInDtype, split_dtype
from adamerge.errors import Damaged
from adamerge.scale.connect import Cluster, connected
from adamerge.scale.driver import Driver
from adamerge.scale.pool import Attempt, Done, Meter, TaskPool
from adamerge.scale.summary import Summary
from adamerge.scale.user_code import UserFile, read_user_files, run_user_files
from adamerge.types import MultiVector
from adamerge.vectors import columns, open_shards
from adamerge.vectors.compress_folder import compressed_folder
from adamerge.vectors.manifest import Manifest
from adamerge.vectors.planned import UnitOutput, read_output, write_unit
from adamerge.vectors.shards import load_written_page, read_ids, read_shard
from adamerge.vectors.units import FilePages, Unit
from adamerge.vectors.watcher import Watcher


@dataclass(frozen=True)
class CompressJob:
    """What every task of a run is told."""

    out: AnyPath
    manifest: Manifest
    user_files: tuple[UserFile, ...]


def compress_folder(
    source: str | AnyPath,
    out: str | AnyPath,
    method: Method | MethodInDtype | str,
    cluster: Cluster,
    *,
    dtype: str | None = None,
    watcher: Watcher | None = None,
) -> Summary:
    """Compress the pages of a folder on a cluster, into the same bytes as on one machine.

    The folders are on a disk that every node sees under the same path, or in a bucket. Shards that an earlier
    run wrote are passed over.
    """
    shards = open_shards(source)
    if isinstance(method, str):
        method = parse_method(method)
    plain, named_dtype = split_dtype(method)
    kept = dtype or named_dtype or "float16"
    with compressed_folder(shards, as_path(out).absolute(), plain, kept) as folder:
        if watcher:
            watcher.pass_over(folder.done())
        if folder.is_finished:
            return Summary()
        job = CompressJob(folder.path, folder.manifest, read_user_files(cluster.modules))
        with connected(cluster) as ray:
            pool = TaskPool(ray, compress_unit, job)
            driver = Driver(ray, pool, _page_id, watcher=watcher)
            for unit, done in driver.run(folder.missing()):
                folder.note(unit, UnitOutput(done.pages, done.skipped))
    return driver.summary


def compress_unit(job: CompressJob, attempt: Attempt) -> Done:
    """Compress the pages of a unit and write its shard; a shard that is there is done."""
    meter = Meter()
    unit = attempt.unit
    if not attempt.is_trial:
        there = read_output(job.out, unit)
        if there is not None:
            return meter.done(there.pages, tuple(there.skipped))

    run_user_files(job.user_files)
    method = parse_method(job.manifest.method)
    pages = list(compress_pages(_page_loaders(unit), method, workers=1))
    if not attempt.is_trial:
        write_unit(job.out, job.manifest, unit, pages, attempt.skipped)
    return meter.done(len(pages), attempt.skipped)


def _page_loaders(unit: Unit) -> Iterator[Callable[[], MultiVector]]:
    """A function for each page of a unit that makes it."""
    for part in unit.parts:
        arrays, ids = read_shard(as_path(part.path))
        if len(ids) < part.numbers.stop - 1:
            raise Damaged(f"{part.path} holds {len(ids)} pages, and the manifest counts more")
        loaders = list(columns.page_loaders(arrays, ids, part.path, part.first - 1))
        for load in loaders[: part.pages]:
            yield partial(load_written_page, load)


def _page_id(unit: Unit) -> str:
    """The id of the one page of a unit."""
    page: FilePages = unit.parts[0]
    return read_ids(as_path(page.path))[page.first - 1]
