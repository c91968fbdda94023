"""Other people's files -> pages, one at a time, by their suffix. Nothing here can run code that a file brings.

.npy, .npz                   numpy_files.py          arrays by name: named_arrays.py
.safetensors                 safetensors_files.py    arrays by name
.pt, .pth                    torch_files.py          tensors, lists and dicts of them
.parquet, .arrow, .feather   arrow_files.py          a row a page
a folder                     of such files, or a Hugging Face dataset on disk, or an index of byaldi: byaldi.py
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from adamerge.errors import AdamergeError, BadFile, BadInput, Damaged, TooLarge
from adamerge.types import MultiVector
from adamerge.vectors import arrow_files, byaldi, numpy_files, safetensors_files, torch_files
from adamerge.vectors.named_arrays import listed
from adamerge.vectors.options import ReadOptions
from adamerge.vectors.prompt import split_prompt

PICKLES = {".pkl", ".pickle", ".bin", ".ckpt", ".joblib", ".dill"}
READERS: dict[str, Callable[[Path, ReadOptions], Iterator[MultiVector]]] = {
    ".npy": numpy_files.read,
    ".npz": numpy_files.read,
    ".safetensors": safetensors_files.read,
    ".pt": torch_files.read,
    ".pth": torch_files.read,
    ".parquet": arrow_files.read_parquet,
    ".arrow": arrow_files.read_arrow,
    ".feather": arrow_files.read_arrow,
}


def read_path(path: Path, options: ReadOptions) -> Iterator[MultiVector]:
    """The pages of a file, of an index of byaldi, or of all files below a folder in order of their names."""
    if path.is_file():
        yield from read_file(path, options)
        return
    if byaldi.is_index(path):
        with _foreign(path):
            yield from byaldi.read(path, options)
        return

    indexes = byaldi.indexes_below(path)
    if indexes:
        raise BadInput(
            f"{path} holds indexes of byaldi: name one of {listed(list(map(str, indexes)))}"
        )
    files = sorted(file for file in path.rglob("*") if file.suffix in READERS)
    if not files:
        raise BadFile(f"{path} holds no vectors: no manifest.json, and no file of {_suffixes()}")
    for file in files:
        yield from read_file(file, options)


def read_file(path: Path, options: ReadOptions) -> Iterator[MultiVector]:
    """The pages of one file, by its suffix."""
    if path.suffix in PICKLES:
        raise BadFile(
            f"{path} is a pickle, which can run code when it is opened: save it as .npz or .safetensors"
        )
    if path.suffix not in READERS:
        raise BadFile(f"{path} has no suffix we read: {_suffixes()}, or a folder of vectors")

    prompt_rows = options.prompt_rows or (0, 0)
    with _foreign(path):
        for page in READERS[path.suffix](path, options):
            yield split_prompt(page, prompt_rows, path)


@contextmanager
def _foreign(path: Path) -> Iterator[None]:
    """Whatever a file of unknown origin makes a library raise becomes an error of ours that names it."""
    try:
        yield
    except Damaged as error:  # somebody's arrays, not a folder that we wrote
        raise BadFile(str(error)) from None
    except AdamergeError:
        raise
    except MemoryError:
        raise TooLarge(f"{path} needs more memory than there is") from None
    except Exception as error:
        raise BadFile(f"{path} cannot be read: {error}") from None


def _suffixes() -> str:
    return ", ".join(sorted(READERS))
