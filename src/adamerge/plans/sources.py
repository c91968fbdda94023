"""Where the pages of a sample come from: vectors on disk, a store, or files that are encoded for it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from adamerge.buckets import AnyPath
from adamerge.documents import DPI, Report, count_file, find_files, read_file
from adamerge.encoders import Encoder
from adamerge.encoders.batches import encode_in_batches
from adamerge.errors import BadInput
from adamerge.plans.sample import check_sample, draw_sample, spread
from adamerge.store import Store
from adamerge.types import MultiVector, Page
from adamerge.vectors import NO_OPTIONS, ReadOptions, Shards, is_shards, open_shards, read_vectors
from adamerge.vectors.watcher import Watcher


def sample_vectors(
    path: Path, most: int, seed: int, options: ReadOptions = NO_OPTIONS
) -> list[MultiVector]:
    """A sample of the pages of a folder or file of vectors."""
    if is_shards(path) and not options:
        return _sample_shards(open_shards(path), most)
    pages = read_vectors(path, column=options.column, prompt_rows=options.prompt_rows)
    return draw_sample(pages, most, seed)


def sample_store(store: Store, most: int, seed: int) -> list[MultiVector]:
    """A sample of the pages of a store that keeps them whole; pages that are compressed already are refused."""
    method = store.require_about().method
    if method != "identity":
        raise BadInput(
            f"the store keeps pages compressed by {method}, so what whole pages would find is not known: "
            "plan on the files, or on their vectors"
        )
    return draw_sample(_whole_pages(store), most, seed)


def sample_files(
    paths: Sequence[str | AnyPath],
    encoder: Encoder,
    most: int,
    *,
    dpi: int = DPI,
    batch_size: int = 4,
    skip_bad: Report | None = None,
    watcher: Watcher | None = None,
    password: str = "",
) -> list[MultiVector]:
    """A sample of the pages of PDF files and images, encoded; no other page is rendered.

    `password` opens encrypted PDF files.
    """
    check_sample(most)
    encoded: list[MultiVector] = []

    def read(report: Report | None) -> Iterator[Page]:
        return _read_sample(paths, most, dpi, report, password)

    for batch in encode_in_batches(encoder, read, batch_size, skip_bad=skip_bad, watcher=watcher):
        encoded += [vectors for _, vectors in batch]
    return encoded


def _sample_shards(shards: Shards, most: int) -> list[MultiVector]:
    check_sample(most)
    wanted = set(spread(len(shards), most))
    pages = []
    for number, load in enumerate(shards.page_loaders()):
        if number in wanted:
            pages.append(load())
    return pages


def _whole_pages(store: Store) -> Iterator[MultiVector]:
    for entry in store.entries():
        page = entry.page
        yield MultiVector(page.vectors, extra=page.extra, grid=page.grid, id=page.id)


def _read_sample(
    paths: Sequence[str | AnyPath], most: int, dpi: int, skip_bad: Report | None, password: str
) -> Iterator[Page]:
    """The pages at equal distances over all files."""
    files = find_files(paths)
    counts = [count_file(path, password) for path, _ in files]
    wanted = spread(sum(counts), most)

    first = 0  # number of the first page of the file
    for (path, source), count in zip(files, counts, strict=True):
        of_file = [number - first for number in wanted if first <= number < first + count]
        first += count
        if not of_file:
            continue
        others = _ids(source, set(range(count)).difference(of_file))
        yield from read_file(path, source, dpi, skip_bad, others, password=password)


def _ids(source: str, numbers: set[int]) -> set[str]:
    """The ids of pages of a file by their numbers, from 0 on."""
    return {f"{source}#{number + 1}" for number in numbers}
