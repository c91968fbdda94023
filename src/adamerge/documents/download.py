"""A file in a bucket -> a temporary file on this disk, for libraries that read files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from adamerge.buckets import AnyPath, BucketPath
from adamerge.errors import BadFile


@contextmanager
def on_disk(path: AnyPath) -> Iterator[Path]:
    """A path on this disk: the path itself, or that of a copy of an object, which goes with the block.

    The copy is made part by part, so that memory does not grow with the file. A bucket that does not answer is
    StoreUnavailable; an object that was removed since it was listed is a BadFile.
    """
    if not isinstance(path, BucketPath):
        yield path
        return
    with TemporaryDirectory(prefix="adamerge-") as folder:
        copy = Path(folder) / f"copy{path.suffix}"
        _download(path, copy)
        yield copy


def _download(path: BucketPath, copy: Path) -> None:
    try:
        with copy.open("wb") as file:
            for part in path.read_parts():
                file.write(part)
    except FileNotFoundError:
        raise BadFile(f"{path} is no longer in its bucket") from None
