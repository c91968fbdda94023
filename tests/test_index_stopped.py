"""Indexing that is stopped or killed: no page is lost, none is there twice, and the next run finishes."""

import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from light import Light, write_pdf
from processes import ended, start_python
from waiting import LONG, until

import adamerge as am

METHOD = "adamerge:k=none,c_min=0.5"


# The real indexing of a folder, which says of each page that it is there.
INDEXER = """
import sys
sys.path.insert(0, sys.argv[3])
import adamerge as am
from light import Light
from adamerge.store import index
from adamerge.store.lance import store as lance_store
lance_store.WRITES_BEFORE_TIDYING, index.PAGES_PER_WRITE = 4, 5
with am.open_store(sys.argv[1], dtype="int4") as store:
    for change in am.index_files([sys.argv[2]], store, am.Indexing(Light(), "adamerge:k=none,c_min=0.5", dpi=30)):
        print(change.did, change.id, flush=True)
"""


def start_indexing(store, folder):
    arguments = ["-c", INDEXER, str(store), str(folder), str(Path(__file__).parent)]
    return start_python(*arguments, stdout=subprocess.PIPE, text=True)


def change_something(folder, rng, turn):
    """Let one file be new, one be gone and one be another."""
    files = sorted(folder.glob("*.pdf"))
    write_pdf(folder / f"new{turn}.pdf", [f"new page {turn} {i}" for i in range(20)])
    files.pop(rng.integers(len(files))).unlink()
    write_pdf(
        files[rng.integers(len(files))],
        [f"changed page {turn} {i}" for i in range(rng.integers(1, 30))],
    )


def index(store, folder):
    """What was done with each page."""
    changes = am.index_files([folder], store, am.Indexing(Light(), METHOD, dpi=30))
    return [change.did for change in changes]


@pytest.mark.parametrize("pages_now", [1, 5])
def test_a_changed_file_is_finished_after_a_stop_in_its_midst(tmp_path, monkeypatch, pages_now):
    """The store holds pages of the old and of the new file then, and each says how many pages its file has."""
    monkeypatch.setattr("adamerge.store.index.PAGES_PER_WRITE", 1)
    folder = tmp_path / "docs"
    write_pdf(folder / "b.pdf", ["clock repair", "wind the clock", "oil every wheel"])
    with am.open_store(tmp_path / "store") as store:
        index(store, folder)
        write_pdf(folder / "b.pdf", [f"another text {number}" for number in range(pages_now)])
        changes = am.index_files([folder], store, am.Indexing(Light(), METHOD, dpi=30))
        while next(changes).did != "replaced":
            pass
        changes.close()

        index(store, folder)
        wanted = [f"b.pdf#{number + 1}" for number in range(pages_now)]
        assert sorted(store.sources()["b.pdf"].hashes) == wanted
        assert index(store, folder) == ["unchanged"] * pages_now


def test_kill_9_at_any_moment_of_indexing_loses_no_page_and_doubles_none(tmp_path):
    seed = int(time.time())
    rng = np.random.default_rng(seed)
    folder, place = tmp_path / "docs", tmp_path / "store"
    for i in range(12):
        write_pdf(folder / f"f{i}.pdf", [f"file {i} page {j}" for j in range(20)])
    for turn in range(8):
        process = start_indexing(place, folder)
        with ended(process):
            if turn == 0:  # in the midst of the first write
                until((place / "pages.lance").exists, "the first write", process)
            lines = [process.stdout.readline() for _ in range(rng.integers(60) if turn else 0)]
            process.kill()
            # not communicate(), which would pass over what readline() has read ahead; the last line may be cut
            lines += process.stdout.read().split("\n")[:-1]
        did = dict(reversed(line.split()) for line in lines if line)
        with am.open_store(place) as store:
            there = Counter(entry.id for entry in store.entries()) if len(store) else Counter()
        removed = {id for id, what in did.items() if what == "removed"}
        assert set(there.values()) <= {1}, (seed, turn)
        assert did.keys() - removed <= there.keys(), (seed, turn)
        assert not removed & there.keys(), (seed, turn)
        change_something(folder, rng, turn)

    last = start_indexing(place, folder)
    with ended(last):
        last.communicate(timeout=LONG)
    assert last.returncode == 0
    with am.open_store(place) as killed, am.open_store(tmp_path / "fresh", dtype="int4") as fresh:
        index(fresh, folder)
        pages = {entry.id: entry for entry in fresh.entries()}
        assert sorted(entry.id for entry in killed.entries()) == sorted(pages)
        for entry in killed.entries():
            np.testing.assert_array_equal(entry.page.vectors, pages[entry.id].page.vectors)
            assert entry.hash == pages[entry.id].hash
