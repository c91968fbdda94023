"""What only the embedded store does: two stages, int8, one writer, readers at once, kill -9."""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from lance import write_dataset
from lance_pages import D, a_page, a_query
from waiting import LONG

import adamerge as am
from adamerge import files
from adamerge.errors import BadFile, BadInput, Damaged, Locked, NotFound, StoreUnavailable
from adamerge.store import is_store, parse_bytes
from adamerge.store.lance import store as lance_store
from adamerge.store.lance.commit import take_back
from adamerge.store.lance.snapshot import Snapshot


@pytest.fixture
def path(tmp_path):
    with am.open_store(tmp_path / "store") as store:
        store.add(a_page(i) for i in range(600))
    return tmp_path / "store"


def hits(found):
    return [(hit.id, pytest.approx(hit.score, rel=1e-5)) for hit in found]


def test_above_the_budget_candidates_are_proposed_and_exact_compares_all(path):
    with am.open_store(path) as whole, am.open_store(path, memory="10KB") as small:
        for seed in range(5):
            exact = whole.search(a_query(seed), 5)
            assert (exact.how, exact.candidates) == ("exact", 600)
            streamed = small.search(a_query(seed), 5, exact=True)
            assert hits(streamed) == hits(exact)
            assert (streamed.how, streamed.candidates) == ("exact", 600)
            proposed = small.search(a_query(seed), 5)
            assert proposed.how in ("settled", "exact")
            assert proposed.candidates >= 64
            assert proposed.pages == 600
            scores = [hit.score for hit in proposed]
            assert scores == sorted(scores, reverse=True)
            assert all(
                hit.score <= best.score + 1e-5 for hit, best in zip(proposed, exact, strict=True)
            )


def test_pages_are_read_from_the_disk_once_and_forgotten_when_long_not_asked_for(path, monkeypatch):
    read = []
    entries = Snapshot.entries

    def counted(snapshot, passing=""):
        read.append(passing)
        return entries(snapshot, passing)

    monkeypatch.setattr(Snapshot, "entries", counted)
    monkeypatch.setattr("adamerge.store.lance.snapshot.REMEMBERED_BYTES", 2)
    monkeypatch.setattr("adamerge.store.lance.remembered_entries.bytes_of", lambda entry: 1)
    with am.open_store(path) as store:
        for ids in (["p00001", "p00002"], ["p00002", "p00001"], ["p00003"], ["p00002", "p00001"]):
            assert [entry.id for entry in store.get(ids)] == ids
    assert read == ["id IN ('p00001', 'p00002')", "id IN ('p00003')", "id IN ('p00002')"]


def test_above_the_budget_a_filter_holds_in_both_stages(path):
    with am.open_store(path, memory=1) as small:
        assert len(small.search(a_query(), 60, "id LIKE 'p0001_' AND id NOT LIKE '%9'")) == 9
        some = small.search(a_query(), 5, "id < 'p00050'")
        assert (some.how, some.candidates, some.pages) == ("exact", 50, 50)
        with am.open_store(path) as whole:
            assert hits(some) == hits(whole.search(a_query(), 5, "id < 'p00050'"))


def test_many_pages_get_an_index_of_their_means(path, monkeypatch):
    monkeypatch.setattr(lance_store, "INDEX_FROM", 500)
    with am.open_store(path) as store:
        store.add(a_page(1000))
    with am.open_store(path, memory=1) as small:
        (index,) = small._table.newest().dataset.describe_indices()
        assert index.num_rows_indexed == 601
        ids = [hit.id for hit in small.search(a_page(1000).vectors, 1)]
        assert ids == ["p01000"]


def test_compacting_indexes_the_pages_of_a_writer_that_was_killed_before_it_did(path, monkeypatch):
    monkeypatch.setattr(lance_store, "INDEX_FROM", 500)
    with am.open_store(path) as store:
        assert store._table.newest().dataset.describe_indices() == []
        store.compact()
        assert len(store._table.newest().dataset.describe_indices()) == 1


def test_an_index_is_on_the_disk_before_it_counts_as_made(path, monkeypatch):
    synced = set()
    sync = files.sync
    monkeypatch.setattr(files, "sync", lambda path: (synced.add(path), sync(path)))
    with am.open_store(path) as store:
        store.begin_writing()
        store._table.index_means()
    made = list((path / "pages.lance" / "_indices").rglob("*"))
    assert len(made) >= 3
    assert {path / "pages.lance" / "_indices", *made} <= synced


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8"])
def test_bytes_are_told_as_they_are_on_disk(tmp_path, dtype):
    with am.open_store(tmp_path / "s", dtype=dtype) as store:
        store.add(a_page(i, 50) for i in range(64))
    with am.open_store(tmp_path / "s") as store:
        facts = store.facts()
        assert store.about.dtype == dtype
    rows = 64 * 50
    assert (
        facts["bytes of vectors"]
        == rows * {"float16": 2 * D, "float32": 4 * D, "int8": D + 4}[dtype]
    )
    on_disk = sum(
        f.stat().st_size for f in (tmp_path / "s" / "pages.lance").rglob("*") if f.is_file()
    )
    assert (
        facts["bytes in all"] == on_disk == facts["bytes of vectors"] + facts["bytes of the rest"]
    )


