"""What the targets of files of vectors share: every page is read."""

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
