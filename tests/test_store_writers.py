"""The embedded store beside writers: no read fails or mixes two versions, and no write goes where it should not."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from threading import Condition, Thread, current_thread

import numpy as np
import pytest
from lance_pages import a_page, a_query
from processes import start_python
from waiting import LONG

import adamerge as am
from adamerge.errors import BadFile, Damaged, StoreUnavailable
from adamerge.store.lance import table as lance_table
from adamerge.store.lance.snapshot import Snapshot
from adamerge.store.lance.table import superseded

PAGES = 24
READS = 2000


@pytest.fixture
def path(tmp_path):
    with am.open_store(tmp_path / "store") as store:
        store.add(a_page(i) for i in range(PAGES))
    return tmp_path / "store"


class RemovingWriter:
    """A thread that replaces pages and removes every version but the newest, as often as a reader waits for it."""

    def __init__(self, path):
        self.path = path
        self.rounds, self.wanted = 0, 1  # rounds that are done; after so many it rests
        self.is_stopped, self.changed = False, Condition()
        self.thread = Thread(target=self.run, name="writer")
        self.error = None

    def run(self):
        try:
            with am.open_store(self.path) as store:
                while self.wait_for_readers():
                    self.write(store)
                    with self.changed:
                        self.rounds += 1
                        self.changed.notify_all()
        except BaseException as error:
            self.error = error
            with self.changed:
                self.changed.notify_all()

    def wait_for_readers(self):
        """Whether there is another round."""
        with self.changed:
            self.changed.wait_for(lambda: self.is_stopped or self.rounds < self.wanted)
        return not self.is_stopped

    def write(self, store):
        numbers = range(3 * self.rounds, 3 * self.rounds + 3)
        store.add(am.Entry(a_page(i % PAGES, 2 + i % 5, seed=i), number=i + 2) for i in numbers)
        store.compact(keep=timedelta(0))

    def wait_for_another_round(self):
        """Wait until every version of now is gone: a round that has begun may have begun before."""
        with self.changed:
            last = self.rounds + 2
            self.wanted = max(self.wanted, last)
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.error or self.rounds >= last, LONG)

    def stop(self):
        with self.changed:
            self.is_stopped = True
            self.changed.notify_all()


@contextmanager
def running(writer):
    writer.thread.start()
    try:
        yield writer
    finally:
        writer.stop()
        writer.thread.join(LONG)
    assert writer.error is None


def delayed(call, writer, every):
    """A function that at times begins only when the writer has removed what was the newest version."""
    calls = count(1)

    def wait_and_call(*given):
        if current_thread() is not writer.thread and next(calls) % every == 0:
            writer.wait_for_another_round()
        return call(*given)

    return wait_and_call


def check(entry):
    """An entry is as one write left it."""
    number = entry.number - 2
    expected = a_page(int(entry.id[1:]))
    if number >= 0:
        expected = a_page(number % PAGES, 2 + number % 5, seed=number)
    rounded = expected.vectors.astype(np.float16).astype(np.float32)
    assert np.array_equal(entry.page.vectors, rounded)


def read_in_every_way(store, i):
    """One of all ways to read a store."""
    way = i % 8
    if way == 0:
        found = store.search(a_query(i), 5)
        assert (len(found), found.pages) == (5, PAGES)
    elif way == 1:
        assert len(store.search(a_query(i), 5, "number >= 1", exact=True)) == 5
    elif way == 2:
        entries = store.get([f"p{i % PAGES:05d}", "p00001"])
        assert entries[-1].id == "p00001"
        for entry in entries:
            check(entry)
    elif way == 3:
        ids = []
        for entry in store.entries():
            check(entry)
            ids.append(entry.id)
        assert sorted(ids) == [f"p{j:05d}" for j in range(PAGES)]
    elif way == 4:
        assert store.columns() == {}
    elif way == 5:
        facts = store.facts()
        assert facts["pages"] == PAGES
    elif way == 6:
        assert sum(len(source.hashes) for source in store.sources().values()) == PAGES
    else:
        assert len(store) == PAGES


def test_no_read_fails_while_a_writer_removes_the_versions_that_are_being_read(path, monkeypatch):
    writer = RemovingWriter(path)
    slow_open = delayed(lance_table.open_version, writer, every=40)
    slow_scan = delayed(Snapshot.scan, writer, every=80)
    monkeypatch.setattr(lance_table, "open_version", slow_open)
    monkeypatch.setattr(Snapshot, "scan", slow_scan)
    met = Counter()
    successor = lance_table.LanceTable.successor

    def counted(table, snapshot, error):
        met["removed while it was read"] += 1
        return successor(table, snapshot, error)

    monkeypatch.setattr(lance_table.LanceTable, "successor", counted)
    with (
        running(writer),
        am.open_store(path) as whole,
        am.open_store(path, memory=1) as small,
        ThreadPoolExecutor(4) as threads,
    ):
        stores = (whole, small)
        read = threads.map(lambda i: read_in_every_way(stores[i // 8 % 2], i), range(READS))
        assert len(list(read)) == READS
    assert met["removed while it was read"] > 5


def test_a_file_that_is_missing_from_the_newest_version_is_damage_and_not_waited_for(path):
    with am.open_store(path) as store:
        for file in (path / "pages.lance" / "data").iterdir():
            file.unlink()
        with pytest.raises(Damaged, match=r"cannot be read.*restore it"):
            store.get(["p00001"])


def test_a_store_that_was_moved_is_told_and_is_read_again_when_it_is_back(path):
    with am.open_store(path) as reader, am.open_store(path) as writer:
        reader.search(a_query())
        writer.begin_writing()
        path.rename(path.with_name("elsewhere"))
        for read in (
            lambda: reader.search(a_query()),
            lambda: reader.get(["p00001"]),
            lambda: len(reader),
            lambda: list(reader.entries()),
            reader.columns,
            reader.facts,
            reader.sources,
        ):
            with pytest.raises(StoreUnavailable, match="moved or removed while it was open"):
                read()
        with pytest.raises(StoreUnavailable, match="moved or removed while it was open"):
            writer.add(a_page(1000))
        assert not path.exists()  # a writer makes no half store in its old place
        path.with_name("elsewhere").rename(path)
        writer.add(a_page(1000))
        assert len(reader) == PAGES + 1


def test_a_writer_does_not_write_into_a_folder_that_it_has_not_locked(path):
    with am.open_store(path) as writer:
        writer.add(a_page(1000))
        path.rename(path.with_name("elsewhere"))
        with am.open_store(path) as other:
            other.add(a_page(1))
        with pytest.raises(StoreUnavailable, match="moved or removed"):
            writer.add(a_page(2000))
        shutil.rmtree(path)
        path.with_name("elsewhere").rename(path)
    with am.open_store(path) as store:
        assert len(store) == PAGES + 1


# A process that may write no file of more than 64 KB, which is what a full disk is to it.
FULL = """
import resource, sys
sys.path.insert(0, sys.argv[2])
import adamerge as am
from lance_pages import a_page
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
store = am.open_store(sys.argv[1])
store.add(a_page(1000))
try:
    store.add(a_page(2000 + i, 3000) for i in range(3))