def test_int8_finds_nearly_the_same_pages(tmp_path):
    pages = [a_page(i) for i in range(300)]
    with (
        am.open_store(tmp_path / "8", dtype="int8") as eight,
        am.open_store(tmp_path / "32", dtype="float32") as full,
    ):
        eight.add(pages)
        full.add(pages)
        for seed in range(5):
            a, b = eight.search(a_query(seed), 10), full.search(a_query(seed), 10)
            assert len({hit.id for hit in a} & {hit.id for hit in b}) >= 9
            assert a[0].score == pytest.approx(b[0].score, rel=0.02)


def test_a_version_that_was_taken_back_is_not_taken_for_the_next_one_of_its_number(path):
    with am.open_store(path) as reader:
        with am.open_store(path) as writer:
            before = writer._table.newest().version
            writer.add(a_page(1000))
            assert reader.search(a_page(1000).vectors, 1)[0].id == "p01000"
            number = writer._table.newest().version
            take_back(str(path), range(before + 1, number + 1))
        with am.open_store(path) as writer:
            writer.add(a_page(2000))
            assert writer._table.newest().version == number
        assert reader.search(a_page(2000).vectors, 1)[0].id == "p02000"
        assert reader.search(a_page(1000).vectors, 1)[0].id != "p01000"


def test_what_is_in_memory_follows_what_is_on_disk(path):
    with am.open_store(path) as reader, am.open_store(path) as writer:
        query = a_page(7).vectors
        assert reader.search(query, 1)[0].id == "p00007"
        writer.delete("p00007")
        assert reader.search(query, 1)[0].id != "p00007"
        held = reader._cache._vectors
        writer.add([a_page(7), a_page(8, 9)])
        assert reader.search(query, 1)[0].id == "p00007"
        assert reader._cache._vectors is held  # only what had changed was read
        writer.compact()
        assert reader.search(query, 1)[0].id == "p00007"
        assert len(reader.get(["p00008"])[0].page) == 9


def test_there_is_one_writer_at_a_time(path):
    with am.open_store(path) as first, am.open_store(path) as second:
        first.add(a_page(0))
        with pytest.raises(Locked, match="another process is writing"):
            second.add(a_page(1))
    with am.open_store(path) as third:
        third.add(a_page(1))


def test_nothing_is_made_by_looking(tmp_path):
    with (
        am.open_store(tmp_path / "nowhere") as store,
        pytest.raises(NotFound, match="holds no pages yet"),
    ):
        store.search(a_query())
    assert not (tmp_path / "nowhere").exists()


def test_a_store_in_the_place_of_another_is_not_taken_for_it(path):
    with am.open_store(path) as reader:
        query = a_query()
        reader.search(query)
        shutil.rmtree(path)
        with am.open_store(path) as other:
            other.add(a_page(i, seed=99) for i in range(600))
        with am.open_store(path) as fresh:
            assert hits(reader.search(query)) == hits(fresh.search(query))


def test_what_a_killed_first_write_left_is_no_store_and_does_not_stop_the_next(tmp_path):
    place = tmp_path / "store"
    (place / "pages.lance" / "data").mkdir(parents=True)
    (place / "pages.lance" / "data" / ".tmpX").write_bytes(b"half")
    assert not is_store(place)
    with am.open_store(place) as store:
        assert len(store) == 0
        store.add(a_page(0))
    with am.open_store(place) as store:
        assert [hit.id for hit in store.search(a_query())] == ["p00000"]


def test_a_damaged_store_is_told_in_one_line(path):
    for file in (path / "pages.lance" / "data").iterdir():
        file.unlink()
    with am.open_store(path) as store:
        for read in (lambda: store.search(a_query()), lambda: list(store.entries()), store.facts):
            with pytest.raises(Damaged, match=r"cannot be read.*restore it") as error:
                read()
            assert "\n" not in str(error.value)
            assert ".rs:" not in str(error.value)
            assert str(path.parent) not in str(error.value)


def test_bytes_are_those_of_the_store_and_of_nothing_beside_it(path):
    with am.open_store(path) as store:
        before = store.facts()["bytes in all"]
        (path / "notes.txt").write_bytes(b"x" * 10_000)
        assert store.facts()["bytes in all"] == before


def test_nothing_is_left_of_a_store_in_which_nothing_was_written(tmp_path):
    with am.open_store(tmp_path / "s") as store:
        store.begin_writing()
    assert not (tmp_path / "s").exists()


def test_an_address_of_an_unknown_kind_is_refused():
    with pytest.raises(BadInput, match="begins with s3://"):
        am.open_store("ftp://host/x")


