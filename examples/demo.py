"""The main job on the sample PDF: index it as it is and compressed, search both, and compare hits and bytes."""

import shutil
import sys
from pathlib import Path

import adamerge as am

SAMPLE = Path(__file__).with_name("sample.pdf")
METHODS = {"whole": "identity", "small": None}  # None: the default method of the encoder
QUERIES = [
    "which patches does the end token ignore?",
    "how are pages found by late interaction?",
    "where is the merge tree cut?",
]


def main(place: Path) -> None:
    """Make two stores in a folder and print what they find."""
    shutil.rmtree(place, ignore_errors=True)
    encoder = am.load_encoder("minilm")
    stores = {}
    for name, method in METHODS.items():
        stores[name] = am.open_store(place / name, encoder=encoder)
        for change in am.index_files([SAMPLE], stores[name], am.Indexing(encoder, method)):
            print(f"{change.did} {change.id} to {place / name}")
        stores[name].close()
    for name, store in stores.items():
        facts = store.facts()
        vectors = f"{facts['stored']:,} vectors of {facts['patches']:,} patches"
        sizes = f"{facts['bytes of vectors']:,} bytes of vectors, {facts['bytes in all']:,} in all"
        print(f"\n{name}: {facts['method']}: {vectors}, {sizes}", end="")
    for query in QUERIES:
        print(f"\n\n{query}\n{'':6}{'whole index':<28}compressed")
        whole, small = (store.search(query, k=3) for store in stores.values())
        for rank, (a, b) in enumerate(zip(whole, small, strict=True), 1):
            print(
                f"{rank:4}  page {a.number:<6}{a.score:<17.3f}page {b.number:<6}{b.score:<10.3f}{words(b)}"
            )
    print(f'\nTry: adamerge search {place / "small"} "your question"')


def words(hit: am.Hit) -> str:
    """The words that matched best."""
    best = sorted(hit.matches, key=lambda match: -match.similarity)[:3]
    return " ".join(dict.fromkeys(word for match in best for word in match.words[:3]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
