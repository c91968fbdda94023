"""The folder of an embedded store, looked at without opening it: what is in it, and how large it is."""

from collections.abc import Collection
from pathlib import Path
from shutil import rmtree

from adamerge.errors import BadFile

TABLE = "pages.lance"  # the Lance dataset inside the folder of a store
JOB = ".job-"  # begins the name of the folder of a job on a cluster, beside the table
WRITTEN_FOLDERS = ("data", "_deletions", "_transactions", "_versions")  # of the dataset
VERSION_HINT = "latest_version_hint.json"  # which Lance may do without


def has_table(path: str | Path) -> bool:
    """Whether a folder holds a table with at least one version; a process that was killed early leaves none."""
    versions = Path(path) / TABLE / "_versions"
    return any(versions.glob("*.manifest"))


def remove_unmade(path: str | Path) -> None:
    """Remove a table that has no version: a process was killed, or a disk full, while it was made.

    Only the one writer of a store may do this. What a disk refuses to remove now, the next writer removes. The files of
    a job that is not finished stay.
    """
    if not has_table(path) and not jobs(path):
        rmtree(Path(path) / TABLE, ignore_errors=True)


def jobs(path: str | Path) -> list[Path]:
    """The folders of jobs on a cluster that are not finished: their notes name files that no version names."""
    return sorted(Path(path).glob(f"{JOB}*"))


def remove_unnamed(path: str | Path, named: Collection[str]) -> None:
    """Remove the files of a table that none of its versions names: those of a write that did not end in a commit.

    Only the one writer of a store may do this. Lance leaves some of them for days, and some for ever.
    """
    table = Path(path) / TABLE
    for folder in WRITTEN_FOLDERS:
        for file in (table / folder).glob("*"):
            is_named = f"{folder}/{file.name}" in named or file.name == VERSION_HINT
            if not is_named and file.is_file():
                file.unlink(missing_ok=True)


def has_table_files(path: str | Path) -> bool:
    """Whether a folder holds files of a table, with or without a version."""
    return (Path(path) / TABLE).exists()


def check_own_folder(path: str | Path) -> None:
    """Refuse to make a store in a folder that holds other files; hidden ones are nobody's documents."""
    folder = Path(path)
    if has_table(folder) or not folder.is_dir():
        return
    names = (file.name for file in folder.iterdir())
    others = sorted(name for name in names if name != TABLE and not name.startswith("."))
    if others:
        raise BadFile(
            f"{path} is not a store and holds other files ({others[0]} ...): "
            f"a store needs a folder of its own, such as {path}.store"
        )


def table_bytes(path: str | Path) -> int:
    """Bytes of all files of the table, those of old versions too."""
    total = 0
    for file in (Path(path) / TABLE).rglob("*"):
        try:
            if file.is_file():
                total += file.stat().st_size
        except FileNotFoundError:  # a writer has just removed it
            continue
    return total


def manifest_identity(path: str | Path, version: int) -> tuple[int, int, int] | None:
    """What tells the manifest of a version from one of the same number in another table; None if there is none."""
    for manifest in manifest_paths(path, version):
        try:
            found = manifest.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        return found.st_ino, found.st_mtime_ns, found.st_size
    return None


def manifest_paths(path: str | Path, version: int) -> list[Path]:
    """Where the manifest of a version may be: Lance has two ways to name it."""
    folder = Path(path) / TABLE / "_versions"
    return [folder / f"{2**64 - 1 - version:020d}.manifest", folder / f"{version}.manifest"]
