"""Tables of metadata: .csv of a person, or of a program that meant something else."""

from pathlib import Path

from adamerge.store.metadata import read_metadata
from fuzz.mutators import text_mutator
from fuzz.target import file_target

WORDS = (
    "source",
    "year",
    ",",
    '"',
    "\n",
    "\r\n",
    "\t",
    "a.pdf",
    "2020",
    "1.5",
    "true",
    "2026-01-01",
    "2026-01-01T10:00",
)


def read(path: Path) -> None:
    """Read the table."""
    read_metadata(path)


TARGET = file_target("metadata", "input.csv", read, text_mutator(WORDS), share=1, short_run=1000)
