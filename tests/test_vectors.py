"""Folders of shards: what is written comes back, killed runs go on, damage is noticed."""

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

import adamerge as am
from adamerge import files
from adamerge.cli.info import facts
from adamerge.errors import BadFile, BadInput, Damaged, Locked, Mismatch, TooNew
from adamerge.vectors import Writer, open_shards, shards


def full_page(n, id, d=8, e=2):
    """A page with everything a page can have."""
    page = random_page(n, d)
    boxes = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
    return am.MultiVector(page.vectors, page.attention, page.vectors[:e], (1, n), boxes, id)


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


def shard_of(folder):
    return folder / "shard-00000.safetensors"


@pytest.mark.parametrize("keep", [0, 4, 100, 0.5, 0.999])
def test_a_shard_cut_short_is_refused_by_name(folder, keep):
    whole = shard_of(folder).read_bytes()
    shard_of(folder).write_bytes(whole[: keep if isinstance(keep, int) else int(keep * len(whole))])
    with pytest.raises(Damaged, match=r"shard-00000\.safetensors cannot be read"):
        list(am.read_vectors(folder))


def test_a_count_that_changed_is_noticed(folder):
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(
        text.replace('"pages": 4', '"pages": 5').replace('safetensors": 4', 'safetensors": 5')
    )
    with pytest.raises(Damaged, match="holds 4 pages, the manifest counts 5"):
        list(am.read_vectors(folder))


def test_a_byte_that_changed_is_noticed(folder):
    whole = bytearray(shard_of(folder).read_bytes())
    whole[-100] ^= 4
    shard_of(folder).write_bytes(whole)
    with pytest.raises(Damaged, match="has changed since it was written: checksum of '"):
        list(am.read_vectors(folder))


def test_a_missing_shard_is_refused_by_name(folder):
    shard_of(folder).unlink()
    with pytest.raises(Damaged, match=r"shard-00000\.safetensors is missing"):
        am.read_vectors(folder)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ('{"version": 2, "colour": "blue"}', TooNew, "has format 2; this adamerge reads up to 1"),
        ('{"version": "new"}', TooNew, "has format 'new'"),
        ("{", Damaged, "manifest.json cannot be read"),
        ("[]", Damaged, "manifest.json cannot be read"),
        ('{"version": 1, "colour": "blue"}', Damaged, "unexpected keyword argument 'colour'"),
        (
            '{"version": 1, "pages": 99, "shards": {"shard-00000.safetensors": 4}}',
            Damaged,
            "it counts 99 pages, its shards 4",
        ),
        ('{"version": 1, "dtype": "int4"}', Damaged, "its dtype is 'int4', and vectors are"),
        ('{"version": 1, "pages": 1, "shards": []}', Damaged, "cannot be understood"),
        ('{"version": 1, "encoder": null}', Damaged, "its encoder must be an object"),
        ("", Damaged, "manifest.json cannot be read"),
        ("[" * 100_000, Damaged, "manifest.json cannot be read"),
        ('{"version": true}', TooNew, "has format True"),
        ('{"version": 0}', Damaged, "its version is 0"),
        ('{"version": 1, "encoder": {"name": "\\ud800"}}', Damaged, "manifest.json cannot be read"),
        ('{"version": 1, "method": ["a"]}', Damaged, "its method must be text"),
        (
            '{"version": 1, "pages": 1, "shards": {"../../x": 1}}',
            Damaged,
            "no shard is called '../",
        ),
        ('{"version": 1, "pages": 1.0, "shards": {}}', Damaged, "it counts 1.0 pages"),
        (
            '{"version": 1, "pages": -1, "shards": {"shard-00000.safetensors": -1}}',
            Damaged,
            "with -1 pages",
        ),
    ],
)
def test_a_manifest_that_cannot_be_understood_is_refused(folder, text, error, words):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(error) as caught:
        am.read_vectors(folder)
    assert words in str(caught.value)
    with pytest.raises(error):
        am.write_vectors(folder, [])


def rewrite(folder, change):
    """Change the arrays and ids of a shard; its checksums are right again."""
    arrays, ids = shards.read_shard(shard_of(folder))
    shards.write_shard(shard_of(folder), *change(dict(arrays), ids))


@pytest.fixture
def compressed_folder(tmp_path):
    pages = [full_page(6, "a"), full_page(9, "b")]
    am.write_vectors(tmp_path / "c", am.compress_pages(pages, "sem-cluster:m=3"))
    return tmp_path / "c"


