"""Files -> a store: what has not changed is passed over, what has is replaced, what is gone is removed."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import normalize

from adamerge.compress.names import Method, parse_method
from adamerge.encoders import DEFAULT_ENCODER, Encoder, EncoderSpec, default_method
from adamerge.encoders.encode import Watcher, batches, encode_batch
from adamerge.errors import BadFile, Mismatch
from adamerge.files import hash_of
from adamerge.pages import DPI, Report, count_pages, find_files, read_file
from adamerge.store.base import BATCH, Source, Store
from adamerge.store.entry import Entry, thumbnail
from adamerge.store.metadata import columns_of
from adamerge.types import Compressed, Page

PIXELS = 512  # of a thumbnail's longer side


@dataclass(frozen=True)
class Change:
    """What indexing did with a page: added, replaced, unchanged or removed; once it is said, it is in the store."""

    id: str
    did: str


@dataclass(frozen=True)
class File:
    """A file to index, and what the store knows of it; `source` is what it is called there."""

    path: Path
    source: str
    root: str
    hash: str
    pages: int
    known: Source | None
    metadata: Mapping[str, Any]

    @property
    def done(self) -> set[str]:
        """Ids of its pages that are in the store as they are now."""
        return (
            {id for id, hash in self.known.ids.items() if hash == self.hash}
            if self.known
            else set()
        )

    @property
    def unchanged(self) -> bool:
        """Whether all of its pages, and no others, are in the store."""
        return self.known is not None and len(self.done) == len(self.known.ids) == self.pages

    @property
    def relabelled(self) -> bool:
        """Whether its metadata are not those in the store."""
        there = self.known.metadata if self.known else {}
        return any(there.get(name) != value for name, value in self.metadata.items())

    def stale(self, written: Container[str], readable: Container[str]) -> list[str]:
        """Ids of pages that the file once had; none while nothing of it can be read, as in the midst of a copy.

        written, readable  ids of the pages that were written, and the sources of which a page could be read
        """
        done, known = self.done, self.known.ids if self.known else {}
        if not done and self.source not in readable:
            return []
        return [id for id in known if id not in done and id not in written]


def survey(
    paths: Sequence[str | Path],
    store: Store,
    metadata: Mapping[str, Mapping[str, Any]],
    skip_bad: Report | None = None,
) -> list[File]:
    """The files to index and what the store knows of each; one that would take another's place is refused.

    A file keeps the name it was first indexed under, also when a folder above or below is given later.
    """
    metadata = {
        normalize("NFC", name): values for name, values in metadata.items()
    }  # as any disk spells it
    there = store.sources()
    names = {Path(source.root) / name: name for name, source in there.items() if source.root}
    files = []
    for path, given in find_files(paths):
        place = path.absolute().parents[len(Path(given).parts) - 1].resolve()
        source = names.get(place / given, given)
        known = there.get(source)
        try:
            hash = hash_of(path)
        except BadFile as error:
            if skip_bad is None:
                raise
            skip_bad(error)
            continue
        root = known.root if known and source != given else place.as_posix()
        changed = known and hash not in known.ids.values()
        if (
            known
            and changed
            and known.root not in ("", root)
            and (Path(known.root) / source).exists()
        ):
            raise Mismatch(
                f"the store holds another '{source}', of {known.root}: give the folder that holds both, or "
                f"adamerge delete --source '{source}' first"
            )
        pages = known.pages if known and not changed else count_pages([path])
        values = metadata.get(normalize("NFC", source), known.metadata if known else {})
        files.append(File(path, source, root, hash, pages, known, values))
    return files


@dataclass(frozen=True)
class Indexing:
    """How files become entries."""

    encoder: Encoder | EncoderSpec | str = DEFAULT_ENCODER  # if only named, loaded when needed
    method: Method | str | None = None  # default_method() of the encoder
    batch_size: int = 4
    dpi: int = DPI
    pixels: int = PIXELS  # of a thumbnail's longer side; 0 for none
    skip_bad: Report | None = None  # is told of bad pages; without it, the first one ends the run
    watcher: Watcher | None = None  # is told of pages when they are encoded, before they are stored

    @property
    def encoder_name(self) -> str:
        """The name of the encoder, loaded or not."""
        return self.encoder if isinstance(self.encoder, str) else self.encoder.name

    def load_encoder(self) -> Encoder:
        """The encoder, loaded."""
        spec = EncoderSpec(self.encoder) if isinstance(self.encoder, str) else self.encoder
        return spec.load() if isinstance(spec, EncoderSpec) else spec


def index_files(
    paths: Sequence[str | Path],
    store: Store,
    how: Indexing | None = None,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[Change]:
    """Bring a store up to date with files, folders and globs, and say what became of each page once it is safe.

    The pages of a file that is gone are removed if the folder that it was found in is among `paths`. Metadata are
    values by name for each source; those of pages that have not changed are updated too. A run that is stopped at any
    moment goes on when it is started again.
    """
    how = how or Indexing()
    method = _checked_method(store, how)
    store.begin()  # a second writer hears of it now, not after hours of encoding
    files = survey(paths, store, metadata or {}, how.skip_bad)
    columns_of((file.metadata for file in files), store.columns())  # refused now, not later
    for file in files:
        yield from (Change(id, "unchanged") for id in sorted(file.done))

    new = {file.source: file for file in files if not file.unchanged}
    written, readable = set[str](), set[str]()
    entries = _entries(new, store, how, method, readable) if new else iter(())
    for batch in batches(entries, BATCH):
        store.add(batch)
        for entry in batch:
            written.add(entry.id)
            known = new[entry.source].known
            yield Change(entry.id, "replaced" if known and entry.id in known.ids else "added")

    stale = [id for file in new.values() for id in file.stale(written, readable)]
    stale += _gone(paths, files, store)
    if stale:
        store.delete(*stale)
        yield from (Change(id, "removed") for id in stale)
    _update_known(files, store)


def _checked_method(store: Store, how: Indexing) -> Method:
    """The method to compress by; another method or encoder than that of the store is refused."""
    wanted = how.method or default_method(how.encoder_name)
    method = parse_method(wanted) if isinstance(wanted, str) else wanted
    if store.about is None:
        return method
    if str(method) != store.about.method:
        raise Mismatch(
            f"the store holds pages of {store.about}, not of {method}: use that method, or another store"
        )
    store.about.check_encoder({"name": how.encoder_name, "dpi": how.dpi})
    return method


def _update_known(files: Sequence[File], store: Store) -> None:
    """Note new folders and new metadata of files whose pages were in the store before."""
    known = [(file, file.known) for file in files if file.known]
    roots = {file.source: file.root for file, there in known if there.root != file.root}
    if roots:
        store.moved(roots)
    labels = {file.source: file.metadata for file, _ in known if file.relabelled}
    if labels:
        store.label(labels)


def _entries(
    new: dict[str, File], store: Store, how: Indexing, method: Method, readable: set[str]
) -> Iterator[Entry]:
    """The pages of files that are not in the store yet, encoded and compressed; `readable` grows with their sources."""
    encoder = how.load_encoder()
    store.encoded_by(encoder, dpi=how.dpi)
    pages = (
        page
        for file in new.values()
        for page in read_file(file.path, file.source, how.dpi, how.skip_bad, file.done)
    )
    for batch in batches(pages, how.batch_size):
        readable.update(page.source for page in batch)
        for page, vectors in encode_batch(encoder, batch, how.skip_bad, how.watcher):
            yield _entry(page, method(vectors), new[page.source], thumbnail(page, how.pixels))


def _entry(page: Page, small: Compressed, file: File, picture: bytes) -> Entry:
    return Entry(
        small,
        file.source,
        page.number,
        file.pages,
        file.root,
        file.hash,
        page.words,
        picture,
        file.metadata,
    )


def _gone(paths: Sequence[str | Path], files: Sequence[File], store: Store) -> Iterator[str]:
    """Pages of files that were below one of the folders given, and are no more."""
    folders = {Path(path).resolve() for path in paths if Path(path).is_dir()}
    here = {file.source for file in files}
    for name, source in store.sources().items():
        place = Path(source.root) / name
        below = source.root and not folders.isdisjoint(place.parents)
        if name not in here and below and not place.exists():
            yield from source.ids
