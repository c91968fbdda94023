"""A dataset, encoded once: its pages and queries as folders of vectors, which every run reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote
from zlib import crc32

from adamerge.encoders import EncoderSpec
from adamerge.encoders.encode import encode_pages
from adamerge.errors import BadFile, Mismatch
from adamerge.evaluate.datasets import Dataset
from adamerge.types import MultiVector
from adamerge.vectors import Writer, is_shards, open_shards, read_manifest

BATCH = 4  # pages at a time, as the paper; vectors depend on it by padding


@dataclass(frozen=True)
class Encoded:
    """Where the vectors of a dataset are: a folder of its pages, and one of its queries, a query a page."""

    pages: Path
    queries: Path


def file_name(text: str) -> str:
    """A name as a file's name, which text_of() reads back: ':' becomes '@', and what no file may hold is quoted."""
    return quote(text, safe="=,()+ ").replace("%3A", "@")


def text_of(name: str) -> str:
    """The name that file_name() wrote."""
    return unquote(name.replace("@", ":"))


def places(vectors: Path, encoder: str, dataset: str) -> Encoded:
    """Where the vectors of a dataset are kept."""
    folder = vectors / file_name(encoder)
    pages = dataset.partition(":")[0]  # one set of pages may be asked in several sets of languages
    return Encoded(folder / file_name(pages) / "pages", folder / file_name(dataset) / "queries")


def encode(dataset: Dataset, there: Encoded, spec: EncoderSpec) -> Iterator[MultiVector]:
    """Encode what is not encoded yet, and yield every page once it is; the encoder is loaded only if there is work."""
    sources = {there.pages: dataset.source, there.queries: _asked(dataset)}
    if all(
        [_is_done(folder, source, spec) for folder, source in sources.items()]
    ):  # a list: all are checked
        return
    encoder = spec.load()
    made = {"options": dict(spec.options), "weights": spec.weights()}  # of the hub, known only now
    about = {"batch size": BATCH} | made
    yield from encode_pages(
        dataset.read, there.pages, encoder, about=about, source=dataset.source, batch_size=BATCH
    )
    with Writer(
        there.queries, dtype="float32", encoder=encoder.about | made, source=_asked(dataset)
    ) as out:
        for id in list(dataset.queries)[out.done :]:
            out.add(MultiVector(encoder.encode_queries([dataset.queries[id]])[0], id=id))


def opened(folder: Path, ids: Sequence[str]) -> list[MultiVector]:
    """The encoded pages or queries of these ids, in their order."""
    by_id = {page.id: page for page in open_shards(folder).pages()}
    if by_id.keys() != set(ids):
        raise BadFile(
            f"{folder} holds {len(by_id)} pages or queries, and not the {len(ids)} of now: remove it"
        )
    return [by_id[id] for id in ids]


def _is_done(folder: Path, source: str, spec: EncoderSpec) -> bool:
    """Whether a folder is finished; one that was made of something else, or by something else, is refused."""
    if not is_shards(folder):
        return False
    manifest = read_manifest(folder)
    if manifest.source != source or manifest.encoder.get("name") != spec.name:
        raise Mismatch(
            f"{folder} holds {manifest}, not {spec.name} of source {source}: choose another folder for vectors"
        )
    spec.check(manifest.encoder, folder)
    return manifest.pages is not None


def _asked(dataset: Dataset) -> str:
    """What the queries are, in eight letters."""
    return f"{crc32(repr(sorted(dataset.queries.items())).encode()):08x}"
