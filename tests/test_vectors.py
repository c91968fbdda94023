"""Folders of shards: what is written comes back, and killed runs go on."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import random_page
from hypothesis import given, settings
from hypothesis import strategies as st
from vector_pages import full_page

import adamerge as am
from adamerge import files
from adamerge.errors import BadFile, BadInput, Damaged, Locked, Mismatch
from adamerge.vectors import Writer, fingerprint, open_shards, shards


def assert_same(got, want, fields, dtype="float32"):
    for name in fields:
        a, b = getattr(got, name), getattr(want, name)
        if isinstance(b, np.ndarray):
            exact = b.astype(dtype).astype(b.dtype) if name in ("vectors", "extra") else b
            np.testing.assert_array_equal(a, exact, err_msg=name)
        else:
            assert a == b, name


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(shards, "SHARD_BYTES", 1000)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 12), max_size=12),
    st.sampled_from(["float16", "float32"]),
    st.integers(0, 12),
)
def test_pages_come_back_as_they_were_written(tmp_path_factory, sizes, dtype, start):
    folder = tmp_path_factory.mktemp("folder") / "v"
    pages = [full_page(n, f"página #{i}") for i, n in enumerate(sizes)]
    assert am.write_vectors(
        folder, pages, dtype=dtype, encoder={"name": "test", "revision": "abc"}
    ) == len(pages)
    back = list(am.read_vectors(folder, start))
    assert len(back) == len(pages[start:])
    for got, want in zip(back, pages[start:], strict=True):
        assert_same(got, want, ("vectors", "attention", "extra", "grid", "boxes", "id"), dtype)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["version"], manifest["dtype"], manifest["pages"]) == (1, dtype, len(pages))
    assert manifest["encoder"] == {"name": "test", "revision": "abc"}
    assert manifest["versions"]["adamerge"]


def test_compressed_pages_come_back_as_they_were_written(tmp_path, small_shards, method):
    pages = [full_page(n, f"p{n}") for n in (40, 7, 1, 23)] + [random_page(5, 8, id="no extra")]
    pages[-1] = am.MultiVector(
        pages[-1].vectors, pages[-1].attention, boxes=np.ones((5, 4)), id="no extra"
    )
    with Writer(tmp_path / "v", dtype="float32", method=str(method)) as out:
        for small in am.compress_pages(pages, method):
            out.add(small)
    back = list(am.read_compressed(tmp_path / "v"))
    for got, page in zip(back, pages, strict=True):
        want = method(page)
        assert_same(got, want, ("vectors", "groups", "extra", "method", "grid", "boxes", "id"))
        np.testing.assert_equal(
            (got.cut.merges, got.cut.theta, got.cut.gap),
            (want.cut.merges, want.cut.theta, want.cut.gap),
        )
        assert got.compression == want.compression


def test_a_folder_is_many_shards_and_each_is_read_when_it_is_needed(tmp_path, small_shards):
    am.write_vectors(tmp_path / "v", (random_page(20, id=str(i)) for i in range(30)))
    folder = open_shards(tmp_path / "v")
    assert len(folder) == 30
    assert len(folder.counts) == 15
    for name in list(folder.counts)[1:]:
        (tmp_path / "v" / name).write_bytes(b"gone bad")
    pages = folder.pages()
    assert [next(pages).id, next(pages).id] == ["0", "1"]
    with pytest.raises(Damaged, match=r"shard-00001\.safetensors cannot be read"):
        next(pages)


def test_pages_without_an_id_are_numbered(tmp_path):
    am.write_vectors(tmp_path / "v", [random_page(3), random_page(4)])
    assert [p.id for p in am.read_vectors(tmp_path / "v")] == ["0", "1"]


def test_a_run_that_fails_before_its_first_shard_leaves_nothing(tmp_path):
    def pages():
        yield random_page(4)
        raise RuntimeError("encoder broke")

    with pytest.raises(RuntimeError, match="encoder broke"):
        am.write_vectors(tmp_path / "v", pages())
    assert not (tmp_path / "v").exists()


def test_ctrl_c_in_the_middle_of_the_first_shard_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(temporary, path):
        assert temporary.exists()
        if path.name.startswith("shard"):
            raise KeyboardInterrupt
        os.replace(temporary, path)

    monkeypatch.setattr(files, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        am.write_vectors(tmp_path / "v", [random_page(4)])
    assert not (tmp_path / "v").exists()


def test_a_run_that_fails_later_goes_on_where_it_was(tmp_path, small_shards):
    pages = [random_page(20, id=str(i)) for i in range(9)]
    made = []

    def until(stop):
        for page in pages[:stop]:
            made.append(page.id)
            yield page
        if stop < len(pages):
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        am.write_vectors(tmp_path / "v", until(5))
    with pytest.raises(
        BadFile, match="is not finished \\(2 shards\\): run the command that writes it again"
    ):
        am.read_vectors(tmp_path / "v")
    assert am.write_vectors(tmp_path / "v", until(9)) == 9
    am.write_vectors(tmp_path / "undisturbed", pages)
    for whole in (tmp_path / "undisturbed").iterdir():
        assert whole.read_bytes() == (tmp_path / "v" / whole.name).read_bytes(), whole.name


WRITER = """
import sys, time
import numpy as np, adamerge as am
from adamerge.vectors import shards
shards.SHARD_BYTES = 30_000
def pages():
    for i in range(150):
        rng = np.random.default_rng(i)
        time.sleep(0.001)
        yield am.MultiVector(rng.normal(size=(40, 32)), rng.random(40), id=f"p{i}")
