"""The folder of an embedded store, looked at without opening it: what is in it, and how large it is."""

from pathlib import Path

from adamerge.errors import BadFile

TABLE = "pages.lance"  # the Lance dataset inside the folder of a store


def has_table(path: str | Path) -> bool:
    """Whether a folder holds a table with at least one version; a process that was killed early leaves none."""
    versions = Path(path) / TABLE / "_versions"
    return any(versions.glob("*"))


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
            total += file.stat().st_size if file.is_file() else 0
        except FileNotFoundError:  # a writer has just removed it
            continue
    return total


def manifest_identity(path: str | Path, version: int) -> tuple[int, int, int] | None:
    """What tells the manifest of a version from one of the same number in another table; None if there is none."""
    folder = Path(path) / TABLE / "_versions"
    for name in (f"{2**64 - 1 - version:020d}.manifest", f"{version}.manifest"):
        try:
            found = (folder / name).stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        return found.st_ino, found.st_mtime_ns, found.st_size
    return None
