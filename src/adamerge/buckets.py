"""Paths in buckets, s3://bucket/folder and gs://bucket/folder, by the file systems of pyarrow. Needs the extra `arrow`.

The environment says how to reach a bucket: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, and AWS_ENDPOINT_URL
for a server of one's own; GOOGLE_APPLICATION_CREDENTIALS for gs://, and CLOUD_STORAGE_EMULATOR_ENDPOINT for a server of
one's own. An object of a bucket appears whole or not at all, so nothing is written under a temporary name. A bucket has
no lock.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from adamerge.errors import BadInput, NotFound, StoreUnavailable, missing_extra

SCHEMES = ("s3", "gs")
PART = 1 << 20  # bytes of an object that are read at a time
PATIENCE = 60  # seconds for which a call to gs:// is tried again; pyarrow would try for 15 minutes


@dataclass(frozen=True)
class BucketPath:
    """A path in a bucket: those questions of pathlib.Path that folders of vectors and of documents ask.

    A folder is there if an object lies below it.

    listed_version  the version of the object where a listing has told it, so that it is not asked for again
    """

    address: str
    listed_version: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse an address without a bucket; a slash at the end says nothing."""
        scheme, _, rest = self.address.partition("://")
        bucket = rest.partition("/")[0]
        if scheme not in SCHEMES or not bucket:
            raise BadInput(
                f"a bucket is s3://bucket/folder or gs://bucket/folder; got {self.address}"
            )
        object.__setattr__(self, "address", self.address.rstrip("/"))

    def __str__(self) -> str:
        """The address."""
        return self.address

    def __truediv__(self, name: str) -> "BucketPath":
        """The path of a name below this one."""
        return BucketPath(f"{self.address}/{name}")

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.address.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The ending of the name: ".pdf"."""
        return PurePosixPath(self.name).suffix

    @property
    def parents(self) -> tuple["BucketPath", ...]:
        """The folders above, the nearest one first; the bucket is the last one."""
        scheme, _, path = self.address.partition("://")
        above = list(PurePosixPath(path).parents)[:-1]
        return tuple(BucketPath(f"{scheme}://{folder}") for folder in above)

    def absolute(self) -> "BucketPath":
        """The same: an address is always absolute."""
        return self

    def resolve(self) -> "BucketPath":
        """The same: a bucket has no links."""
        return self

    def as_posix(self) -> str:
        """The address."""
        return self.address

    def relative_to(self, folder: "BucketPath") -> PurePosixPath:
        """The path below a folder that it lies in."""
        return PurePosixPath(self.address).relative_to(folder.address)

    def exists(self) -> bool:
        """Whether there is an object of this name, or one below it."""
        return str(self._info().type.name) != "NotFound"

    def is_dir(self) -> bool:
        """Whether there is an object below it."""
        return str(self._info().type.name) == "Directory"

    def size(self) -> int:
        """Bytes of the object."""
        return int(self._info().size or 0)

    def version(self) -> str:
        """What tells whether the object has changed: its size, and when it was written, in seconds since 1970."""
        return self.listed_version or _version_of(self._info())

    def iterdir(self) -> Iterator["BucketPath"]:
        """What lies directly below, in order of the names."""
        system, path = _system_and_path(self.address)
        from pyarrow.fs import FileSelector

        # pyarrow finds a folder of gs:// only by what lies below it
        is_deep = self.address.startswith("gs://")
        below = FileSelector(path, allow_not_found=True, recursive=is_deep)
        with _answers(self.address):
            found = system.get_file_info(below)
        names = {PurePosixPath(info.path).relative_to(path).parts[0] for info in found}
        for name in sorted(names):
            yield self / name

    def glob(self, pattern: str) -> Iterator["BucketPath"]:
        """What lies directly below and whose name matches."""
        for path in self.iterdir():
            if fnmatch(path.name, pattern):
                yield path

    def files_below(self) -> list["BucketPath"]:
        """All objects below, at any depth, in the order in which a disk would have them."""
        system, path = _system_and_path(self.address)
        from pyarrow.fs import FileSelector

        with _answers(self.address):
            infos = system.get_file_info(FileSelector(path, recursive=True))
        scheme = self.address.partition("://")[0]
        found = []
        for info in infos:
            if info.is_file:
                found.append(BucketPath(f"{scheme}://{info.path}", _version_of(info)))
        return sorted(found, key=lambda file: file.relative_to(self))

    def read_parts(self) -> Iterator[bytes]:
        """The object, a part at a time; FileNotFoundError if it is not there."""
        system, path = _system_and_path(self.address)
        with _answers(self.address), system.open_input_stream(path) as stream:
            while part := bytes(stream.read(PART)):
                yield part

    def read_bytes(self) -> bytes:
        """The object; FileNotFoundError if it is not there."""
        system, path = _system_and_path(self.address)
        with _answers(self.address), system.open_input_stream(path) as stream:
            return bytes(stream.read())

    def read_text(self) -> str:
        """The object as UTF-8."""
        return self.read_bytes().decode()

    def read_range(self, start: int, length: int) -> bytes:
        """Some bytes of the object; fewer where it ends before."""
        system, path = _system_and_path(self.address)
        with _answers(self.address), system.open_input_file(path) as file:
            return bytes(file.read_at(length, start))

    def read_lines(self) -> Iterator[str]:
        """The lines of the object, read in parts as they are asked for."""
        from io import TextIOWrapper

        system, path = _system_and_path(self.address)
        with (
            _answers(self.address),
            system.open_input_file(path) as file,
            TextIOWrapper(file) as text,
        ):
            yield from text

    def write_bytes(self, content: bytes) -> None:
        """Write the object; it is there whole or not at all."""
        self.write_parts([content])

    def write_parts(self, parts: Iterable[bytes]) -> None:
        """Write the object part by part; parts must not fail, since an object appears when its stream is closed."""
        system, path = _system_and_path(self.address)
        try:
            with _answers(self.address):
                stream = system.open_output_stream(path)
        except FileNotFoundError:
            raise NotFound(f"{self.address} cannot be written: its bucket does not exist") from None
        with _answers(self.address), stream:
            for part in parts:
                stream.write(part)

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the object."""
        system, path = _system_and_path(self.address)
        try:
            with _answers(self.address):
                system.delete_file(path)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def rmdir(self) -> None:
        """Remove the empty object that stands for a folder nothing lies in; OSError if something does."""
        if next(self.iterdir(), None) is not None:
            raise OSError(f"{self.address} is not empty")
        self.remove_folder()

    def remove_folder(self) -> None:
        """Remove all objects below, and the empty one that stands for the folder. A bucket stays as it is."""
        is_bucket = not self.parents
        if is_bucket or not self.is_dir():
            return
        system, path = _system_and_path(self.address)
        # of gs://, pyarrow removes the empty object last, and most folders have none
        with suppress(FileNotFoundError), _answers(self.address):
            system.delete_dir(path)

    def _info(self) -> Any:
        system, path = _system_and_path(self.address)
        with _answers(self.address):
            return system.get_file_info(path)


