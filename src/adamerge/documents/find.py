"""Paths, folders, globs and addresses in buckets -> the files that hold pages, and what each is called."""

from collections import Counter
from collections.abc import Iterable
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path

from adamerge.buckets import AnyPath, BucketPath, as_path
from adamerge.documents import images, office
from adamerge.errors import BadFile, BadInput, NotFound


def readable_suffixes() -> frozenset[str]:
    """The endings of files that can be read now; those of office files where LibreOffice is installed."""
    always = images.SUFFIXES | {".pdf"}
    if office.is_installed():
        return always | office.SUFFIXES
    return always


def find_files(paths: Iterable[str | AnyPath]) -> list[tuple[AnyPath, str]]:
    """Every file that holds pages, and what to call it: its name, or its path below the folder that was given."""
    if isinstance(paths, str | Path | BucketPath):  # a string is a list of letters, "/" one of them
        raise BadInput(f"files come as a list: [{str(paths)!r}]")
    # a file that is given twice is one, by the name it was first given
    each: dict[AnyPath, tuple[AnyPath, str]] = {}
    for given in paths:
        for path, name in _find(str(given)):
            each.setdefault(path.absolute(), (path, name))
    found = list(each.values())
    _check_names(found)
    return found


def _check_names(files: list[tuple[AnyPath, str]]) -> None:
    """Refuse a name that is not UTF-8, and one that two files would have."""
    for path, name in files:
        if not _is_utf8(name):
            raise BadFile(f"{str(path)!r}: its name is not UTF-8; rename it")
    counts = Counter(name for _, name in files)
    for name, count in counts.items():
        if count > 1:
            raise BadFile(
                f"{count} files would be called '{name}': give the folder that holds them all"
            )


def _is_utf8(name: str) -> bool:
    """Whether the bytes of a file's name are UTF-8: Python keeps others as surrogates."""
    return not any(is_surrogate(letter) for letter in name)


def is_surrogate(letter: str) -> bool:
    """Whether a letter is half of a pair of UTF-16, or a byte that is not UTF-8."""
    return "\ud800" <= letter <= "\udfff"


def other_files(paths: Iterable[str | AnyPath], apart: Path | None = None) -> Counter[str]:
    """How many files in the folders and globs hold no pages, by their ending (".log", or "" without one).

    Hidden files are not counted, nor those below the folder `apart`: the store itself may lie among the pages.
    """
    readable = readable_suffixes()
    others: dict[AnyPath, str] = {}
    for given in paths:
        for file, name in _listed(str(given)):
            hidden = any(part.startswith(".") for part in name.split("/"))
            below = apart is not None and apart.absolute() in file.absolute().parents
            suffix = file.suffix.lower()
            if not hidden and not below and suffix not in readable:
                others[file.absolute()] = suffix
    return Counter(others.values())


def _find(given: str) -> list[tuple[AnyPath, str]]:
    """The files of one path that hold pages, and what to call each."""
    readable = readable_suffixes()
    files = _listed(given)
    pages = [(file, name) for file, name in files if file.suffix.lower() in readable]
    if pages:
        return pages

    path = as_path(given)
    if path not in [file for file, _ in files]:
        raise BadFile(f"{path} holds no pages: no file of {_listing(readable)}")
    if path.suffix.lower() in office.SUFFIXES:
        raise BadFile(f"{path} cannot be read: {office.INSTALL}")
    raise BadFile(f"{path} is none of {_listing(readable)}")


def _listing(suffixes: Iterable[str]) -> str:
    return ", ".join(sorted(suffixes))


def _listed(given: str) -> list[tuple[AnyPath, str]]:
    """All files below a path or of a glob, in order, and the name of each, counted from the folder given."""
    if "://" in given:
        return _listed_in_bucket(BucketPath(given))
    path = Path(given)
    if path.is_dir():
        root, found = path, sorted(path.rglob("*"))
    elif path.exists():
        root, found = path.parent, [path]
    elif has_magic(given):
        fixed = takewhile(lambda part: not has_magic(part), path.parts)
        root, found = Path(*fixed), sorted(map(Path, glob(given, recursive=True)))
    else:
        raise NotFound(f"{path} does not exist")
    return [(file, file.relative_to(root).as_posix()) for file in found if file.is_file()]


def _listed_in_bucket(path: BucketPath) -> list[tuple[AnyPath, str]]:
    """The same of a folder in a bucket, or of one object."""
    if path.is_dir():
        return [(file, file.relative_to(path).as_posix()) for file in path.files_below()]
    if path.exists():
        return [(path, path.name)]
    if has_magic(path.address):
        raise BadInput(f"a bucket takes no globs: give a folder or a file; got {path}")
    raise NotFound(f"{path} does not exist")
