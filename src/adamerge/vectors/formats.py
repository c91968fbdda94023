"""Other people's files -> pages, one at a time, by their suffix. Nothing here can run code that a file brings.

.npy, .npz                   numpy_files.py          arrays by name: named_arrays.py
.safetensors                 safetensors_files.py    arrays by name
.parquet, .arrow, .feather   arrow_files.py          a row a page
a folder                     of such files, or a Hugging Face dataset on disk
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from adamerge.errors import AdamergeError, BadFile, Damaged, TooLarge
from adamerge.types import MultiVector
from adamerge.vectors import arrow_files, numpy_files, safetensors_files

PICKLES = {".pkl", ".pickle", ".pt", ".pth", ".bin", ".ckpt", ".joblib", ".dill"}
READERS: dict[str, Callable[[Path], Iterator[MultiVector]]] = {
    ".npy": numpy_files.read,
    ".npz": numpy_files.read,
    ".safetensors": safetensors_files.read,
    ".parquet": arrow_files.read_parquet,
    ".arrow": arrow_files.read_arrow,
    ".feather": arrow_files.read_arrow,
}


def read_path(path: Path) -> Iterator[MultiVector]:
    """The pages of a file, or of all files below a folder in order of their names."""
    if path.is_file():
        yield from read_file(path)
        return

    files = sorted(file for file in path.rglob("*") if file.suffix in READERS)
    if not files:
        raise BadFile(f"{path} holds no vectors: no manifest.json, and no file of {_suffixes()}")
    for file in files:
        yield from read_file(file)


def read_file(path: Path) -> Iterator[MultiVector]:
    """The pages of one file, by its suffix."""
    if path.suffix in PICKLES:
        raise BadFile(
            f"{path} is a pickle, which can run code when it is opened: save it as .npz or .safetensors"
        )
    if path.suffix not in READERS:
        raise BadFile(f"{path} has no suffix we read: {_suffixes()}, or a folder of vectors")

    try:
        yield from READERS[path.suffix](path)
    except Damaged as error:  # somebody's arrays, not a folder that we wrote
        raise BadFile(str(error)) from None
    except AdamergeError:
        raise
    except MemoryError:
        raise TooLarge(f"{path} needs more memory than there is") from None
    except Exception as error:  # whatever a file of unknown origin makes a library raise
        raise BadFile(f"{path} cannot be read: {error}") from None


def _suffixes() -> str:
    return ", ".join(sorted(READERS))
