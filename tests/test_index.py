"""Indexing files: what is new is added, what changed is replaced, and what is gone is removed."""

import shutil
import threading
from dataclasses import replace

import numpy as np
import pytest
from light import Light, write_pdf
from PIL import Image

import adamerge as am
from adamerge.compress.default_method import DEFAULT_METHOD
from adamerge.documents import pdf
from adamerge.errors import BadFile, BadInput, Locked, Mismatch
from adamerge.files import hash_of
from adamerge.store.metadata import read_metadata

METHOD = "adamerge:k=none,c_min=0.5"


class Grey(Light):
    """One patch a page, of nothing but its picture."""

    def _page(self, page):
        return am.MultiVector(np.full((1, 4), float(np.mean(page.image))), id=page.id)


@pytest.fixture
def folder(tmp_path):
    write_pdf(tmp_path / "docs" / "a.pdf", ["apple pie recipe", "apple tart with cream"])
    write_pdf(
        tmp_path / "docs" / "sub" / "b.pdf",
        ["clock repair manual", "wind the clock daily", "oil every wheel"],
    )
    return tmp_path / "docs"


def index(store, *paths, metadata=None, **how):
    changes = am.index_files(
        paths, store, am.Indexing(**({"encoder": Light(), "method": METHOD} | how)), metadata
    )
    return {change.id: change.did for change in changes}


@pytest.fixture
def store(tmp_path):
    with am.open_store(tmp_path / "store") as store:
        yield store


ALL = ["a.pdf#1", "a.pdf#2", "sub/b.pdf#1", "sub/b.pdf#2", "sub/b.pdf#3"]


class Reader(Light):
    """Sees words alone, as minilm does."""

    reads_words = True


def test_a_page_is_drawn_only_if_somebody_looks(store, folder, tmp_path, monkeypatch):
    drawn = []
    draw = pdf.PdfFile.draw

    def counted(file, i, dpi):
        drawn.append(f"{file.path.name}#{i + 1}")
        return draw(file, i, dpi)

    monkeypatch.setattr(pdf.PdfFile, "draw", counted)
    index(store, folder, encoder=Reader(), pixels=0)
    assert len(store) == 5
    assert drawn == []
    with am.open_store(tmp_path / "with thumbnails") as other:
        index(other, folder, encoder=Reader(), pixels=64)
    assert drawn == [id.removeprefix("sub/") for id in ALL]
    drawn.clear()
    with am.open_store(tmp_path / "of pictures") as other:
        index(other, folder, encoder=Grey(), pixels=0)
    assert drawn == [id.removeprefix("sub/") for id in ALL]


@pytest.mark.parametrize("looks", [{"encoder": Grey(), "pixels": 0}, {"encoder": Reader()}])
def test_a_page_that_cannot_be_drawn_is_bad_as_one_that_cannot_be_read(
    store, folder, monkeypatch, looks
):
    draw = pdf.PdfFile.draw

    def failing(file, i, dpi):
        if file.path.name == "b.pdf" and i == 1:
            raise BadFile(f"{file.path}, page 2: no memory")
        return draw(file, i, dpi)

    monkeypatch.setattr(pdf.PdfFile, "draw", failing)
    with pytest.raises(BadFile, match=r"b\.pdf, page 2: no memory"):
        index(store, folder, **looks)
    bad = []
    index(store, folder, skip_bad=bad.append, **looks)
    assert sorted(store.sources()["sub/b.pdf"].hashes) == ["sub/b.pdf#1", "sub/b.pdf#3"]
    assert [str(error).endswith("b.pdf, page 2: no memory") for error in bad] == [True]


def test_bad_pages_are_told_by_the_thread_that_asked(store, folder):
    (folder / "broken.pdf").write_bytes(b"%PDF- nothing")
    threads = []
    index(store, folder, skip_bad=lambda error: threads.append(threading.current_thread()))
    assert set(threads) == {threading.current_thread()}


