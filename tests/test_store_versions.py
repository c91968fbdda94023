"""What a store says of itself: its version, its columns, its checksums. What was ever written opens for ever."""

import json
import random
import sys
from collections import Counter
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest
from lance_pages import a_page, a_query

import adamerge as am
from adamerge.errors import BadFile, Damaged, TooNew
from adamerge.store.about import VERSION, About

STORES = Path(__file__).parent / "data" / "stores"
WRITTEN = sorted(path.stem for path in STORES.glob("v*.zip"))

sys.path.insert(0, str(STORES))
from write import an_entry, contents, unpack  # noqa: E402


def test_there_is_a_store_of_every_version_and_dtype():
    floats = ["float16", "float32", "int8"]
    codes = ["float16", "int1", "int4", "int8"]
    dtypes = {1: floats, 2: floats, 3: codes}
    every = []
    for version in range(1, VERSION + 1):
        every += [f"v{version}-{dtype}" for dtype in dtypes[version]]
    assert every == WRITTEN


@pytest.mark.parametrize("name", WRITTEN)
def test_a_store_of_any_version_opens_and_gives_what_it_gave(name, tmp_path):
    path, recorded = unpack(name, tmp_path)
    with am.open_store(path) as store:
        found = contents(store)
        query = np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)
        hits = store.search(query, 9, "year >= 2020")
    assert found["pages"] == recorded["pages"]
    assert found["columns"] == recorded["columns"]
    assert found["about"] | recorded["about"] == found["about"]
    scores = {}
    for id, page in recorded["pages"].items():
        rows = np.array(page["vectors"], np.float32)
        if "year" in page["metadata"]:
            scores[id] = float((query @ rows.T).max(1).sum())
    roundings = {"int8": 0.02, "int4": 0.02, "int1": 0.5}
    rounding = roundings.get(name.partition("-")[2], 1e-4)
    assert {hit.id: hit.score for hit in hits} == pytest.approx(scores, rel=rounding, abs=rounding)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_store_of_any_version_can_be_written_to_and_stays_of_its_version(name, tmp_path):
    path, _ = unpack(name, tmp_path)
    with am.open_store(path) as store:
        version = store.about.version
        store.add([an_entry(2), an_entry(7)])
        store.set_metadata({"file1.pdf": {"shelf": "b"}})
        store.compact()
    with am.open_store(path) as store:
        assert store.about.version == version == int(name[1])
        assert sorted(entry.number for entry in store.entries()) == [0, 1, 2, 4, 5, 7]
        names = store._table.newest().schema.names
        assert ("vectors_checksum" in names) == ("details_checksum" in names) == (version >= 2)
        assert ("signs_checksum" in names) == (store.about.dtype == "int4")


def test_a_copy_of_an_old_store_has_checksums(tmp_path):
    from adamerge.store.transfer import copy

    path, _ = unpack("v1-int8", tmp_path / "old")
    with am.open_store(path) as old, am.open_store(tmp_path / "new") as new:
        list(copy(old, new))
        assert new.about.version == VERSION
        names = new._table.newest().schema.names
        assert {"vectors_checksum", "details_checksum"} <= set(names)
        assert contents(new)["pages"] == contents(old)["pages"]


# ------------------------------------------------------------------------------------- what it says of itself


def describe(path, **changes):
    """Change what a store says of itself."""
    dataset = lance.dataset(path / "pages.lance")
    about = json.loads(dataset.schema.metadata[b"adamerge"]) | changes
    dataset.update_schema_metadata({"adamerge": json.dumps(about)})


@pytest.fixture
def path(tmp_path):
    with am.open_store(tmp_path / "store") as store:
        store.add(a_page(i) for i in range(40))
    return tmp_path / "store"


def test_a_store_of_the_future_is_refused_in_words(path):
    describe(path, version=VERSION + 1)
    with pytest.raises(TooNew, match=rf"version {VERSION + 1}.*up to version {VERSION}: update"):
        am.open_store(path)


def test_a_field_that_we_do_not_know_is_passed_over_and_kept(path):
    describe(path, colour="blue")
    with am.open_store(path) as store:
        assert len(store) == 40
        store.add(a_page(41))
    dataset = lance.dataset(path / "pages.lance")
    assert json.loads(dataset.schema.metadata[b"adamerge"])["colour"] == "blue"


def test_an_open_reader_refuses_what_a_later_adamerge_makes_of_the_store(path):
    with am.open_store(path) as reader:
        reader.search(a_query())
        describe(path, version=99)
        with pytest.raises(TooNew):
            reader.search(a_query())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dtype": "float32"}, "says it keeps float32 vectors.*'vectors' should be"),
        ({"dimension": 17}, "of 17 dimensions.*'vectors' should be"),
        ({"dtype": "float99"}, "says of itself makes no sense"),
        ({"dimension": "many"}, "says of itself makes no sense"),
        ({"encoder": 3}, "says of itself makes no sense"),
    ],
)
def test_a_store_that_says_what_it_is_not_is_refused_in_words(path, changes, words):
    describe(path, **changes)
    with pytest.raises(Damaged, match=words):
        am.open_store(path)


