"""What methods do to image patches of ColQwen2 and ColPali, without judgements: vectors -> results/images.

    python experiments/images.py VECTORS -o results/images

VECTORS has a folder for each name in SETS, in any format that `am.read_vectors` reads, for example the byaldi
index that SETS names. docs/results-images.md says how to get them; docs/write_images.py draws the results.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import adamerge as am
from adamerge.evaluate.experiment.controls import structureless
from adamerge.fidelities import Drawing

# name -> where its index was committed: model, repository, commit, path
SETS = {
    "colqwen2-paper-a": {
        "model": "vidore/colqwen2-v1.0",
        "content": "the ColPali paper, 20 pages",
        "repository": "emrekuruu/VRAG",
        "commit": "f9e1aad702e697e397bd72555fe28fb5271b5d35",
        "path": ".byaldi/test",
    },
    "colqwen2-paper-b": {
        "model": "vidore/colqwen2-v1.0",
        "content": "the same pages, encoded a second time",
        "repository": "emrekuruu/VRAG",
        "commit": "1808bdcb385bed513fbb08b50a6600aaa5633cdb",
        "path": ".byaldi/test",
    },
    "colqwen2-procurement": {
        "model": "vidore/colqwen2-v1.0",
        "content": "five Indonesian PDFs on procurement, 20 pages",
        "repository": "ingeniom22/colqwen-serverless-lkpp",
        "commit": "48d3641e101b3f86994290d2aeda668178ce9c33",
        "path": "byaldi/lkpp-multimodal",
    },
    "colpali-physics": {
        "model": "vidore/colpali",
        "content": "a chapter of a school book, 14 pages",
        "repository": "Koosh0610/NCERT-Learning-Agent",
        "commit": "89e764ca1a9c1fa5f3a74ca846871c3ec64ea1c8",
        "path": "byaldi/image_index",
    },
}
READINGS = ("raw", "running-min", "height")
FLOORS = (0.5, 0.6, 0.7, 0.8)
COMPRESSIONS = (0.5, 0.6, 0.64, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.95)
HEIGHTS = (0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.7, 2.0)
BITS_COMPRESSIONS = (0.5, 0.64, 0.75, 0.85, 0.92)  # that are measured in every dtype
DTYPES = ("float16", "int8", "int4", "int2", "int1")
SEEDS = range(10)  # of random:keep
QUERIES_OF_A_PAGE = 50


@dataclass(frozen=True)
class Collection:
    """Pages that are searched together, and what queries are drawn from: None for the pages themselves, with noise."""

    name: str
    pages: Sequence[am.MultiVector]
    drawn_from: Sequence[am.MultiVector] | None
    top: int


def read_set(vectors: Path, name: str) -> list[am.MultiVector]:
    """The pages of a set, by ids that two encodings of one document share."""
    document = name.removesuffix("-a").removesuffix("-b")
    pages = []
    for number, page in enumerate(am.read_vectors(vectors / name)):
        pages.append(replace(page, id=f"{document}#{number + 1}"))
    return pages


def collections(sets: dict[str, list[am.MultiVector]]) -> list[Collection]:
    """ColQwen2: 40 pages, and queries of the second encoding of 20 of them. ColPali: 14 pages and noise."""
    colqwen2 = [*sets["colqwen2-paper-b"], *sets["colqwen2-procurement"]]
    return [
        Collection("colqwen2", colqwen2, sets["colqwen2-paper-a"], top=10),
        Collection("colpali", sets["colpali-physics"], None, top=5),
    ]


def methods(pages: Sequence[am.MultiVector]) -> list[tuple[str, str, am.Method]]:
    """Every method that is tried: rule, what it is compared at, method."""
    found: list[tuple[str, str, am.Method]] = [("identity", "", am.Identity())]
    for unit in (False, True):
        for height in HEIGHTS:
            found.append(("height", f"h={height:g}", am.Height(h=height, unit=unit)))
        for compression in COMPRESSIONS:
            found += _at_size(pages, compression, unit, f"{compression:.0%}")
        for reading in READINGS:
            for c_min in FLOORS:
                for cut in ("cliff", "floor"):
                    method = am.AdaMerge(k=None, c_min=c_min, cut=cut, sequence=reading, unit=unit)
                    found.append((f"{cut}, {reading}", f"c_min={c_min:g}", method))
        for c_min in FLOORS:
            found += _at_size_of(pages, am.AdaMerge(k=None, c_min=c_min), unit)
    for compression in COMPRESSIONS:
        for seed in SEEDS:
            method = am.Random(keep=round(1 - compression, 2), seed=seed)
            found.append(("random", f"{compression:.0%}", method))
    return found


def _at_size(
    pages: Sequence[am.MultiVector], compression: float, unit: bool, size: str
) -> list[tuple[str, str, am.Method]]:
    """One height and one ratio for all pages, at the same compression."""
    height = am.height_at(pages, compression)
    ratio = round(1 / (1 - compression), 4)
    return [
        ("height", size, am.Height(h=height, unit=unit)),
        ("ratio", size, am.SemCluster(m=ratio, unit=unit)),
    ]


def _at_size_of(
    pages: Sequence[am.MultiVector], cliff: am.AdaMerge, unit: bool
) -> list[tuple[str, str, am.Method]]:
    """One height and one ratio for all pages, at the compression of a cliff."""
    stored = sum(len(cliff(page)) for page in pages)
    patches = sum(len(page) for page in pages)
    return _at_size(pages, 1 - stored / patches, unit, f"cliff at {cliff.c_min:g}")


def _fidelity(collection: Collection, tried: Sequence[am.Method]) -> list[am.Fidelity]:
    """What each method keeps of the uncompressed order of pages, by queries drawn from the pages."""
    return am.fidelity(
        collection.pages,
        tried,
        drawn_from=collection.drawn_from,
        drawing=Drawing(per_page=QUERIES_OF_A_PAGE),
        top=collection.top,
    )


def measure(collection: Collection) -> list[dict[str, object]]:
    """A row for each method: sizes and fidelity."""
    tried = methods(collection.pages)
    found = _fidelity(collection, [method for _, _, method in tried])
    rows = []
    for (rule, size, method), one in zip(tried, found, strict=True):
        sizes = [len(method(page)) for page in collection.pages]
        row = {"rule": rule, "size": size, "unit": getattr(method, "unit", False)}
        row |= _rounded(one.json())
        row["vectors_sd"] = round(float(np.std(sizes)), 1)
        row["vectors_least"] = min(sizes)
        row["vectors_most"] = max(sizes)
        rows.append(row)
    return rows


def measure_dtypes(collection: Collection) -> list[dict[str, object]]:
    """A row for whole pages and each size of `height`, in every dtype: bytes and fidelity."""
    mergings = {"0%": "identity"}
    for compression in BITS_COMPRESSIONS:
        height = am.height_at(collection.pages, compression)
        mergings[f"{compression:.0%}"] = str(am.Height(h=height))

    tried = []
    for size, merging in mergings.items():
        for dtype in DTYPES:
            name = merging if dtype == "float16" else f"{merging}+{dtype}"
            tried.append((size, dtype, am.parse_method(name)))
    found = _fidelity(collection, [method for _, _, method in tried])
    rows = []
    for (size, dtype, _), one in zip(tried, found, strict=True):
        about = {"collection": collection.name, "size": size, "dtype": dtype}
        rows.append(about | _rounded(one.json()))
    return rows


def thetas(name: str, pages: Sequence[am.MultiVector]) -> list[dict[str, object]]:
    """A row for each reading and floor: theta and gap of every page, of the pages and of pages without structure."""
    rows = []
    for reading in READINGS:
        for c_min in FLOORS:
            method = am.AdaMerge(k=None, c_min=c_min, sequence=reading)
            rows.append(_theta_row(name, "pages", reading, method, pages))
            if c_min == FLOORS[2]:
                gaussian = [structureless(page) for page in pages]
                rows.append(_theta_row(name, "gaussian", reading, method, gaussian))
    return rows


def _theta_row(
    name: str, kind: str, reading: str, method: am.AdaMerge, pages: Sequence[am.MultiVector]
) -> dict[str, object]:
    small = [method(page) for page in pages]
    patches = sum(len(page) for page in pages)
    stored = sum(len(one) for one in small)
    row = {"set": name, "of": kind, "sequence": reading, "c_min": method.c_min}
    row["compression"] = round(1 - stored / patches, 4)
    row["theta"] = [_rounded_or_none(one.cut.theta) for one in small]
    row["gap"] = [_rounded_or_none(one.cut.gap) for one in small]
    row["vectors"] = [len(one) for one in small]
    return row


def _rounded(row: dict[str, object]) -> dict[str, object]:
    rounded = {}
    for key, value in row.items():
        rounded[key] = round(value, 4) if isinstance(value, float) else value
    return rounded


def _rounded_or_none(value: float) -> float | None:
    if np.isnan(value):
        return None
    return round(value, 4)


def write(path: Path, rows: list[dict[str, object]]) -> None:
    """A JSON file, a row a line, so that changes can be read."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    path.write_text(f"[\n{lines}\n]\n")


def main() -> None:
    """Read the sets, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("results/images"))
    parser.add_argument("--only", choices=("theta", "methods", "dtypes"))
    given = parser.parse_args()

    given.output.mkdir(parents=True, exist_ok=True)
    sets = {name: read_set(given.vectors, name) for name in SETS}
    if given.only in (None, "theta"):
        rows = []
        for name, pages in sets.items():
            rows += thetas(name, pages)
        write(given.output / "theta.json", rows)
    if given.only in (None, "methods"):
        for collection in collections(sets):
            write(given.output / f"{collection.name}.json", measure(collection))
    if given.only in (None, "dtypes"):
        rows = []
        for collection in collections(sets):
            rows += measure_dtypes(collection)
        write(given.output / "dtypes.json", rows)
    about = [{"set": name, **about, "pages": len(sets[name])} for name, about in SETS.items()]
    write(given.output / "sets.json", about)


if __name__ == "__main__":
    main()
