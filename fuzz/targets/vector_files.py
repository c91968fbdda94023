"""Files of vectors that other programs wrote: every page is read. numpy.py has those of NumPy."""

from pathlib import Path

from adamerge import read_vectors
from fuzz.mutators import mutate_bytes
from fuzz.target import Target, file_target


def read(path: Path) -> None:
    """Read every page."""
    for page in read_vectors(path):
        page.vectors.sum()


def vector_file_target(name: str, share: float = 3, short_run: int = 300) -> Target:
    """Files of a format that is named as its suffix, with other bytes."""
    return file_target(name, f"input.{name}", read, mutate_bytes, share=share, short_run=short_run)


SAFETENSORS = vector_file_target("safetensors")
ARROW = vector_file_target("arrow")  # a stream, as a dataset on disk is
FEATHER = vector_file_target("feather")  # an Arrow file, packed or not
PARQUET = vector_file_target("parquet")
PT = vector_file_target("pt")  # tensors that torch saved
