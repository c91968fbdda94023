"""Cells on disk, small enough to commit.

    RESULTS/ENCODER/DATASET/METHOD.json.gz    a loose cell, while a run goes on
    RESULTS/ENCODER/DATASET.jsonl.gz          all cells of an encoder on a dataset, a line each: when a run is done

A run writes loose cells and packs them when a dataset is done. Each file appears under its name when it is whole, so a
cell that is there is done, and a killed run loses none. Runs may write into one folder at the same time: loose cells
have names of their own, and one process at a time packs. Nobody needs to think about it: readers take both.
The same run writes the same bytes, but for times.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from adamerge import files
from adamerge.compress.names import read_name
from adamerge.errors import BadInput, Damaged, Locked
from adamerge.evaluate.experiment.cell import Cell
from adamerge.evaluate.experiment.dataset_files import DATASETS
from adamerge.evaluate.experiment.file_names import file_name
from adamerge.evaluate.experiment.gzip_json import parse_json_lines, write_json_lines

LOOSE = ".json.gz"
PACK = ".jsonl.gz"


def cell_path(results: Path, encoder: str, dataset: str, method: str) -> Path:
    """The file of a loose cell."""
    return results / file_name(encoder) / file_name(dataset) / (file_name(method) + LOOSE)


def pack_path(results: Path, encoder: str, dataset: str) -> Path:
    """The file of all packed cells of an encoder and a dataset."""
    return results / file_name(encoder) / (file_name(dataset) + PACK)


def write_cell(results: Path, cell: Cell) -> None:
    """Write a cell as a file of its own."""
    path = cell_path(results, cell.encoder, cell.dataset, cell.method)
    try:
        _write_loose(path, cell)
    except FileNotFoundError:  # another run packed the others just now, and removed the folder
        _write_loose(path, cell)


def _write_loose(path: Path, cell: Cell) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json_lines(path, [asdict(cell)])


def read_cells(results: Path) -> Iterator[Cell]:
    """Every cell of a folder, by encoder, dataset and method."""
    places = set()
    for path in results.glob(f"*/*/*{LOOSE}"):
        places.add((path.parts[-3], path.parts[-2]))
    for path in results.glob(f"*/*{PACK}"):
        places.add((path.parts[-2], path.name.removesuffix(PACK)))

    for encoder, dataset in sorted(places):
        if dataset != DATASETS:  # of a folder of results in this one
            yield from _read_place(results / encoder, dataset)


def read_cells_of(results: Path, encoder: str, dataset: str) -> list[Cell]:
    """The cells of one encoder on one dataset, by method."""
    return _read_place(results / file_name(encoder), file_name(dataset))


def pack_cells(results: Path, encoder: str, dataset: str) -> None:
    """Move the loose cells of an encoder and a dataset into one file; it has all of them before one is removed."""
    folder = cell_path(results, encoder, dataset, "").parent
    if not folder.is_dir():
        return
    try:
        holder = files.lock(folder)
    except Locked:  # another run is at it
        return

    try:
        loose = list(folder.glob(f"*{LOOSE}"))
        cells = read_cells_of(results, encoder, dataset)
        if loose:
            write_json_lines(pack_path(results, encoder, dataset), map(asdict, cells))
        for path in loose:
            path.unlink()
        with suppress(OSError):  # another run has written a cell meanwhile
            folder.rmdir()
    finally:
        os.close(holder)


def _read_place(encoder: Path, dataset: str) -> list[Cell]:
    """The cells of a dataset in the folder of an encoder.

    Loose cells are read first: one that another run packs meanwhile is then found in the pack.
    """
    loose = _read_loose(encoder / dataset)
    packed = _read_pack(encoder / (dataset + PACK))

    by_name = {}
    for cell in [*packed, *loose]:
        by_name[file_name(cell.method) + LOOSE] = cell
    return [by_name[name] for name in sorted(by_name)]


def _read_loose(folder: Path) -> list[Cell]:
    cells = []
    for path in folder.glob(f"*{LOOSE}"):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            continue
        for raw in parse_json_lines(content, path):
            cell = _as_cell(raw, path)
            _check_place(cell, path, cell_path(folder.parents[1], *_key(cell)))
            cells.append(cell)
    return cells


def _read_pack(path: Path) -> list[Cell]:
    if not path.is_file():
        return []
    cells = []
    for raw in parse_json_lines(path.read_bytes(), path):
        cell = _as_cell(raw, path)
        _check_place(cell, path, pack_path(path.parents[1], cell.encoder, cell.dataset))
        cells.append(cell)
    return cells


def _as_cell(raw: dict[str, Any], path: Path) -> Cell:
    try:
        cell = Cell(**raw)
        read_name(cell.method)
    except (TypeError, BadInput) as error:
        raise Damaged(f"{path} is no result file ({error}): remove it, and run again") from None
    return cell


def _check_place(cell: Cell, path: Path, expected: Path) -> None:
    """Refuse a cell that is not where a run wrote it."""
    if path != expected:
        raise Damaged(
            f"{path} holds the cell of {cell.method} on {cell.dataset} by {cell.encoder}: "
            "it was moved; move it back"
        )


def _key(cell: Cell) -> tuple[str, str, str]:
    return cell.encoder, cell.dataset, cell.method
