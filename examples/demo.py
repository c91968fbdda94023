"""The main job in one screen: index a report as it is and compressed, search both, and compare hits and bytes."""

import os
import shutil
import sys
from pathlib import Path

import adamerge as am
from adamerge.encoders import Encoder
from adamerge.inspector import Inspection

REPORT = Path(__file__).with_name("report.pdf")
# folder -> method and dtype; None stands for the default
STORES = {"whole": ("identity", "float16"), "small": (None, None)}
QUERIES = [
    "which month had the most vessels?",
    "how much is a night for a sailing boat?",
    "who repaired the clock?",
]
LINE = "{:<24}{:<24}{}"


def main(place: Path) -> None:
    """Make two stores and an inspector file in a folder, and print what they find."""
    shutil.rmtree(place, ignore_errors=True)
    encoder = am.load_encoder("minilm")
    stores = [index(place / name, encoder, *how) for name, how in STORES.items()]
    print_sizes(stores)
    for query in QUERIES:
        best = print_hits(query, stores)
    inspection = inspect(best, query, encoder, stores[1].facts()["method"])
    file = inspection.save(place / "inspect.html")

    print(f"\nSee what became of page {best.number}: open {file} in a browser.")
    adamerge = os.path.relpath(Path(sys.executable).with_name("adamerge"))
    print(f'Ask more:   {adamerge} search {place / "small"} "what did the storm cost?"')
    print(f"Your files: {adamerge} index FOLDER --store my.store")


def index(address: Path, encoder: Encoder, method: str | None, dtype: str | None) -> am.Store:
    """A store of the pages of the report."""
    store = am.open_store(address, encoder=encoder, dtype=dtype)
    for _ in am.index_files([REPORT], store, am.Indexing(encoder, method)):
        pass
    return store


def print_sizes(stores: list[am.Store]) -> None:
    """What each store holds, side by side."""
    whole, small = (store.facts() for store in stores)
    less = 1 - small["bytes of vectors"] / whole["bytes of vectors"]
    print(f"{REPORT.name}, {whole['pages']} pages of text, tables and charts, is indexed twice:\n")
    print(LINE.format("", "whole", "compressed"))
    methods = [f"{facts['method']} in {facts['dtype']}" for facts in (whole, small)]
    print(LINE.format("method", *methods))
    print(LINE.format("vectors", f"{whole['stored']:,}", f"{small['stored']:,}"))
    sizes = [f"{facts['bytes of vectors']:,}" for facts in (whole, small)]
    print(LINE.format("bytes of vectors", sizes[0], f"{sizes[1]} ({less:.0%} less)"))


def print_hits(query: str, stores: list[am.Store]) -> am.Hit:
    """The pages that each store finds, side by side; returns the best of the compressed one."""
    whole, small = (store.search(query, k=2) for store in stores)
    print(f"\n{query}")
    for rank, (before, after) in enumerate(zip(whole, small, strict=True), 1):
        print(LINE.format(f"  {rank}", in_short(before), f"{in_short(after)}   {words(after)}"))
    return small[0]


def in_short(hit: am.Hit) -> str:
    """The page of a hit and its score."""
    return f"page {hit.number}  {hit.score:.3f}"


def words(hit: am.Hit) -> str:
    """The five words that matched best, each once."""
    found: dict[str, None] = {}
    for match in sorted(hit.matches, key=lambda match: -match.similarity)[:3]:
        found |= dict.fromkeys(match.words[:2])
    return " ".join(list(found)[:5])


def inspect(hit: am.Hit, query: str, encoder: Encoder, method: str) -> Inspection:
    """What the method did to the page that was found."""
    page = list(am.read_pages([REPORT]))[hit.number - 1]
    (patches,) = encoder.encode_pages([page])
    (vectors,) = encoder.encode_queries([query])
    return am.inspect(patches, method, image=page, queries={query: vectors})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