except am.AdamergeError as error:
    print(type(error).__name__, error)
store.close()
"""


def test_a_full_disk_is_told_in_one_line_and_costs_nothing_that_was_stored(path):
    here = __file__.rpartition("/")[0]
    process = start_python("-c", FULL, str(path), here, stdout=subprocess.PIPE, text=True)
    out, _ = process.communicate(timeout=LONG)
    assert process.returncode == 0
    assert out.startswith("StoreUnavailable the store could not be written: ")
    assert out.count("\n") == 1
    with am.open_store(path) as store:
        assert sorted(entry.id for entry in store.entries())[-1] == "p01000"
        assert len(store) == PAGES + 1
        named = {
            file.path
            for fragment in store._table.newest().dataset.get_fragments()
            for file in fragment.metadata.files
        }
    assert {file.name for file in (path / "pages.lance" / "data").iterdir()} == named


def test_a_folder_of_other_files_is_not_made_a_store(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "report.pdf").write_bytes(b"%PDF-")
    for write in (lambda store: store.add(a_page(1)), lambda store: store.begin_writing()):
        with (
            am.open_store(tmp_path / "docs") as store,
            pytest.raises(BadFile, match=r"holds other files \(report.pdf ...\): a store needs"),
        ):
            write(store)
    assert [file.name for file in (tmp_path / "docs").iterdir()] == ["report.pdf"]


def test_an_empty_folder_and_one_with_hidden_files_become_a_store(tmp_path):
    (tmp_path / ".hidden").touch()
    with am.open_store(tmp_path) as store:
        store.add(a_page(1))
    with am.open_store(tmp_path) as store:
        assert len(store) == 1


# A process that indexes the means of a few pages, of which Lance likes to say that they are few.
FEW = """
import sys
sys.path.insert(0, sys.argv[2])
import adamerge as am
from adamerge.store.lance import store as lance_store
from lance_pages import a_page, a_query
lance_store.INDEX_FROM = 10
with am.open_store(sys.argv[1], memory=1) as store:
    store.add(a_page(i) for i in range(300))
