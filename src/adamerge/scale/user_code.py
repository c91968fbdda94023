"""Python files of a user (--module) reach the workers: their text travels, so that no disk has to be shared."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from adamerge.errors import BadFile
from adamerge.user_modules import import_user_module


class UserFile(NamedTuple):
    """A Python file of a user."""

    name: str
    text: str


_run: set[UserFile] = set()  # in this process


def read_user_files(paths: Iterable[Path]) -> tuple[UserFile, ...]:
    """The files, as they are sent to workers."""
    found = []
    for path in paths:
        try:
            found.append(UserFile(path.name, path.read_text()))
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(f"{path} cannot be read: {error}") from None
    return tuple(found)


def run_user_files(user_files: Iterable[UserFile]) -> None:
    """Run the files in this process, each once."""
    for file in user_files:
        if file in _run:
            continue
        with TemporaryDirectory(prefix="adamerge-") as folder:
            path = Path(folder) / file.name
            path.write_text(file.text)
            import_user_module(path)
        _run.add(file)