WRONG_ARRAYS = {
    "vectors of rank 1": lambda a: a | {"vectors": a["vectors"].ravel()},
    "vectors of rank 3": lambda a: a | {"vectors": a["vectors"][:, :, None]},
    "fewer vectors": lambda a: a | {"vectors": a["vectors"][1:]},
    "truth values": lambda a: a | {"vectors": a["vectors"] > 0},
    "not finite": lambda a: a | {"vectors": a["vectors"] * np.float16("nan")},
    "offsets that fall": lambda a: a | {"offsets": a["offsets"][::-1].copy()},
    "offsets that overflow": lambda a: a | {"offsets": a["offsets"] * (1 << 62)},
    "offsets of floats": lambda a: a | {"offsets": a["offsets"].astype("f4")},
    "one offset": lambda a: a | {"offsets": a["offsets"][:1]},
    "extra of another width": lambda a: a | {"extra": a["extra"][:, 1:].copy()},
    "boxes of three numbers": lambda a: a | {"boxes": a["boxes"][:, 1:].copy()},
    "grid of one number": lambda a: a | {"grid": a["grid"][:, 0].copy()},
    "grid of other pages": lambda a: a | {"grid": a["grid"] + 1},
}
NAMES = ["vectors", "offsets", "extra_offsets", "theta", "gap", "merges", "groups", "patch_offsets"]
OPTIONAL = {"theta", "gap", "merges", "groups", "patch_offsets"}  # of pages that are not compressed
WRONG_ARRAYS |= {f"no {name}": lambda a, n=name: a.pop(n, None) is None or a for name in NAMES}
WRONG_COMPRESSED = {
    "a group too many": lambda a: a | {"groups": a["groups"] + 9},
    "groups of floats": lambda a: a | {"groups": a["groups"].astype("f4")},
    "theta of rank 2": lambda a: a | {"theta": a["theta"][:, None]},
    "fewer gaps": lambda a: a | {"gap": a["gap"][1:]},
    "patches of no page": lambda a: a | {"patch_offsets": a["patch_offsets"] * 0},
}


@pytest.mark.parametrize("wrong", WRONG_ARRAYS | WRONG_COMPRESSED)
def test_wrong_arrays_with_the_right_checksum_are_refused_by_name(
    tmp_path, compressed_folder, wrong
):
    change = (WRONG_ARRAYS | WRONG_COMPRESSED)[wrong]
    rewrite(compressed_folder, lambda arrays, ids: (change(arrays), ids))
    with pytest.raises(Damaged, match=r"shard-00000\.safetensors"):
        list(am.read_compressed(compressed_folder))
    if wrong in WRONG_COMPRESSED or wrong.removeprefix("no ") in OPTIONAL:
        return
    am.write_vectors(tmp_path / "p", [full_page(6, "a"), full_page(9, "b")])
    rewrite(tmp_path / "p", lambda arrays, ids: (change(arrays), ids))
    with pytest.raises(Damaged, match=r"shard-00000\.safetensors"):
        list(am.read_vectors(tmp_path / "p"))


@pytest.mark.parametrize(
    "ids", [None, 7, ["a", 1], ["a", None], ["a", "\ud800"], ["a"], {"a": "b"}]
)
def test_wrong_ids_with_the_right_checksum_are_refused_by_name(compressed_folder, ids):
    rewrite(compressed_folder, lambda arrays, _: (arrays, ids))
    with pytest.raises(Damaged, match=r"shard-00000\.safetensors"):
        list(am.read_compressed(compressed_folder))


@pytest.mark.parametrize(
    "wrong",
    [
        *("vectors of rank 1", "vectors of rank 3", "offsets that fall", "offsets of floats"),
        *("one offset", "no vectors", "no offsets", "no theta", "no gap", "no patch_offsets"),
        *("theta of rank 2", "fewer gaps"),
    ],
)
def test_info_on_wrong_arrays_says_which_shard(compressed_folder, wrong):
    change = (WRONG_ARRAYS | WRONG_COMPRESSED)[wrong]
    rewrite(compressed_folder, lambda arrays, ids: (change(arrays), ids))
    with pytest.raises(Damaged, match=r"shard-00000\.safetensors"):
        facts(compressed_folder)


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
    with pytest.raises(BadInput, match="stored as float16 or float32, got 'int8'"):
        am.write_vectors(tmp_path / "w", [page], dtype="int8")
