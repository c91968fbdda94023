"""Pictures of every format that is read."""

from pathlib import Path

from adamerge.documents import read_file
from fuzz.mutators import mutate_bytes
from fuzz.target import file_target


def read(path: Path) -> None:
    """Read every frame; Pillow knows the format by the bytes, not by the name."""
    for page in read_file(path, path.name):
        page.image.load()


TARGET = file_target("images", "input.png", read, mutate_bytes, share=3, short_run=200)