def test_a_file_or_another_table_is_not_a_store(tmp_path):
    (tmp_path / "file").write_text("x")
    with (
        am.open_store(tmp_path / "file") as store,
        pytest.raises(BadFile, match="is a file, and a folder"),
    ):
        store.add(a_page(0))
    write_dataset(pa.table({"id": ["x"]}), tmp_path / "other" / "pages.lance")
    with pytest.raises(BadFile, match="not a store of adamerge"):
        am.open_store(tmp_path / "other")


@pytest.mark.parametrize(
    ("text", "size"),
    [("1e3", 1000), ("500MB", 5 * 10**8), ("4GiB", 4 << 30), (" 2 ki", 2048), ("4G", 4 * 10**9)],
)
def test_sizes_are_read_with_their_unit(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "much", "4 bananas", "-", "-5MB", "1e999"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="such as 500MB"):
        parse_bytes(text)


# A process that replaces pages for ever; the number of an entry tells which write it is of.
WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
import adamerge as am
from adamerge.store.lance import store as lance_store
from lance_pages import written
lance_store.WRITES_BEFORE_TIDYING = 5
with am.open_store(sys.argv[1]) as store:
    for i in range(0, 100_000, 3):
        store.add(written(i + j) for j in range(3))
        print(i, flush=True)
"""

# A process that searches until it has seen many replaced pages, and compares each with the write it is of.
READER = """
import sys
sys.path.insert(0, sys.argv[2])
import numpy as np
import adamerge as am
from adamerge.codes import to_vectors
from lance_pages import a_query, written
searches, replaced = 0, 0
with am.open_store(sys.argv[1], memory=sys.argv[3]) as store:
    while searches < 30 or replaced < 30:
        found = store.search(a_query(searches), 5)
        assert len(found) == 5
        for entry in store.get([hit.id for hit in found]):
            if entry.number > 1:
                expected = to_vectors(written(entry.number - 2).page.rows_in(store.about.dtype))
                assert np.array_equal(entry.page.vectors, expected), entry.id
                replaced += 1
        searches += 1
"""


def start(code, *arguments):
    here = str(Path(__file__).parent)
    return subprocess.Popen(
        [sys.executable, "-c", code, arguments[0], here, *arguments[1:]],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("dtype", ["float16", "int4"])
def test_readers_see_whole_pages_while_a_writer_writes_and_compacts(tmp_path, dtype):
    path = tmp_path / "store"
    with am.open_store(path, dtype=dtype) as store:
        store.add(a_page(i) for i in range(600))
    writer = start(WRITER, str(path))
    writer.stdout.readline()
    readers = [start(READER, str(path), memory) for memory in ("1GB", "10KB")]
    try:
        for reader in readers:
            reader.communicate(timeout=LONG)
            assert reader.returncode == 0
        assert writer.poll() is None
    finally:
        for process in (writer, *readers):
            process.kill()
            process.communicate()


def test_what_is_being_read_is_read_to_its_end_while_a_writer_compacts(path):
    with am.open_store(path) as reader, am.open_store(path) as writer:
        writer.add(a_page(i) for i in range(600, 1200))
        entries = reader.entries()
        ids = [next(entries).id for _ in range(3)]
        writer.compact()
        ids += [entry.id for entry in entries]
    assert sorted(ids) == [f"p{i:05d}" for i in range(1200)]


def test_threads_that_write_the_same_pages_store_them_once(tmp_path):
    with am.open_store(tmp_path / "store") as store, ThreadPoolExecutor(4) as pool:
        assert (
            list(pool.map(lambda _: store.add([a_page(i) for i in range(40)]), range(8)))
            == [40] * 8
        )
        assert len(store) == 40
        assert sorted(entry.id for entry in store.entries()) == [f"p{i:05d}" for i in range(40)]


def test_a_store_whose_folder_is_gone_lets_go_of_its_lock(path):
    store = am.open_store(path)
    store.add(a_page(0))
    shutil.rmtree(path)
    with pytest.raises(StoreUnavailable, match="could not be written"):
        store.close()
    with am.open_store(path) as again:
        again.add(a_page(1))
        assert len(again) == 1


def test_all_files_are_labelled_by_one_write(tmp_path):
    with am.open_store(tmp_path / "store") as store:
        store.add(am.Entry(a_page(i), source=f"f{i // 2}.pdf") for i in range(20))
        store.set_metadata(
            {f"f{i}.pdf": {"year": 2000 + i, "name": None if i % 2 else f"n{i}"} for i in range(10)}
        )
        store.set_roots({f"f{i}.pdf": f"/folder/{i}" for i in range(10)})
        assert store._writes == 3
        for i, (name, source) in enumerate(sorted(store.sources().items())):
            assert (name, source.root) == (f"f{i}.pdf", f"/folder/{i}")
            assert source.metadata == {"year": 2000 + i} | ({} if i % 2 else {"name": f"n{i}"})
        assert [
            hit.source for hit in store.search(a_query(), 9, "year = 2003 AND name IS NULL")
        ] == ["f3.pdf"] * 2
