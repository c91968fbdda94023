"""PDF files, rendered small."""

from pathlib import Path

from adamerge.documents import count_pages, read_file
from fuzz.mutators import mutate_bytes
from fuzz.target import file_target

DPI = 18


def read(path: Path) -> None:
    """Count, render and read the words of every page."""
    count_pages([path])
    for page in read_file(path, path.name, DPI):
        page.image.load()


TARGET = file_target("pdf", "input.pdf", read, mutate_bytes, share=3, short_run=100)