def test_a_folder_is_indexed_and_found_by_its_words(store, folder):
    assert index(store, folder) == dict.fromkeys(ALL, "added")
    hit = store.search("clock daily", 1)[0]
    assert (hit.id, hit.source, hit.number) == ("sub/b.pdf#2", "sub/b.pdf", 2)
    assert [match.words for match in hit.matches] == [("clock",), ("daily",)]
    (entry,) = store.get([hit.id])
    assert [word.text for word in entry.words] == ["wind", "the", "clock", "daily"]
    assert entry.thumbnail[:4] == b"RIFF"


def test_what_has_not_changed_is_passed_over_and_needs_no_encoder(store, folder):
    index(store, folder)
    assert index(store, folder, encoder="light") == dict.fromkeys(
        ALL, "unchanged"
    )  # which nobody could load


def test_what_has_changed_is_replaced_and_what_is_gone_is_removed(store, folder):
    index(store, folder)
    write_pdf(folder / "a.pdf", ["pear pie recipe"])
    (folder / "sub" / "b.pdf").unlink()
    write_pdf(folder / "c.pdf", ["new here"])
    assert index(store, folder) == {
        "a.pdf#1": "replaced",
        "a.pdf#2": "removed",
        "c.pdf#1": "added",
    } | dict.fromkeys(ALL[2:], "removed")
    assert {hit.id for hit in store.search("pear", 9)} == {"a.pdf#1", "c.pdf#1"}


def test_one_file_alone_removes_nothing_of_the_others(store, folder):
    index(store, folder)
    (folder / "sub" / "b.pdf").unlink()
    assert index(store, folder / "a.pdf") == {"a.pdf#1": "unchanged", "a.pdf#2": "unchanged"}
    assert len(store) == 5


def test_another_folder_is_added_and_takes_nobodys_place(store, folder, tmp_path):
    index(store, folder)
    write_pdf(tmp_path / "more" / "z.pdf", ["zebra"])
    assert index(store, tmp_path / "more") == {"z.pdf#1": "added"}
    assert len(store) == 6
    write_pdf(tmp_path / "more" / "a.pdf", ["another file of that name"])
    with pytest.raises(Mismatch, match=r"holds another 'a.pdf', of .*docs"):
        index(store, tmp_path / "more")


def test_a_folder_that_moved_is_the_same_folder(store, folder, tmp_path):
    index(store, folder)
    shutil.move(folder, tmp_path / "moved")
    write_pdf(tmp_path / "moved" / "a.pdf", ["pear pie"])
    assert index(store, tmp_path / "moved") == {
        "a.pdf#1": "replaced",
        "a.pdf#2": "removed",
    } | dict.fromkeys(ALL[2:], "unchanged")
    assert {source.root for source in store.sources().values()} == {(tmp_path / "moved").as_posix()}
    shutil.move(tmp_path / "moved", folder)
    assert set(index(store, folder).values()) == {"unchanged"}
    assert store.sources()["a.pdf"].root == folder.as_posix()


def test_a_folder_that_is_away_loses_nothing_to_a_file_that_is_also_elsewhere(
    store, folder, tmp_path
):
    index(store, folder)
    (tmp_path / "copies").mkdir()
    shutil.copy(folder / "a.pdf", tmp_path / "copies")
    shutil.move(folder, tmp_path / "unplugged")
    assert index(store, tmp_path / "copies") == dict.fromkeys(ALL[:2], "unchanged")
    assert len(store) == 5


def test_pages_that_no_file_is_known_of_are_replaced_by_their_file_and_else_left_alone(
    store, folder, monkeypatch
):
    page = am.compress(
        Light().encode_pages(list(am.read_pages([folder / "a.pdf"])))[0], method=METHOD
    )
    store.set_encoder(Light())
    store.add([replace(page, id="a.pdf#1"), replace(page, id="other.pdf#1")])
    monkeypatch.chdir(folder)
    assert index(store, "a.pdf", dpi=150) == {"a.pdf#1": "replaced", "a.pdf#2": "added"}
    assert len(store) == 3


def test_a_page_that_has_become_blank_is_no_longer_found(store, folder):
    index(store, folder)
    write_pdf(folder / "a.pdf", [""])
    bad = []
    assert index(store, folder, skip_bad=bad.append) == dict.fromkeys(
        ALL[:2], "removed"
    ) | dict.fromkeys(ALL[2:], "unchanged")
    assert "has no words" in str(bad[0])


