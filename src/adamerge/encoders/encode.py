"""Pages -> a folder of vectors, batch by batch; a run that was killed goes on where it was."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adamerge.buckets import AnyPath, as_path
from adamerge.compress import Method, compress_pages
from adamerge.documents import DPI, Report, count_file, find_files, read_file
from adamerge.encoders import Encoder
from adamerge.encoders.batches import encode_in_batches
from adamerge.errors import AdamergeError, BadFile
from adamerge.files import fingerprint
from adamerge.types import Compressed, MultiVector, Page
from adamerge.vectors import Writer
from adamerge.vectors.planned import PlannedFolder, write_unit
from adamerge.vectors.units import Unit, units_of_files
from adamerge.vectors.watcher import Watcher
from adamerge.vectors.writer import new_manifest


@dataclass(frozen=True)
class Encoding:
    """How files become vectors; the same on one machine and on a cluster.

    batch_size  pages that are encoded at a time; a batch never goes beyond a unit
    method      compresses every page at once; None for vectors as the encoder gives them
    password    opens encrypted PDF files; it is never written
    """

    batch_size: int = 4
    dpi: int = DPI
    method: Method | None = None
    dtype: str = "float16"
    password: str = field(default="", repr=False)


DEFAULT = Encoding()


class Skipped:
    """Takes the errors of bad pages: keeps what they say, and tells somebody else."""

    def __init__(self, report: Report | None = None) -> None:
        """Nothing was skipped yet."""
        self.texts: list[str] = []
        self._report = report

    def __call__(self, error: AdamergeError) -> None:
        """One more page is skipped."""
        self.texts.append(str(error))
        if self._report is not None:
            self._report(error)


def encode_files(
    paths: Sequence[str | AnyPath],
    out: str | AnyPath,
    encoder: Encoder,
    how: Encoding = DEFAULT,
    *,
    skip_bad: Report | None = None,
    watcher: Watcher | None = None,
) -> Iterator[MultiVector | Compressed]:
    """Encode files into a folder, unit by unit, and yield every page once its unit is on disk.

    Units that an earlier run wrote are passed over; `skip_bad` is told again of the pages that were skipped then.
    """
    with encoded_folder(paths, out, encoder.about, how) as folder:
        begin_watching(folder, skip_bad, watcher)
        for unit in folder.missing():
            skipped = Skipped(skip_bad)
            skip = skipped if skip_bad else None
            pages = list(encode_unit(encoder, unit, how, skip, watcher))
            output = write_unit(folder.path, folder.manifest, unit, pages, skipped.texts)
            folder.note(unit, output)
            yield from pages


def encoded_folder(
    paths: Sequence[str | AnyPath], out: str | AnyPath, about: Mapping[str, Any], how: Encoding
) -> PlannedFolder:
    """The folder to write; `about` is what the encoder says of itself."""
    files = find_files(paths)
    source = fingerprint(*((name, path) for path, name in files))
    encoder = dict(about) | {"batch size": how.batch_size, "dpi": how.dpi}
    method = "" if how.method is None else str(how.method)

    def plan() -> Iterator[Unit]:
        counted = []
        for path, name in files:
            pages = count_file(path, how.password)
            counted.append((str(path.absolute()), name, pages))
        return units_of_files(counted)

    return PlannedFolder(out, new_manifest(how.dtype, method, source, encoder), plan)


def begin_watching(folder: PlannedFolder, skip_bad: Report | None, watcher: Watcher | None) -> None:
    """Tell what an earlier run has done, and which pages it skipped."""
    done = folder.done()
    if watcher:
        watcher.pass_over(done)
    for text in folder.skipped():
        if skip_bad:
            skip_bad(BadFile(text))


def encode_unit(
    encoder: Encoder,
    unit: Unit,
    how: Encoding,
    skip_bad: Report | None = None,
    watcher: Watcher | None = None,
) -> Iterator[MultiVector | Compressed]:
    """The pages of a unit, encoded, and compressed where a method is given."""

    def read(report: Report | None) -> Iterator[Page]:
        return _read_unit(unit, how, report)

    for encoded in encode_in_batches(
        encoder, read, how.batch_size, skip_bad=skip_bad, watcher=watcher
    ):
        vectors = [vectors for _, vectors in encoded]
        if how.method is None:
            yield from vectors
        else:
            yield from compress_pages(vectors, how.method, workers=1)


def _read_unit(unit: Unit, how: Encoding, skip_bad: Report | None) -> Iterator[Page]:
    for part in unit.parts:
        yield from read_file(
            as_path(part.path),
            part.name,
            how.dpi,
            skip_bad,
            numbers=part.numbers,
            password=how.password,
        )


def encode_pages(
    pages: Callable[[Container[str]], Iterable[Page]],
    out: str | AnyPath,
    encoder: Encoder,
    *,
    about: dict[str, Any],
    source: str,
    batch_size: int = 4,
    skip_bad: Report | None = None,
    watcher: Watcher | None = None,
) -> Iterator[MultiVector]:
    """Encode pages of any kind into a folder, and yield every page once it is taken.

    `pages` gives those whose ids are not in a container of ids. A shard ends with a whole batch, so that a resumed run
    makes the same batches, and the same shards, as one that was never stopped; but for pages that the encoder
    refused, which are tried again.
    """
    with Writer(out, encoder=encoder.about | about, source=source) as folder:
        missing = pages(frozenset(folder.ids()))
        for encoded in encode_in_batches(
            encoder, lambda _: missing, batch_size, skip_bad=skip_bad, watcher=watcher
        ):
            vectors = [vectors for _, vectors in encoded]
            folder.add(*vectors)
            yield from vectors
        if not folder.done and not folder.waiting:
            raise BadFile("no page could be encoded, and nothing was written")
