"""Commits of Lance on a local disk, made safe: a version is whole and on the disk, or it is taken back.

Lance syncs nothing, and it may not notice that a write of data failed: on a disk that was full for a moment it commits
a version whose files are too short, and nobody can read the store any more. So each commit is looked at before its
pages count as written.
"""

from pathlib import Path
from typing import Any

from adamerge import files
from adamerge.errors import StoreUnavailable
from adamerge.store.folder import TABLE, WRITTEN_FOLDERS, manifest_paths


def settle(path: str, dataset: Any, since: int, known: frozenset[str]) -> None:
    """Check and sync the versions of a dataset after version `since`, or take them back.

    path   the folder of the store
    known  names of the files of version `since`, which are settled already
    """
    table = Path(path) / TABLE
    try:
        new = {name: size for name, size in sizes_of(dataset).items() if name not in known}
        for name, size in new.items():
            check_size(table / name, size)
        sync_all(path, list(new), range(since + 1, dataset.version + 1))
    except (OSError, StoreUnavailable):
        take_back(path, range(since + 1, dataset.version + 1))
        raise


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
    data = [table / name for name in names]
    manifests = [file for version in versions for file in manifest_paths(path, version)]
    transactions = [
        file
        for version in versions
        for file in (table / "_transactions").glob(f"{version - 1}-*.txn")
    ]
    folders = [*(table / name for name in WRITTEN_FOLDERS), table, table.parent]
    for each in [*data, *manifests, *transactions, *folders]:
        if each.exists():
            files.sync(each)


def take_back(path: str, versions: range) -> None:
    """Remove versions, the newest first; the one before them is the newest again."""
    for version in reversed(versions):
        for manifest in manifest_paths(path, version):
            manifest.unlink(missing_ok=True)