print("ready", flush=True)
am.write_vectors(sys.argv[1], pages())
"""


def test_kill_9_at_any_moment_loses_nothing_and_doubles_nothing(tmp_path):
    subprocess.run(
        [sys.executable, "-c", WRITER, tmp_path / "whole"], check=True, capture_output=True
    )
    folder, kills = tmp_path / "killed", 0
    for _ in range(15):
        run = subprocess.Popen([sys.executable, "-c", WRITER, folder], stdout=subprocess.PIPE)
        run.stdout.readline()
        before = len(list(folder.glob("shard-*.safetensors"))) if folder.exists() else 0
        time.sleep(np.random.default_rng().uniform(0, 0.12))
        os.kill(run.pid, signal.SIGKILL)
        run.stdout.close()
        kills += run.wait() == -signal.SIGKILL
        assert len(list(folder.glob("shard-*.safetensors"))) >= before
        manifest = folder / "manifest.json"
        if manifest.exists() and json.loads(manifest.read_text())["pages"] is not None:
            break
    subprocess.run([sys.executable, "-c", WRITER, folder], check=True, capture_output=True)
    assert kills >= 3
    assert {p.name for p in folder.iterdir()} == {p.name for p in (tmp_path / "whole").iterdir()}
    for whole in (tmp_path / "whole").iterdir():
        assert whole.read_bytes() == (folder / whole.name).read_bytes(), whole.name


def test_a_half_written_file_of_a_killed_run_is_cleared_away(tmp_path, small_shards):
    pages = [random_page(20, id=str(i)) for i in range(6)]
    with pytest.raises(ZeroDivisionError):
        am.write_vectors(tmp_path / "v", (p if i < 4 else 1 / 0 for i, p in enumerate(pages)))
    (tmp_path / "v" / ".shard-00002.safetensors.0.tmp").write_bytes(b"half a sh")
    am.write_vectors(tmp_path / "v", pages)
    assert not list((tmp_path / "v").glob(".*.tmp"))
    assert [p.id for p in am.read_vectors(tmp_path / "v")] == list("012345")


def test_a_run_killed_before_its_first_manifest_goes_on(tmp_path):
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / ".manifest.json.0.tmp").write_text("{")
    assert am.write_vectors(tmp_path / "v", [random_page(4)]) == 1


def test_a_file_of_somebody_elses_is_not_cleared_away(tmp_path):
    (tmp_path / "thesis.tmp").write_text("years of work")
    with pytest.raises(BadFile, match="is not empty"):
        am.write_vectors(tmp_path, [random_page(4)])
    assert (tmp_path / "thesis.tmp").exists()


def test_other_pages_are_not_taken_for_those_on_disk(tmp_path):
    am.write_vectors(tmp_path / "v", [random_page(4, id=f"p{i}") for i in (1, 2)])
    with pytest.raises(Mismatch, match="holds page 'p1' where there is 'p7' now"):
        am.write_vectors(tmp_path / "v", [random_page(4, id=f"p{i}") for i in (7, 8, 9)])
    with pytest.raises(Mismatch, match="holds page 'p2' where there is nothing now"):
        am.write_vectors(tmp_path / "v", [random_page(4, id="p1")])
    assert am.write_vectors(tmp_path / "v", [random_page(4, id=f"p{i}") for i in (1, 2, 3)]) == 3
    assert [p.id for p in am.read_vectors(tmp_path / "v")] == ["p1", "p2", "p3"]


def test_compressed_pages_are_written_as_they_come(tmp_path):
    pages = [random_page(20, id=str(i)) for i in range(3)]
    assert (
        am.write_vectors(
            tmp_path / "v", am.compress_pages(pages, "docpruner:k=0"), dtype=np.float32
        )
        == 3
    )
    assert [p.method for p in am.read_compressed(tmp_path / "v")] == ["docpruner:k=0"] * 3
    mixed = [am.compress(pages[0], method="identity"), am.compress(pages[1])]
    with pytest.raises(
        Mismatch,
        match=r"page '1' was made by adamerge:k=-0\.25,c_min=0\.7, the folder is for pages made by id",
    ):
        am.write_vectors(tmp_path / "w", mixed)


@pytest.fixture
def folder(tmp_path):
    am.write_vectors(tmp_path / "v", [random_page(20, id=str(i)) for i in range(4)])
    return tmp_path / "v"


def test_two_pages_of_one_id_are_refused(tmp_path, small_shards):
    with pytest.raises(BadInput, match="two pages have the id 'a'"):
        am.write_vectors(tmp_path / "v", [random_page(4, id="a"), random_page(5, id="a")])
    assert not (tmp_path / "v").exists()
    with pytest.raises(BadInput, match="two pages have the id '1'"):
        am.write_vectors(tmp_path / "v", [random_page(4, id="1"), random_page(5)])
    pages = [random_page(40, id=str(i)) for i in range(4)]
    with pytest.raises(BadInput, match="two pages have the id '0'"):  # which is on disk by now
        am.write_vectors(tmp_path / "v", [*pages, pages[0]])
    assert am.write_vectors(tmp_path / "v", pages) == 4


def test_an_id_that_could_not_be_read_back_is_refused(tmp_path):
    with pytest.raises(BadInput, match="is not Unicode text"):
        am.write_vectors(tmp_path / "v", [random_page(4, id="a\ud800")])
    assert not (tmp_path / "v").exists()


def test_a_fingerprint_tells_names_ids_and_content_apart(tmp_path):
    def written(folder, *ids):
        am.write_vectors(tmp_path / folder, [random_page(4, id=id) for id in ids])
        return fingerprint(tmp_path / folder)

    assert written("a", "x", "y") == written("b", "x", "y")
    assert len({written("c", "x", "y"), written("d", "x", "z"), written("e", "y", "x")}) == 3
    (tmp_path / "files").mkdir()
    np.save(tmp_path / "files" / "x.npy", np.eye(3))
    before = fingerprint(tmp_path / "files"), fingerprint(tmp_path / "files" / "x.npy")
    (tmp_path / "files" / "x.npy").rename(tmp_path / "files" / "y.npy")
    after = fingerprint(tmp_path / "files"), fingerprint(tmp_path / "files" / "y.npy")
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_a_folder_refuses_pages_made_otherwise(folder):
    with pytest.raises(
        Mismatch,
        match=r"holds pages of no named encoder \+ no compression in float16; cannot mix in col",
    ):
        am.write_vectors(folder, [random_page(4)], encoder={"name": "colqwen2.5"})
    with pytest.raises(Mismatch, match="in float32"):
        am.write_vectors(folder, [random_page(4)], dtype="float32")
    with pytest.raises(Mismatch, match=r"cannot mix in .* adamerge:k=0"):
        Writer(folder, method="adamerge:k=0,c_min=0.7")


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(BadFile, match="is not empty and holds no vectors"):
        am.write_vectors(tmp_path, [random_page(4)])
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(BadFile, match="is a file, and a folder is written here"):
        am.write_vectors(tmp_path / "thesis.txt", [random_page(4)])


def test_two_writers_do_not_share_a_folder(tmp_path):
    with Writer(tmp_path / "v") as out:
        out.add(random_page(4))
        with pytest.raises(Locked, match="another process is writing to"):
            Writer(tmp_path / "v")
    assert len(list(am.read_vectors(tmp_path / "v"))) == 1


def test_compressed_and_original_pages_are_not_confused(folder, tmp_path):
    with pytest.raises(BadFile, match="holds pages that are not compressed"):
        next(am.read_compressed(folder))
    with Writer(tmp_path / "small", method="identity") as out:
        out.add(am.compress(random_page(4), method="identity"))
    with pytest.raises(BadFile, match="holds pages compressed by identity"):
        next(am.read_vectors(tmp_path / "small"))


def test_a_mixture_of_pages_with_and_without_attention_is_refused(tmp_path):
    with pytest.raises(Mismatch, match="page 'a' has attention and page 'b' has not"):
        am.write_vectors(
            tmp_path / "v", [random_page(4, id="a"), am.MultiVector(np.eye(16), id="b")]
        )
    assert not (tmp_path / "v").exists()


def test_pages_of_other_dimensions_are_refused(tmp_path, folder):
    with pytest.raises(Mismatch, match="page 'b' has 8 dimensions, the pages before it 16"):
        am.write_vectors(tmp_path / "w", [random_page(4, 16), random_page(4, 8, id="b")])
    with pytest.raises(Mismatch, match="page 'x' has 8 dimensions"), Writer(folder) as out:
        out.add(random_page(4, 8, id="x"))
    assert len(list(am.read_vectors(folder))) == 4


def test_numbers_beyond_float16_are_refused_before_they_become_infinite(tmp_path):
    page = am.MultiVector(np.array([[1e6, 1.0]]), id="big")
    with pytest.raises(
        BadInput, match=r"page 'big' holds 1e\+06, beyond float16: store it as float32"
    ):
        am.write_vectors(tmp_path / "v", [page])
    assert am.write_vectors(tmp_path / "v", [page], dtype="float32") == 1
    with pytest.raises(
        BadInput, match="row 0 of page 'tiny' is too small for float16 and would vanish"
    ):
        am.write_vectors(tmp_path / "t", [am.MultiVector(np.array([[1e-9, 0.0]]), id="tiny")])
    with pytest.raises(BadInput, match="stored as float16, float32; got 'int8'"):
        am.write_vectors(tmp_path / "w", [page], dtype="int8")
