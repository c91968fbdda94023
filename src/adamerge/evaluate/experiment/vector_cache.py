"""A dataset, encoded once: its pages and queries as two folders of vectors, which every run reads."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from adamerge.encoders import Encoder, EncoderSpec
from adamerge.encoders.encode import encode_pages
from adamerge.errors import BadFile, Mismatch
from adamerge.evaluate.data import Dataset
from adamerge.evaluate.experiment.file_names import file_name
from adamerge.types import MultiVector
from adamerge.vectors import Writer, is_shards, open_shards, read_manifest

BATCH = 4  # pages at a time; vectors depend on it a little, by padding
LoadEncoder = Callable[[EncoderSpec], Encoder]


@dataclass(frozen=True)
class CacheFolders:
    """Where the vectors of a dataset are: a folder of its pages, and one of its queries."""

    pages: Path
    queries: Path


def cache_folders(vectors: Path, encoder: str, dataset: str) -> CacheFolders:
    """Where the vectors of a dataset are kept; TASK and TASK:english share their pages."""
    folder = vectors / file_name(encoder)
    task = dataset.partition(":")[0]
    return CacheFolders(
        pages=folder / file_name(task) / "pages",
        queries=folder / file_name(dataset) / "queries",
    )


def is_encoded(dataset: Dataset, folders: CacheFolders, spec: EncoderSpec) -> bool:
    """Whether nothing is left to encode; folders of another dataset or encoder are refused."""
    pages_done = _is_done(folders.pages, dataset.source, spec)
    queries_done = _is_done(folders.queries, _hash_of_queries(dataset), spec)
    return pages_done and queries_done


def encode_dataset(
    dataset: Dataset, folders: CacheFolders, spec: EncoderSpec, load: LoadEncoder = EncoderSpec.load
) -> Iterator[MultiVector]:
    """Encode what is not encoded yet, and yield every page once it is written.

    The encoder is loaded only if there is work. Folders of another dataset or encoder are refused.
    """
    if is_encoded(dataset, folders, spec):
        return

    encoder = load(spec)
    # weights of the hub are known only after loading
    made_by = {"options": dict(spec.options), "weights": spec.weights()}

    yield from encode_pages(
        dataset.read,
        folders.pages,
        encoder,
        about={"batch size": BATCH} | made_by,
        source=dataset.source,
        batch_size=BATCH,
    )

    about = encoder.about | made_by
    source = _hash_of_queries(dataset)
    with Writer(folders.queries, dtype="float32", encoder=about, source=source) as out:
        for id in list(dataset.queries)[out.done :]:
            (vectors,) = encoder.encode_queries([dataset.queries[id]])
            out.add(MultiVector(vectors, id=id))


def read_cached(folder: Path, ids: Sequence[str]) -> list[MultiVector]:
    """The encoded pages or queries of these ids, in their order."""
    by_id = {page.id: page for page in open_shards(folder).pages()}
    if by_id.keys() != set(ids):
        raise BadFile(
            f"{folder} holds {len(by_id)} pages or queries, and not the {len(ids)} of now: "
            "remove it"
        )
    return [by_id[id] for id in ids]


def _is_done(folder: Path, source: str, spec: EncoderSpec) -> bool:
    """Whether a folder is finished; one of another source or encoder is refused."""
    if not is_shards(folder):
        return False
    manifest = read_manifest(folder)
    if manifest.source != source or manifest.encoder.get("name") != spec.name:
        raise Mismatch(
            f"{folder} holds {manifest}, not {spec.name} of source {source}: "
            "choose another folder for vectors"
        )
    spec.check(manifest.encoder, folder)
    return manifest.pages is not None


def _hash_of_queries(dataset: Dataset) -> str:
    """What the queries are, in eight letters."""
    text = repr(sorted(dataset.queries.items()))
    return f"{crc32(text.encode()):08x}"
