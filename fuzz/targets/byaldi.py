"""Index folders of byaldi: the JSON that says which page is whose, with other bytes beside whole tensors."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adamerge import read_vectors
from fuzz.mutators import mutate_bytes
from fuzz.target import Target, Try, example


@contextmanager
def session(folder: Path) -> Iterator[Try]:
    """An index whose three JSON files are all the input."""
    index = folder / "index"
    (index / "embeddings").mkdir(parents=True)
    tensors = example("pt/list.pt")
    (index / "embeddings" / "embeddings_0.pt").write_bytes(tensors)

    def try_input(data: bytes) -> None:
        for name in ("index_config", "embed_id_to_doc_id", "doc_ids_to_file_names"):
            (index / f"{name}.json.gz").write_bytes(gzip.compress(data, 1))
        for page in read_vectors(index, prompt_rows=(0, 0)):
            page.vectors.sum()

    yield try_input


TARGET = Target("byaldi", session, mutate_bytes, file_name="index")