def test_a_table_that_tells_no_version_is_not_a_store(path):
    describe(path, version=None)
    with pytest.raises(BadFile, match="not a store of adamerge"):
        am.open_store(path)
    with pytest.raises(BadFile, match="not a store of adamerge"):
        About.from_json({"version": 1})


def test_columns_that_were_changed_are_refused_in_words(path):
    dataset = lance.dataset(path / "pages.lance")
    dataset.add_columns(pa.schema([("strange", pa.list_(pa.int8()))]))
    with pytest.raises(Damaged, match=r"a column 'strange' of list.*never writes"):
        am.open_store(path)
    dataset.drop_columns(["strange", "groups"])
    with pytest.raises(Damaged, match="has lost its column 'groups'"):
        am.open_store(path)


# -------------------------------------------------------------------------------------------- checksums, damage


def test_a_page_whose_vectors_changed_on_disk_is_named_and_not_searched(path):
    dataset = lance.dataset(path / "pages.lance")
    other = dataset.to_table(filter="id = 'p00009'")["vectors"].to_pylist()
    row = dataset.to_table(columns=["id", "vectors"], filter="id = 'p00007'")
    swapped = row.set_column(1, row.schema.field("vectors"), pa.array(other, row.schema.types[1]))
    dataset.merge_insert("id").when_matched_update_all().execute(swapped)
    for memory in ("1GB", 1):
        with am.open_store(path, memory=memory) as store:
            for read in (
                lambda: store.search(a_query()),
                lambda: store.search(a_query(), exact=True),
                lambda: store.get(["p00007"]),
                lambda: list(store.entries()),
            ):
                with pytest.raises(Damaged, match="page 'p00007' is damaged on disk"):
                    read()
            assert store.get(["p00009"])[0].id == "p00009"
    with am.open_store(path) as store:  # the way out that the message names
        store.delete("p00007")
        store.add(a_page(7))
        assert store.search(a_page(7).vectors, 1)[0].id == "p00007"


@pytest.mark.parametrize("scales", [None, [0.5] * 99])
def test_a_page_that_lost_its_scales_is_named_also_where_there_are_no_checksums(tmp_path, scales):
    path, _ = unpack("v1-int8", tmp_path)
    dataset = lance.dataset(path / "pages.lance")
    rows = dataset.to_table(columns=["id", "scales"]).slice(0, 1)
    lost = rows.set_column(1, rows.schema.field("scales"), pa.array([scales], rows.schema.types[1]))
    dataset.merge_insert("id").when_matched_update_all().execute(lost)
    for memory in ("1GB", 1):
        with am.open_store(path, memory=memory) as store:
            query = np.ones((2, store.about.dimension), np.float32)
            with pytest.raises(Damaged, match=r"page 'file0.pdf#0' is damaged on disk"):
                store.search(query, exact=True)
            with pytest.raises(Damaged, match=r"page 'file0.pdf#0' is damaged on disk"):
                list(store.entries())


def shown(entry):
    """What a checksum covers of an entry."""
    page = entry.page
    file = entry.source, entry.number, entry.pages, entry.hash
    return page.id, page.stored.tobytes(), page.groups.tolist(), file, entry.words, entry.thumbnail


def searched_and_read(path):
    """The hits of a search and all entries, or the damage that was found."""
    try:
        with am.open_store(path) as store:
            ranked = [(hit.id, hit.score) for hit in store.search(a_query(), 20)]
            return ranked, sorted(shown(entry) for entry in store.entries())
    except Damaged as error:
        return error


@pytest.mark.parametrize("dtype", ["float16", "int8", "int4"])
def test_a_flipped_bit_in_any_place_is_told_in_one_line_or_changes_nothing(tmp_path, dtype):
    entries = [am.Entry(a_page(i), words=(), thumbnail=bytes([i])) for i in range(20)]
    with am.open_store(tmp_path / "store", dtype=dtype) as store:
        store.add(entries)
    ranked, expected = searched_and_read(tmp_path / "store")
    (data,) = (tmp_path / "store" / "pages.lance" / "data").iterdir()
    whole = data.read_bytes()
    choose = random.Random(7)
    outcomes = Counter()
    for place in choose.sample(range(len(whole)), 150):
        bits = bytearray(whole)
        bits[place] ^= 1 << choose.randrange(8)
        data.write_bytes(bits)
        found = searched_and_read(tmp_path / "store")
        if isinstance(found, Damaged):
            assert "\n" not in str(found)
            outcomes["page named" if "page 'p000" in str(found) else "told"] += 1
        else:
            assert found == (ranked, expected)
    assert outcomes["page named"] > 20
