"""Folders of shards that were damaged: the file that is wrong is named, in one line."""

import numpy as np
import pytest
from conftest import random_page
from vector_pages import full_page

import adamerge as am
from adamerge.cli.info import facts
from adamerge.errors import Damaged, TooNew
from adamerge.vectors import shards


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
        ('{"version": 3, "colour": "blue"}', TooNew, "has format 3; this adamerge reads up to 2"),
        ('{"version": "new"}', TooNew, "has format 'new'"),
        ("{", Damaged, "manifest.json cannot be read"),
        ("[]", Damaged, "manifest.json cannot be read"),
        ('{"version": 1, "colour": "blue"}', Damaged, "unexpected keyword argument 'colour'"),
        (
            '{"version": 1, "pages": 99, "shards": {"shard-00000.safetensors": 4}}',
            Damaged,
            "it counts 99 pages, its shards 4",
        ),
        ('{"version": 1, "dtype": "int4"}', Damaged, "'int4', and vectors are float16, float32"),
        ('{"version": 2, "dtype": "int3"}', Damaged, "its dtype is 'int3', and vectors are"),
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
        (
            f'{{"version": 1, "pages": {1 << 70}, "shards": {{"shard-00000.safetensors": {1 << 70}}}}}',
            Damaged,
            f"with {1 << 70} pages",
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
