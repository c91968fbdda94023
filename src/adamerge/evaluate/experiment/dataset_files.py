"""What all cells of a dataset share, on disk: RESULTS/datasets/DATASET.json.gz."""

from pathlib import Path
from typing import Any

from adamerge.errors import Damaged, Mismatch
from adamerge.evaluate.data import Dataset
from adamerge.evaluate.experiment.file_names import file_name
from adamerge.evaluate.experiment.gzip_json import parse_json_lines, write_json_lines

DATASETS = "datasets"
SUFFIX = ".json.gz"
NEEDED = {"name", "pages", "judgements", "source", "queries"}  # by tables


def write_dataset(results: Path, dataset: Dataset) -> None:
    """Write what all cells of a dataset share, once.

    A folder that holds cells of other pages, queries or judgements under the same name is refused.
    """
    path = results / DATASETS / (file_name(dataset.name) + SUFFIX)
    about: dict[str, Any] = {
        "name": dataset.name,
        "identity": dataset.identity,
        "pages": len(dataset),
        "judgements": dataset.pairs,
        "source": dataset.source,
        "queries": dict(dataset.queries),
    }
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json_lines(path, [about])
        return

    there = _read(path)
    if there != about:
        raise Mismatch(
            f"{results} holds cells of another {dataset.name} (identity {there.get('identity')}, "
            f"source {there.get('source')}), with other pages, queries or judgements: "
            "choose another folder"
        )


def read_datasets(results: Path) -> dict[str, dict[str, Any]]:
    """What a folder says of its datasets: name -> name, identity, pages, judgements, source, queries."""
    datasets = {}
    for path in sorted((results / DATASETS).glob(f"*{SUFFIX}")):
        about = _read(path)
        missing = NEEDED - about.keys()
        if missing:
            raise Damaged(f"{path} says nothing of {min(missing)}: remove it, and run again")
        datasets[about["name"]] = about
    return datasets


def _read(path: Path) -> dict[str, Any]:
    (about,) = parse_json_lines(path.read_bytes(), path)
    return about
