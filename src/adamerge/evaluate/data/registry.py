"""A name -> a dataset: a suite or preset, a known book, a ViDoRe task, or a local folder."""

from dataclasses import replace
from os.path import abspath
from pathlib import Path

from adamerge.errors import UnknownName
from adamerge.evaluate.books import BOOK_FILE, BOOKS, SUITES, make_book_folder
from adamerge.evaluate.data import vidore
from adamerge.evaluate.data.book_folder import read_book_folder
from adamerge.evaluate.data.dataset import Dataset
from adamerge.evaluate.data.parquet_folder import read_parquet_folder

GROUPS = SUITES | vidore.PRESETS


def dataset_names(name: str) -> tuple[str, ...]:
    """The datasets that a name stands for: those of a suite or preset, or itself."""
    return GROUPS.get(name, (name,))


def load_dataset(name: str, data: Path) -> Dataset:
    """The dataset of a name.

    A folder of that name is looked for below `data`, then here; ./NAME is always a path. A ViDoRe task or a known book
    that is not on this machine is downloaded.
    """
    folders = [data / name, Path(name)]
    if name.startswith((".", "/")):
        folders = [Path(name)]

    for folder in folders:
        if (folder / BOOK_FILE).exists():
            return replace(read_book_folder(folder), name=Path(abspath(folder)).name)

    if vidore.is_task(name):
        return vidore.load_task(name, data)

    for folder in folders:
        if folder.is_dir():
            return read_parquet_folder(folder)

    if name in BOOKS:
        make_book_folder(name, data)
        return read_book_folder(data / name)

    known = ", ".join([*GROUPS, *BOOKS])
    raise UnknownName(
        f"no dataset '{name}': neither a folder, here or in {data}, nor one of {known}"
    )
