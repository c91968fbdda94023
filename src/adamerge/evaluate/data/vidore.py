"""ViDoRe v1, v2 and v3 by name: repositories and commits are pinned (vidore_pins.py), counts are known.

A local folder of the task's name goes before the hub, so that all of it works offline. The hub needs the extra `mteb`.
"""

import logging
from pathlib import Path

from adamerge.errors import BadFile, missing_extra
from adamerge.evaluate.data.dataset import Dataset
from adamerge.evaluate.data.parquet_folder import read_parquet_folder
from adamerge.evaluate.data.vidore_pins import PINS

log = logging.getLogger(__name__)

# task -> pages, queries per language; over v1 and v2 there are 11,273 pages
V1 = {
    "VidoreArxivQARetrieval": (500, 500),
    "VidoreDocVQARetrieval": (500, 451),
    "VidoreInfoVQARetrieval": (500, 494),
    "VidoreTabfquadRetrieval": (70, 280),
    "VidoreTatdqaRetrieval": (277, 1646),
    "VidoreShiftProjectRetrieval": (1000, 100),
    "VidoreSyntheticDocQAAIRetrieval": (968, 100),
    "VidoreSyntheticDocQAEnergyRetrieval": (977, 100),
    "VidoreSyntheticDocQAGovernmentReportsRetrieval": (972, 100),
    "VidoreSyntheticDocQAHealthcareIndustryRetrieval": (965, 100),
}
V2 = {
    "Vidore2ESGReportsRetrieval": (1538, 57),
    "Vidore2EconomicsReportsRetrieval": (452, 58),
    "Vidore2BioMedicalLecturesRetrieval": (1016, 160),
    "Vidore2ESGReportsHLRetrieval": (1538, 52),
}
# the eight that are public; counts from mteb's descriptive statistics
V3 = {
    "Vidore3FinanceEnRetrieval": (2942, 309),
    "Vidore3IndustrialRetrieval": (5244, 283),
    "Vidore3ComputerScienceRetrieval": (1360, 215),
    "Vidore3PharmaceuticalsRetrieval": (2313, 364),
    "Vidore3HrRetrieval": (1110, 318),
    "Vidore3FinanceFrRetrieval": (2384, 320),
    "Vidore3PhysicsRetrieval": (1674, 302),
    "Vidore3EnergyRetrieval": (2225, 308),
}
TASKS = V1 | V2 | V3
ESG, ECONOMICS, BIOMEDICAL, HUMAN = V2

# a dataset is a task, or a task in one language: TASK:english
PRESETS = {
    "vidore-v1": tuple(V1),
    # 672 queries: the paper's 1,344 for two encoders
    "vidore-v2": (ESG, ECONOMICS, f"{BIOMEDICAL}:english", HUMAN),
    "vidore-v2-all": tuple(V2),
    "vidore-v2-english": (f"{ESG}:english", f"{ECONOMICS}:english", f"{BIOMEDICAL}:english", HUMAN),
    "vidore-v3": tuple(V3),
}
# languages of a task; one where it is not named here
LANGUAGES = dict.fromkeys((ESG, ECONOMICS, BIOMEDICAL), 4) | dict.fromkeys(V3, 6)


def is_task(name: str) -> bool:
    """Whether a name is that of a ViDoRe task, with or without a language."""
    return name.partition(":")[0] in TASKS


def load_task(name: str, data: Path) -> Dataset:
    """A task from its folder below `data`, else from the hub.

    A download whose numbers of pages and queries are not the published ones is refused. A local folder is the user's:
    one with other numbers is taken, with a warning.
    """
    task, _, language = name.partition(":")
    languages = [language] if language else []

    folder = data / task
    if folder.is_dir():
        dataset = read_parquet_folder(folder, name, languages)
        _warn_of_other_counts(dataset, folder)
        return dataset

    dataset = read_parquet_folder(_download(task), name, languages)
    check_counts(dataset)
    return dataset


def _warn_of_other_counts(dataset: Dataset, folder: Path) -> None:
    pages, queries = known_counts(dataset.name)
    if (len(dataset), len(dataset.queries)) != (pages, queries):
        log.warning(
            "%s has %d pages and %d queries, and the published %s has %d and %d",
            folder,
            len(dataset),
            len(dataset.queries),
            dataset.name,
            pages,
            queries,
        )


def check_counts(dataset: Dataset) -> None:
    """Refuse a dataset that is not the published one by its numbers of pages and queries."""
    pages, queries = known_counts(dataset.name)
    found_pages, found_queries = len(dataset), len(dataset.queries)
    if (found_pages, found_queries) != (pages, queries):
        raise BadFile(
            f"{dataset.name} has {found_pages} pages and {found_queries} queries, "
            f"{pages} and {queries} were expected: "
            "the files on the hub have changed, or a download is not whole"
        )


def known_counts(name: str) -> tuple[int, int]:
    """Pages and queries of a task, in one of its languages or in all."""
    task, _, language = name.partition(":")
    pages, queries = TASKS[task]
    if language:
        return pages, queries
    return pages, queries * LANGUAGES.get(task, 1)


def _download(task: str) -> Path:
    try:
        from huggingface_hub import snapshot_download  # mteb brings it
    except ImportError:
        raise missing_extra("the data of ViDoRe", "mteb") from None

    path, revision = PINS[task]
    try:
        folder = snapshot_download(
            path, repo_type="dataset", revision=revision, allow_patterns="*.parquet"
        )
    except (OSError, ValueError) as error:
        raise BadFile(
            f"{task} is not on this machine, and {path} cannot be had from the hub "
            f"({_first_line(error)})"
        ) from None
    return Path(folder)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
