"""A dataset, encoded once: its pages and queries as folders of vectors, which every run reads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote
from zlib import crc32

from adamerge.encoders import Encoder
from adamerge.encoders.encode import encode_pages
from adamerge.errors import BadFile, Mixture
from adamerge.evaluate.datasets import Dataset
from adamerge.types import MultiVector
from adamerge.vectors import Shards, Writer, open_shards

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


def encode(dataset: Dataset, there: Encoded, name: str, load: Callable[[], Encoder]) -> Iterator[MultiVector]:
    """Encode what is not encoded yet, and yield every page once it is; the encoder is loaded only if there is work."""
    if _is_done(there.pages, dataset, name) and _is_done(there.queries, dataset, name):
        return
    encoder = load()
    about = {"batch size": BATCH}
    yield from encode_pages(dataset.read, there.pages, encoder, about=about, source=dataset.source, batch_size=BATCH)
    with Writer(there.queries, dtype="float32", encoder=encoder.about, source=_asked(dataset)) as out:
        for id in list(dataset.queries)[out.done :]:
            out.add(MultiVector(encoder.encode_queries([dataset.queries[id]])[0], id=id))


def opened(dataset: Dataset, there: Encoded) -> tuple[Shards, Shards]:
    """The encoded pages and queries of a dataset, all there and in its order."""
    pages, queries = open_shards(there.pages), open_shards(there.queries)
    for folder, ids in ((pages, dataset.page_ids), (queries, tuple(dataset.queries))):
        if len(folder) != len(ids):
            raise BadFile(
                f"{folder.path} holds {len(folder)} of {len(ids)}: remove it, and encode {dataset.name} again"
            )
    return pages, queries


def _is_done(folder: Path, dataset: Dataset, name: str) -> bool:
    """Whether a folder is finished; one that was made of something else is refused."""
    try:
        manifest = open_shards(folder).manifest
    except BadFile:
        return False
    source = dataset.source if folder.name == "pages" else _asked(dataset)
    if manifest.source != source or manifest.encoder.get("name") != name:
        raise Mixture(f"{folder} holds {manifest}, not {name} of source {source}: choose another folder for vectors")
    return True


def _asked(dataset: Dataset) -> str:
    """What the queries are, in eight letters."""
    return f"{crc32(repr(sorted(dataset.queries.items())).encode()):08x}"