with am.open_store(sys.argv[1], memory=1) as store:
    print(len(store.search(a_query(), 5)))
"""


def test_nothing_but_our_own_words_reaches_the_terminal(tmp_path):
    here = __file__.rpartition("/")[0]
    run = subprocess.run(
        [sys.executable, "-c", FEW, str(tmp_path / "store"), here],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (run.stdout, run.stderr) == ("5\n", "")


def versions(store):
    return [version["version"] for version in store._table.newest().dataset.versions()]


def files_of(path):
    return {file.relative_to(path) for file in path.rglob("*") if file.is_file()}


def test_compaction_keeps_every_page_and_the_versions_that_others_may_still_read(path):
    with am.open_store(path) as reader, am.open_store(path) as store:
        old = reader._table.newest()
        for i in range(40):
            store.add(a_page(i % 20, 3))
        store.compact()
        assert old.version in versions(store)
        assert old.count() == len(list(old.entries())) == PAGES
        store.compact(keep=timedelta(0))
        assert versions(store) == [store._table.newest().version]
        assert len(store) == PAGES
        assert store.facts()["stored"] == (PAGES - 20) * 6 + 20 * 3


def test_a_version_stays_for_minutes_after_a_newer_one_took_its_place():
    commits = {1: -9000, 2: -8000, 3: -301, 4: -299, 5: -1}  # seconds from now
    listed = [
        {"version": number, "timestamp": datetime.fromtimestamp(1e9 + seconds)}
        for number, seconds in commits.items()
    ]
    assert superseded(listed, timedelta(minutes=5), 1e9) == [1, 2]
    assert superseded(listed, timedelta(0), 1e9) == [1, 2, 3, 4]
    assert superseded(listed[-1:], timedelta(0), 1e9) == []


def test_a_clock_that_was_set_back_keeps_no_version_for_ever():
    at = datetime.fromtimestamp
    listed = [{"version": 1, "timestamp": at(2e9)}, {"version": 2, "timestamp": at(2e9 + 5)}]
    assert superseded(listed, timedelta(minutes=5), 1e9) == [1]


def test_a_writer_that_adds_a_page_does_not_write_the_others_again(path):
    with am.open_store(path) as store:
        store.compact(keep=timedelta(0))
    before = files_of(path / "pages.lance" / "data")
    with am.open_store(path) as store:
        store.add(a_page(1000))
    after = files_of(path / "pages.lance" / "data")
    assert before < after
    assert len(after) == len(before) + 1


def test_what_a_killed_writer_left_is_removed_by_the_next(path):
    left = path / "pages.lance" / "data" / "1010.lance"
    left.write_bytes(b"half a file")
    with am.open_store(path) as store:
        assert store.search(a_page(7).vectors, 1)[0].id == "p00007"
        assert left.exists()  # a reader removes nothing
    with am.open_store(path) as store:
        store.begin_writing()
    assert not left.exists()


def test_every_test_that_the_page_on_search_names_is_there():
    here = Path(__file__).parent
    page = (here.parent / "docs" / "search.md").read_text()
    named = re.findall(r"`(test_\w+\.py)(?:::(\w+))?`", page)
    assert len(named) > 15
    for file, name in named:
        assert f"def {name}" in (here / file).read_text(), (file, name)
