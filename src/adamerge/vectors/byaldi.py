"""Index folders of byaldi (0.0.x) -> pages.

    index_config.json.gz            which model made the pages
    embeddings/embeddings_500.pt    a list of tensors (rows, d), a page each; the number is that of its first page
    embed_id_to_doc_id.json.gz      page number -> the document and the page in it, from 1 on
    doc_ids_to_file_names.json.gz   document -> its file; byaldi before 0.0.2 does not write it

The rows of a page are those of the model: prompt, patches, prompt. Which are which is known for the models that byaldi
loads; for others the user has to say it.
"""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from adamerge.errors import BadFile, BadInput
from adamerge.types import MultiVector
from adamerge.vectors import torch_files
from adamerge.vectors.named_arrays import to_page
from adamerge.vectors.numpy_files import ALWAYS_UNPACKED
from adamerge.vectors.options import ReadOptions
from adamerge.vectors.prompt import split_prompt

CONFIG = "index_config.json.gz"
PAGES = "embed_id_to_doc_id.json.gz"
FILES = "doc_ids_to_file_names.json.gz"
EMBEDDINGS = "embeddings"


class Rows(NamedTuple):
    """How the rows of a page of a model lie: prompt rows before and after the patches, and the grid of these."""

    before: int
    after: int
    grid: tuple[int, int] | None = None


# by a part of the model's name, as byaldi itself chooses the class that it loads
ROWS = {"colpali": Rows(0, 6, (32, 32)), "colqwen2": Rows(4, 7)}


def is_index(path: Path) -> bool:
    """Whether a folder is an index of byaldi."""
    return (path / CONFIG).is_file() and (path / EMBEDDINGS).is_dir()


def indexes_below(path: Path) -> list[Path]:
    """The indexes of byaldi that lie somewhere in a folder, as they do in `.byaldi`."""
    found = [config.parent for config in path.rglob(CONFIG)]
    return sorted(folder for folder in found if is_index(folder))


def model_of(path: Path) -> str:
    """The name of the model that made an index; empty if the index does not say."""
    name = _read_json(path / CONFIG).get("model_name", "")
    return str(name)


def read(path: Path, options: ReadOptions) -> Iterator[MultiVector]:
    """The pages of an index, with ids as `report.pdf#3`; prompt rows become extra."""
    if options.column:
        raise BadInput(f"{path} is an index of byaldi and has no columns: leave out --column")
    ids = _page_ids(path)
    rows = _rows(path, options)
    number = 0
    for file in _embedding_files(path):
        tensors = torch_files.load(file)
        if not isinstance(tensors, list):
            raise BadFile(f"{file} is not of byaldi, which writes a list of tensors")
        for tensor in tensors:
            torch_files.check_tensor(tensor, file)
            if number >= len(ids):
                raise BadFile(f"{path} holds more pages than the {len(ids)} that {PAGES} lists")
            yield _page(tensor, ids[number], rows, file)
            number += 1
    if number < len(ids):
        raise BadFile(f"{path} holds {number} pages, and {PAGES} lists {len(ids)}")


def _page(tensor: Any, id: str, rows: Rows, path: Path) -> MultiVector:
    """A page of the rows that a model gave: (before + patches + after, d)."""
    whole = to_page({"vectors": tensor}, id, path)
    page = split_prompt(whole, (rows.before, rows.after), path)
    if rows.grid is None:
        return page
    if len(page) != rows.grid[0] * rows.grid[1]:
        raise BadInput(
            f"{path}, page '{id}' has {len(whole)} rows, which is not what its model gives: say how many "
            f"are prompt before and after the patches, as --prompt-rows {rows.before},{rows.after}"
        )
    return MultiVector(page.vectors, extra=page.extra, grid=rows.grid, id=id)


def _rows(path: Path, options: ReadOptions) -> Rows:
    """How the rows of every page lie: as the user says, or as the model is known to give them."""
    if options.prompt_rows is not None:
        return Rows(*options.prompt_rows)
    model = model_of(path)
    for part, rows in ROWS.items():
        if part in model.lower():
            return rows
    raise BadInput(
        f"{path} was made by the model '{model}', whose prompt is not known: say how many rows of a page are "
        "prompt before and after its patches, as --prompt-rows 4,7, or 0,0 to take all as patches"
    )


def _page_ids(path: Path) -> list[str]:
    """The id of every page: its file and its number in it; pages of two documents of one name keep apart."""
    names = {}
    if (path / FILES).exists():
        names = _read_json(path / FILES)
    shared = Counter(names.values())
    pages = _read_json(path / PAGES)
    ids = []
    for number in range(len(pages)):
        try:
            place = pages[str(number)]
            document, page = str(place["doc_id"]), place["page_id"]
        except (KeyError, TypeError):
            raise BadFile(f"{path / PAGES} does not say which page number {number} is") from None
        name = names.get(document, f"document {document}")
        if shared[name] > 1:
            name = f"{name} (document {document})"
        ids.append(f"{name}#{page}")
    return ids


def _embedding_files(path: Path) -> list[Path]:
    """The files of tensors in the order of their numbers, which is not that of their names."""
    by_number = {}
    for file in (path / EMBEDDINGS).glob("embeddings_*.pt"):
        number = file.stem.removeprefix("embeddings_")
        if not number.isdecimal():
            raise BadFile(f"{file} is not of byaldi, which numbers its files")
        by_number[int(number)] = file
    return [by_number[number] for number in sorted(by_number)]


def _read_json(path: Path) -> dict[str, Any]:
    """A packed JSON object; one that unpacks to far more than a list of pages is refused."""
    try:
        with gzip.open(path) as file:
            text = file.read(ALWAYS_UNPACKED + 1)
        if len(text) > ALWAYS_UNPACKED:
            raise ValueError(f"it unpacks to more than {ALWAYS_UNPACKED:,} bytes")
        value = json.loads(text)
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        raise BadFile(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise BadFile(f"{path} must hold a JSON object, got {type(value).__name__}")
    return value
