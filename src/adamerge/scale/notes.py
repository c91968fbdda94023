"""Notes of a job beside its output, in a folder or a bucket: each is there whole or not at all."""

from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol

from adamerge import files


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
    """Notes in a bucket, by the file systems of pyarrow; the environment says how to reach it."""

    def __init__(self, address: str) -> None:
        """Nothing is asked for yet."""
        from pyarrow import fs

        self._system: Any
        self._system, self._folder = fs.FileSystem.from_uri(address)

    def write(self, name: str, text: str) -> None:
        """Write a note: an object of a bucket appears whole."""
        with self._system.open_output_stream(f"{self._folder}/{name}") as stream:
            stream.write(text.encode())

    def read(self, name: str) -> str | None:
        """A note; None where there is none."""
        try:
            with self._system.open_input_stream(f"{self._folder}/{name}") as stream:
                return bytes(stream.read()).decode()
        except FileNotFoundError:
            return None

    def forget(self, name: str) -> None:
        """Remove a note that is there."""
        self._system.delete_file(f"{self._folder}/{name}")

    def remove(self) -> None:
        """Remove all objects whose names begin with that of the job, and the one that stands for its folder."""
        self._system.delete_dir(self._folder)