AnyPath = Path | BucketPath


def as_path(given: "str | Path | BucketPath") -> AnyPath:
    """A path on a disk, or in a bucket where the text is an address of one."""
    if isinstance(given, str) and "://" in given:
        return BucketPath(given)
    if isinstance(given, BucketPath):
        return given
    return Path(given)


def path_of_root(root: str) -> AnyPath:
    """The folder that an entry of a store names as its root: in a bucket, or any text of a user as a path."""
    if root.startswith(tuple(f"{scheme}://" for scheme in SCHEMES)):
        return BucketPath(root)
    return Path(root)


def _version_of(info: Any) -> str:
    """The version of an object from what pyarrow knows of it.

    Whole seconds: many servers tell milliseconds in a listing, and seconds of one object.
    """
    return f"{info.size} bytes of {info.mtime_ns // 10**9}"


def _system_and_path(address: str) -> tuple[Any, str]:
    """The file system of pyarrow for an address, and what the file system calls it: bucket/folder/name."""
    scheme, _, path = address.partition("://")
    bucket = path.partition("/")[0]
    return file_system(f"{scheme}://{bucket}"), path


@cache
def file_system(bucket: str) -> Any:
    """The file system of pyarrow for a bucket, s3://bucket; made once, since that asks the bucket for its region."""
    try:
        from pyarrow import fs
    except ModuleNotFoundError:
        raise missing_extra("a folder in a bucket", "arrow") from None
    options = ""
    if bucket.startswith("gs://"):
        options = f"?retry_limit_seconds={PATIENCE}"
    with _answers(bucket):
        return fs.FileSystem.from_uri(f"{bucket}{options}")[0]


@contextmanager
def _answers(address: str) -> Iterator[None]:
    """An error of the network or of the bucket becomes one line that names the address."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        line = str(error).partition("\n")[0]
        # gs:// puts its words between the name of a class and how often it has tried
        reason = line.removeprefix("google::cloud::Status(").partition(" error_info=")[0]
        raise StoreUnavailable(f"{address} cannot be reached: {reason}") from None
