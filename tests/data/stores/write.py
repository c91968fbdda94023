"""Write a small store of each dtype, as the adamerge that is installed writes it, and what is read back from it.

    python tests/data/stores/write.py 3     # makes v3-float16.zip, v3-int8.zip, v3-int4.zip and v3-int1.zip here

An archive holds the store, and contents.json: what was read back from it. Run this once for each version of stores,
before the next version is written: these stores open for ever. The int8 store is left without being closed, as by a
process that was killed.
"""

import json
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

import adamerge as am
from adamerge.types import Word

HERE = Path(__file__).parent
ENCODER = {"name": "test", "revision": "1", "dpi": 150}
D = 8


def a_page(i, m=None):
    """A page with a grid or with boxes, with extra rows or without."""
    rng = np.random.default_rng([5, i])
    n = 2 * (m or 1 + i % 4)
    vectors = rng.normal(size=(n, D))
    extra = rng.normal(size=(1, D)) if i % 2 else None
    boxes = rng.random((n, 4)) if i % 3 else None
    grid = None if i % 3 else (2, n // 2)
    page = am.MultiVector(vectors, id=f"file{i % 3}.pdf#{i}", extra=extra, boxes=boxes, grid=grid)
    return am.compress(page, method="sem-cluster:m=2")


def an_entry(i, m=None):
    """An entry with metadata of every kind; one of them has none."""
    labels = {
        "year": 2020 + i,
        "price": i / 4,
        "open": i % 2 == 0,
        "language": "en" if i % 2 else "de",
        "day": date(2020, 2, 1 + i),
        "at": datetime(2021, 3, 4, 5, 6, i, tzinfo=UTC),
    }
    words = (Word("clock", (0.1, 0.2, 0.3, 0.25)), Word(f"word{i}", (0.5, 0.5, 0.6, 0.55)))
    source, hash = f"file{i % 3}.pdf", f"hash{i % 3}"
    metadata = labels if i != 5 else {}
    return am.Entry(a_page(i, m), source, i, 9, "/folder", hash, words, bytes([i]) * 4, metadata)


def contents(store):
    """All that a store gives, as JSON has it."""
    pages = {}
    for entry in store.entries():
        page = entry.page
        pages[entry.id] = {
            "vectors": page.stored.astype(float).round(6).tolist(),
            "groups": page.groups.tolist(),
            "extra": 0 if page.extra is None else len(page.extra),
            "source": entry.source,
            "number": entry.number,
            "words": [word.text for word in entry.words],
            "thumbnail": list(entry.thumbnail),
            "metadata": {name: str(value) for name, value in entry.metadata.items()},
        }
    return {"pages": pages, "about": store.about.json(), "columns": store.columns()}


def write(path, dtype):
    """A store that has seen every kind of write."""
    store = am.open_store(path, encoder=ENCODER, dtype=dtype)
    store.add([an_entry(i) for i in range(4)])
    store.add([an_entry(4), an_entry(5)])
    store.add(an_entry(2, 3))
    store.delete("file0.pdf#3")
    store.set_metadata({"file1.pdf": {"shelf": "a"}})
    return store


def pack(folder, archive):
    """The files of a folder as an archive."""
    with ZipFile(archive, "w", ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            packed.write(path, path.relative_to(folder))


def unpack(name, folder):
    """Unpack a store of an earlier version into a folder; its own path, and what was read back from it."""
    with ZipFile(HERE / f"{name}.zip") as packed:
        packed.extractall(folder)
    return folder / "store", json.loads((folder / "contents.json").read_text())


if __name__ == "__main__":
    for dtype in ("float16", "int8", "int4", "int1"):
        with TemporaryDirectory() as temporary:
            folder = Path(temporary)
            store = write(folder / "store", dtype)
            if dtype != "int8":
                store.compact(keep=timedelta(0))
                store.close()
            with am.open_store(folder / "store") as again:
                text = json.dumps(contents(again), separators=(",", ":"))
            (folder / "contents.json").write_text(text + "\n")
            pack(folder, HERE / f"v{sys.argv[1]}-{dtype}.zip")
