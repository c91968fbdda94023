"""Files -> a store: unchanged pages stay, changed ones are replaced, those of files that are gone are removed."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

from adamerge.buckets import AnyPath, as_path, path_of_root
from adamerge.compress import (
    DEFAULT_METHOD,
    INDEX_DTYPE,
    Method,
    MethodInDtype,
    parse_method,
)
from adamerge.compress.names import split_dtype
from adamerge.documents import DPI, Report, count_file, find_files, read_file
from adamerge.encoders import DEFAULT_ENCODER, Encoder, EncoderSpec
from adamerge.encoders.batches import batches, encode_in_batches
from adamerge.errors import BadFile, Mismatch
from adamerge.files import hash_of
from adamerge.store.base import PAGES_PER_WRITE, Store
from adamerge.store.entry import Entry, Source, thumbnail
from adamerge.store.metadata import columns_of
from adamerge.types import Compressed, Page
from adamerge.vectors.units import Unit, units_of_files
from adamerge.vectors.watcher import Watcher

PIXELS = 512  # of a thumbnail's longer side


@dataclass(frozen=True)
class Change:
    """What indexing did with a page: added, replaced, unchanged or removed; the store has it when you are told."""

    id: str
    did: str


@dataclass(frozen=True)
class FileToIndex:
    """A file to index; `source` is its name in the store, and `known` what the store has of it already."""

    path: AnyPath
    source: str
    root: str
    hash: str
    pages: int
    known: Source | None
    metadata: Mapping[str, Any]

    @property
    def done(self) -> set[str]:
        """Ids of its pages that are in the store as they are now."""
        if self.known is None:
            return set()
        return {id for id, hash in self.known.hashes.items() if hash == self.hash}

    @property
    def unchanged(self) -> bool:
        """Whether all of its pages, and no others, are in the store."""
        if self.known is None:
            return False
        return len(self.done) == len(self.known.hashes) == self.pages

    @property
    def has_new_metadata(self) -> bool:
        """Whether its metadata are not those in the store."""
        known = self.known.metadata if self.known else {}
        return any(known.get(name) != value for name, value in self.metadata.items())

    def stale(self, written: Container[str], readable: Container[str]) -> list[str]:
        """Ids of pages that the file once had; none while no page of it can be read, as in the midst of a copy.

        written   ids of the pages that this run wrote
        readable  sources of which this run could read a page
        """
        done = self.done
        if self.known is None or (not done and self.source not in readable):
            return []
        return [id for id in self.known.hashes if id not in done and id not in written]


def files_to_index(
    paths: Sequence[str | AnyPath],
    store: Store,
    metadata: Mapping[str, Mapping[str, Any]],
    how: "Indexing",
) -> list[FileToIndex]:
    """The files to index and what the store has of each; a file that would take the place of another is refused.

    A file keeps the name under which it was first indexed, also when a folder above or below is given later.
    """
    by_source = {normalize("NFC", name): values for name, values in metadata.items()}
    known_sources = store.sources()
    names = {}  # path -> name in the store
    for name, known in known_sources.items():
        if known.root:
            names[path_of_root(known.root) / name] = name

    found = []
    for path, given in find_files(paths):
        folder = path.absolute().parents[len(Path(given).parts) - 1].resolve()
        source = names.get(folder / given, given)
        try:
            file = _file_to_index(path, given, folder, source, known_sources.get(source), how)
        except BadFile as error:
            if how.skip_bad is None:
                raise
            how.skip_bad(error)
            continue
        values = by_source.get(normalize("NFC", source))  # as any disk spells the name
        if values is not None:
            file = replace(file, metadata=values)
        found.append(file)
    return found


def _file_to_index(
    path: AnyPath,
    given: str,
    folder: AnyPath,
    source: str,
    known: Source | None,
    how: "Indexing",
) -> FileToIndex:
    """A file that was found in a folder under the name `given`, with the metadata that the store has of it."""
    hash = hash_of(path)
    if known is None:
        pages = _count_pages(path, source, how)
        return FileToIndex(path, source, folder.as_posix(), hash, pages, None, {})

    root = folder.as_posix() if source == given else known.root
    is_changed = hash not in known.hashes.values()
    is_elsewhere = known.root not in ("", root)
    if is_changed and is_elsewhere and (path_of_root(known.root) / source).exists():
        raise Mismatch(
            f"the store holds another '{source}', of {known.root}: give the folder that holds both, or "
            f"adamerge delete --source '{source}' first"
        )
    pages = known.pages
    # a run that was stopped leaves pages of the old file beside those of the new one: known.pages may be the old number
    if set(known.hashes.values()) != {hash}:
        pages = _count_pages(path, source, how)
    return FileToIndex(path, source, root, hash, pages, known, known.metadata)


def _count_pages(path: AnyPath, source: str, how: "Indexing") -> int:
    """How many pages a file has; that takes a while for an office file, so the watcher is told."""
    if how.watcher is not None:
        how.watcher.begin(source)
    return count_file(path, how.password)


@dataclass(frozen=True)
class Indexing:
    """How files become entries.

    encoder     if it is only named, it is loaded when it is needed
    method      None for that of the store, or DEFAULT_METHOD for a new one
    batch_size  pages that are encoded at a time
    pixels      of a thumbnail's longer side; 0 for no thumbnails
    skip_bad    is told of bad pages; without it, the first bad page ends the run
    watcher     is told of pages when they are encoded, before they are stored
    password    opens encrypted PDF files; it is never stored
    """

    encoder: Encoder | EncoderSpec | str = DEFAULT_ENCODER
    method: Method | MethodInDtype | str | None = None
    batch_size: int = 4
    dpi: int = DPI
    pixels: int = PIXELS
    skip_bad: Report | None = None
    watcher: Watcher | None = None
    password: str = field(default="", repr=False)

    @property
    def encoder_name(self) -> str:
        """The name of the encoder, loaded or not."""
        if isinstance(self.encoder, str):
            return self.encoder
        return self.encoder.name

    def load_encoder(self) -> Encoder:
        """The encoder, loaded."""
        if isinstance(self.encoder, str):
            return EncoderSpec(self.encoder).load()
        if isinstance(self.encoder, EncoderSpec):
            return self.encoder.load()
        return self.encoder


def index_files(
    paths: Sequence[str | AnyPath],
    store: Store,
    how: Indexing | None = None,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[Change]:
    """Bring a store up to date with files, folders and globs, and yield what was done with each page once it is safe.

    The pages of a file that is gone are removed if the folder in which it was found is among `paths`. Metadata are
    values by name for each source; those of unchanged pages are updated too. A run that is stopped at any moment
    continues when it is started again.
    """
    how = how or Indexing()
    method = checked_method(store, how)
    files = begin_indexing(paths, store, metadata or {}, how)
    yield from unchanged_pages(files)

    changed = {file.source: file for file in files if not file.unchanged}
    written, readable = set[str](), set[str]()
    if changed:
        entries = _encode_files(changed, store, how, method, readable)
        for batch in batches(entries, PAGES_PER_WRITE):
            store.add(batch)
            for entry in batch:
                written.add(entry.id)
                yield change_of(entry.id, changed[entry.source])

    stale = list(pages_of_removed_files(paths, files, store))
    for file in changed.values():
        stale += file.stale(written, readable)
    if stale:
        store.delete(*stale)
        for id in stale:
            yield Change(id, "removed")
    update_known(files, store)


def begin_indexing(
    paths: Sequence[str | AnyPath],
    store: Store,
    metadata: Mapping[str, Mapping[str, Any]],
    how: Indexing,
) -> list[FileToIndex]:
    """The files to index, after all is refused that can be refused before hours of encoding."""
    store.begin_writing()  # a second writer is told now
    files = files_to_index(paths, store, metadata, how)
    columns_of((file.metadata for file in files), store.columns())  # bad metadata too
    return files


def unchanged_pages(files: Iterable[FileToIndex]) -> Iterator[Change]:
    """The pages that are in the store as they are now."""
    for file in files:
        for id in sorted(file.done):
            yield Change(id, "unchanged")


def change_of(id: str, file: FileToIndex) -> Change:
    """What was done with a page of a file that was written: it was there before, or not."""
    if file.known is not None and id in file.known.hashes:
        return Change(id, "replaced")
    return Change(id, "added")


def checked_method(store: Store, how: Indexing) -> Method:
    """The method to compress by; another method, dtype or encoder than that of the store is refused."""
    wanted = how.method or _usual_method(store)
    named = parse_method(wanted) if isinstance(wanted, str) else wanted
    method, dtype = split_dtype(named)
    if dtype:
        store.choose_dtype(dtype)
    elif store.chosen_dtype is None and INDEX_DTYPE in store.dtypes:
        store.choose_dtype(INDEX_DTYPE)
    if store.about is None:
        return method
    if str(method) != store.about.method:
        raise Mismatch(
            f"the store holds pages of {store.about}, not of {method}: use that method, or another store"
        )
    store.about.check_encoder({"name": how.encoder_name, "dpi": how.dpi})
    return method


def _usual_method(store: Store) -> str:
    if store.about is None:
        return DEFAULT_METHOD
    return store.about.method


def update_known(files: Sequence[FileToIndex], store: Store) -> None:
    """Note new folders and new metadata of files whose pages were in the store before."""
    roots = {}
    metadata = {}
    for file in files:
        if file.known is None:
            continue
        if file.known.root != file.root:
            roots[file.source] = file.root
        if file.has_new_metadata:
            metadata[file.source] = file.metadata
    if roots:
        store.set_roots(roots)
    if metadata:
        store.set_metadata(metadata)


def _encode_files(
    changed: dict[str, FileToIndex],
    store: Store,
    how: Indexing,
    method: Method,
    readable: set[str],
) -> Iterator[Entry]:
    """The pages of files that are not in the store yet, encoded and compressed.

    `readable` collects the sources of which a page could be read.
    """
    encoder = how.load_encoder()
    store.set_encoder(encoder, dpi=how.dpi)
    for unit in units_to_index(changed.values()):
        yield from entries_of_unit(encoder, unit, changed, how, method, readable)


def units_to_index(files: Iterable[FileToIndex]) -> Iterator[Unit]:
    """The units of work of files; a batch of pages that are encoded together never goes beyond a unit."""
    counted = ((str(file.path.absolute()), file.source, file.pages) for file in files)
    return units_of_files(counted)


def entries_of_unit(
    encoder: Encoder,
    unit: Unit,
    files: Mapping[str, FileToIndex],
    how: Indexing,
    method: Method,
    readable: set[str],
) -> Iterator[Entry]:
    """The pages of a unit that are not in the store yet, encoded and compressed."""

    def read(report: Report | None) -> Iterator[Page]:
        return _read_unit(unit, files, how, report, readable)

    for encoded in encode_in_batches(
        encoder,
        read,
        how.batch_size,
        skip_bad=how.skip_bad,
        watcher=how.watcher,
        with_pictures=how.pixels > 0,
    ):
        for page, vectors in encoded:
            compressed = method(vectors)
            yield _entry(page, compressed, files[page.source], thumbnail(page, how.pixels))


def _read_unit(
    unit: Unit,
    files: Mapping[str, FileToIndex],
    how: Indexing,
    report: Report | None,
    readable: set[str],
) -> Iterator[Page]:
    """The pages of a unit that are not in the store yet; `report` takes the errors of those that cannot be read."""
    for part in unit.parts:
        for page in read_file(
            as_path(part.path),
            part.name,
            how.dpi,
            report,
            files[part.name].done,
            part.numbers,
            password=how.password,
        ):
            readable.add(page.source)
            yield page


def _entry(page: Page, compressed: Compressed, file: FileToIndex, picture: bytes) -> Entry:
    return Entry(
        compressed,
        file.source,
        page.number,
        file.pages,
        file.root,
        file.hash,
        page.words,
        picture,
        file.metadata,
    )


def pages_of_removed_files(
    paths: Sequence[str | AnyPath], files: Sequence[FileToIndex], store: Store
) -> Iterator[str]:
    """Ids of the pages of files that were below one of the folders given, and do not exist any more."""
    given = map(as_path, paths)
    folders: set[AnyPath] = {path.resolve() for path in given if path.is_dir()}
    found = {file.source for file in files}
    for name, source in store.sources().items():
        if name in found or not source.root:
            continue
        path = path_of_root(source.root) / name
        is_below = not folders.isdisjoint(path.parents)
        if is_below and not path.exists():
            yield from source.hashes
