"""Commits of Lance on a local disk, made safe: a version is whole and on the disk, or it is taken back.

Lance does not sync files, and it may not notice that a write failed: when a disk is full for a moment, it may commit a
version whose files are too short, which nobody can read. So every commit is checked before its pages count as written.
"""

from pathlib import Path
from typing import Any

from adamerge import files
from adamerge.errors import StoreUnavailable
from adamerge.store.lance.folder import TABLE, WRITTEN_FOLDERS, manifest_paths


def settle(path: str, dataset: Any, since: int, known: frozenset[str]) -> None:
    """Check and sync the versions of a dataset after version `since`, or take them back.

    path   the folder of the store
    known  what names_of() gives for version `since`, which is settled already
    """
    table = Path(path) / TABLE
    new_versions = range(since + 1, dataset.version + 1)
    try:
        new_names = []
        for name, size in sizes_of(dataset).items():
            if name not in known:
                check_size(table / name, size)
                new_names.append(name)
        for folder in index_folders(dataset) - known:
            new_names += [f"{folder}/{file.name}" for file in (table / folder).iterdir()]
            new_names += [folder, "_indices"]
        sync_all(path, new_names, new_versions)
    except (OSError, StoreUnavailable):
        take_back(path, new_versions)
        raise


def names_of(dataset: Any) -> frozenset[str]:
    """The files of data and deletions of a version, and the folders of its indexes."""
    return frozenset(sizes_of(dataset)) | index_folders(dataset)


def index_folders(dataset: Any) -> frozenset[str]:
    """The folders of the indexes of a version. Lance notices if it cannot write their files, but does not sync them."""
    folders: set[str] = set()
    for index in dataset.describe_indices():
        folders.update(f"_indices/{segment.uuid}" for segment in index.segments)
    return frozenset(folders)


def sizes_of(dataset: Any) -> dict[str, int | None]:
    """The files of data and deletions of a version and how many bytes each has; None where Lance does not say."""
    sizes: dict[str, int | None] = {}
    for fragment in dataset.get_fragments():
        for file in fragment.metadata.files:
            sizes[f"data/{file.path}"] = file.file_size_bytes
        if deletions := fragment.deletion_file():
            sizes[deletions] = None
    return sizes


def check_size(file: Path, size: int | None) -> None:
    """Refuse a file of which bytes are missing."""
    found = file.stat().st_size
    if size is not None and found != size:
        raise StoreUnavailable(
            f"the store could not be written: the disk took {found:,} of {size:,} bytes of a file"
        )


def sync_all(path: str, names: list[str], versions: range) -> None:
    """Force files of a table, the manifests of some versions and the names of all of them to the disk."""
    table = Path(path) / TABLE
    paths = [table / name for name in names]
    for version in versions:
        paths += manifest_paths(path, version)
        paths += (table / "_transactions").glob(f"{version - 1}-*.txn")
    paths += [table / name for name in WRITTEN_FOLDERS]
    paths += [table, table.parent]
    for each in paths:
        if each.exists():
            files.sync(each)


def take_back(path: str, versions: range) -> None:
    """Remove versions, the newest first; the one before them is the newest again."""
    for version in reversed(versions):
        for manifest in manifest_paths(path, version):
            manifest.unlink(missing_ok=True)