def test_a_picture_whose_ids_change_leaves_no_old_page(store, tmp_path):
    frames = [Image.new("RGB", (40, 40), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "scan.tif")
    assert index(store, tmp_path / "scan.tif", encoder=Grey()) == {"scan.tif": "added"}
    frames[0].save(tmp_path / "scan.tif", save_all=True, append_images=frames[1:])
    assert index(store, tmp_path / "scan.tif", encoder=Grey()) == {
        "scan.tif#1": "added",
        "scan.tif#2": "added",
        "scan.tif": "removed",
    }


def test_a_file_that_may_not_be_read_does_not_stop_the_others(store, folder, monkeypatch):
    def refused(path):
        raise BadFile(f"{path} cannot be read: Permission denied")

    monkeypatch.setattr(
        "adamerge.store.index.hash_of", lambda p: refused(p) if p.name == "a.pdf" else hash_of(p)
    )
    bad = []
    assert index(store, folder, skip_bad=bad.append) == dict.fromkeys(ALL[2:], "added")
    assert [str(error).endswith("a.pdf cannot be read: Permission denied") for error in bad] == [
        True
    ]
    with pytest.raises(BadFile, match="Permission denied"):
        index(store, folder)


def test_what_cannot_be_opened_is_said_in_words(tmp_path):
    with pytest.raises(BadFile, match="cannot be read: Is a directory"):
        hash_of(tmp_path)


def test_a_file_that_is_given_twice_is_indexed_once(store, folder):
    assert index(store, folder / "sub", folder, folder) == {
        "a.pdf#1": "added",
        "a.pdf#2": "added",
        "b.pdf#1": "added",
        "b.pdf#2": "added",
        "b.pdf#3": "added",
    }


def test_metadata_that_no_store_takes_are_refused_before_anything_is_encoded(store, folder):
    index(store, folder, metadata={"a.pdf": {"year": 2020}})
    write_pdf(folder / "c.pdf", ["new"])
    for metadata, words in [
        ({"year": "x"}, "is int on other pages"),
        ({"words": 3}, "is a column of the store"),
    ]:
        with pytest.raises((Mismatch, BadInput), match=words):
            index(store, folder, encoder="light", metadata={"c.pdf": metadata})


def test_a_name_is_the_same_however_its_accents_are_spelt(store, tmp_path):
    write_pdf(tmp_path / "docs" / "re\u0301sume\u0301.pdf", ["one"])
    index(store, tmp_path / "docs", metadata={"r\u00e9sum\u00e9.pdf": {"year": 2020}})
    assert [source.metadata for source in store.sources().values()] == [{"year": 2020}]


def test_a_folder_is_the_same_by_any_of_its_names(store, folder, tmp_path):
    index(store, folder)
    (folder / "sub" / "b.pdf").unlink()
    (tmp_path / "link").symlink_to(folder)
    assert set(index(store, tmp_path / "link").values()) == {"unchanged", "removed"}
    assert len(store) == 2


def test_a_file_keeps_its_name_when_a_folder_above_or_below_is_given(store, folder):
    index(store, folder)
    assert index(store, folder / "sub") == dict.fromkeys(ALL[2:], "unchanged")
    (folder / "sub" / "b.pdf").unlink()
    write_pdf(folder / "sub" / "c.pdf", ["new below"])
    assert index(store, folder / "sub") == {"c.pdf#1": "added"} | dict.fromkeys(ALL[2:], "removed")
    assert "c.pdf#1" in index(store, folder)
    assert len(store) == 3


def test_a_file_that_cannot_be_read_for_a_while_keeps_its_pages(store, folder):
    index(store, folder)
    (folder / "a.pdf").write_bytes(b"%PDF-1.4 half of a copy")
    bad = []
    assert "removed" not in index(store, folder, skip_bad=bad.append).values()
    assert len(bad) == 1
    assert len(store) == 5


def test_a_second_writer_is_told_before_anything_is_encoded(store, folder):
    store.begin_writing()
    with (
        am.open_store(store.path) as other,
        pytest.raises(Locked, match="another process is writing"),
    ):
        index(other, folder, encoder="no-such-encoder")


def test_pages_that_cannot_be_encoded_are_told_and_the_rest_is_there(store, folder):
    write_pdf(folder / "blank.pdf", ["", "words"])
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    bad = []
    assert "blank.pdf#2" in index(store, folder, skip_bad=bad.append)
    assert sorted(str(error).split(str(folder))[-1][:20] for error in bad) == [
        "/broken.pdf is damag",
        "page 'blank.pdf#1' h",
    ]
    assert len(store) == 6
    with pytest.raises(BadInput, match=r"'blank.pdf#1' has no words"):
        index(store, folder / "blank.pdf")


def test_another_method_or_encoder_is_refused_before_anything_is_encoded(store, folder):
    index(store, folder)
    with pytest.raises(Mismatch, match=f"pages of light .* {METHOD}, not of identity"):
        index(store, folder, method="identity")
    with pytest.raises(Mismatch, match="its name is light, not other"):
        index(store, folder, encoder="other")
    write_pdf(folder / "c.pdf", ["new"])
    with pytest.raises(Mismatch, match="its revision is 1, not 2"):
        index(store, folder, encoder=Light(revision="2"))
    with pytest.raises(Mismatch, match="its dpi is 150, not 80"):
        index(store, folder, dpi=80)
    assert len(store) == 5


def test_metadata_are_typed_per_file_and_updated_without_encoding(store, folder, tmp_path):
    table = tmp_path / "labels.csv"
    table.write_text(
        "source,year,price,open,day,code\na.pdf,2020,1.5,true,2020-05-01,007\nsub/b.pdf,2021,2,false,,x\n"
    )
    labels = read_metadata(table)
    assert labels["a.pdf"] | {"day": str(labels["a.pdf"]["day"])} == {
        "year": 2020,
        "price": 1.5,
        "open": True,
        "day": "2020-05-01",
        "code": "007",
    }
    index(store, folder, metadata=labels)
    assert {hit.id for hit in store.search("clock", where="year = 2021 and not open")} == set(
        ALL[2:]
    )
    labels["sub/b.pdf"]["year"] = 1999
    assert set(index(store, folder, metadata=labels, encoder="light").values()) == {"unchanged"}
    assert {hit.id for hit in store.search("clock", where="year = 1999")} == set(ALL[2:])
    assert store.delete("a.pdf#1") == 1
    index(store, folder)  # without a table, what is known of the file stays
    assert store.get(["a.pdf#1"])[0].metadata["year"] == 2020


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "one of them 'source'"),
        ("name,year\na,1\n", "one of them 'source'"),
        ("source,year\na,1,2\n", "line 2: 3 cells, and 2 names"),
        ("source,year\na,1\na,2\n", "names the source 'a' twice"),
        ("source,k,k\na,1,2\n", "two columns called 'k'"),
        ("source;year\na;1\n", "and commas between"),
        ("source,Year\na,1\n", "lower-case"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises((BadFile, BadInput), match=words):
        read_metadata(tmp_path / "t.csv")


def test_a_blank_line_in_a_table_is_nothing(tmp_path):
    (tmp_path / "t.csv").write_text("\ufeffsource, year\n\na.pdf, 1\n\n")
    assert read_metadata(tmp_path / "t.csv") == {"a.pdf": {"year": 1}}


def test_a_new_store_takes_the_default_method_and_any_other_keeps_its_own(store, folder, tmp_path):
    index(store, folder, method=None)
    assert store.about.method == str(am.parse_method(DEFAULT_METHOD)) == str(am.Height())
    with am.open_store(tmp_path / "other") as other:
        for method in ("sem-cluster:m=2", None):
            index(other, folder, method=method)
            assert other.about.method == "sem-cluster:m=2"


def test_an_entry_may_name_any_address_as_the_folder_of_its_file(store, folder):
    page = am.compress(am.MultiVector(np.eye(3, 32), id="far.pdf#1"), method=METHOD)
    store.add(am.Entry(page, "far.pdf", root="https://intranet/docs"))
    index(store, folder)
    assert store.sources().keys() == {"a.pdf", "sub/b.pdf", "far.pdf"}
