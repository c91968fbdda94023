"""Notes of a job beside its output, in a folder or a bucket: each is there whole or not at all."""

from pathlib import Path
from shutil import rmtree
from typing import Protocol

from adamerge import files
from adamerge.buckets import BucketPath


class Notes(Protocol):
    """Texts by name."""

    def write(self, name: str, text: str) -> None:
        """Write a note."""

    def read(self, name: str) -> str | None:
        """A note; None where there is none."""

    def forget(self, name: str) -> None:
        """Remove a note that is there."""

    def remove(self) -> None:
        """Remove all notes."""


def notes_at(address: str) -> Notes:
    """The notes of a job in a folder, or in a bucket: s3://bucket/store/.job-KEY."""
    if "://" in address:
        return BucketNotes(address)
    return FolderNotes(Path(address))


class FolderNotes:
    """Notes in a folder."""

    def __init__(self, folder: Path) -> None:
        """The folder is made by the first note."""
        self._folder = folder

    def write(self, name: str, text: str) -> None:
        """Write a note by rename."""
        files.make_folder(self._folder)
        files.write(self._folder / name, text)

    def read(self, name: str) -> str | None:
        """A note; None where there is none."""
        try:
            return (self._folder / name).read_text()
        except FileNotFoundError:
            return None

    def forget(self, name: str) -> None:
        """Remove a note that is there."""
        (self._folder / name).unlink()

    def remove(self) -> None:
        """Remove the folder."""
        rmtree(self._folder, ignore_errors=True)


class BucketNotes:
    """Notes in a bucket; the environment says how to reach it."""

    def __init__(self, address: str) -> None:
        """Nothing is asked for yet."""
        self._folder = BucketPath(address)

    def write(self, name: str, text: str) -> None:
        """Write a note: an object of a bucket appears whole."""
        (self._folder / name).write_bytes(text.encode())

    def read(self, name: str) -> str | None:
        """A note; None where there is none."""
        try:
            return (self._folder / name).read_text()
        except FileNotFoundError:
            return None

    def forget(self, name: str) -> None:
        """Remove a note that is there."""
        (self._folder / name).unlink()

    def remove(self) -> None:
        """Remove all notes, and the object that stands for their folder."""
        self._folder.remove_folder()
