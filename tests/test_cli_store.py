"""The verbs on stores, with the real encoder and real files."""

import csv
import json
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from cli import ADAMERGE, call, lines, run

import adamerge as am
from adamerge.store.transfer import export_shards

SAMPLE = "examples/sample.pdf"
QUERY = "which patches does the end token ignore?"
HIT = r"(\d)  ([\d.]+)  (.+)\n   (.+)\n"  # rank, score, where it is, and the first line of its snippet


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A store of the sample PDF, indexed from a folder with metadata."""
    folder = tmp_path_factory.mktemp("index")
    (folder / "docs").mkdir()
    shutil.copy(SAMPLE, folder / "docs")
    with (folder / "labels.csv").open("w") as file:
        csv.writer(file).writerows([["source", "year"], ["sample.pdf", 2026]])
    result = call(
        "index", folder / "docs", "--store", folder / "store", "--metadata", folder / "labels.csv"
    )
    assert result.returncode == 0, result.stderr
    did, holds = result.stdout.splitlines()
    assert did == "pages: 4 added"
    assert holds.startswith(f"{folder / 'store'}: 4 pages of 1 file, ")
    return folder


def test_search_refuses_words_before_a_query_that_the_encoder_does_not_take(place):
    result = call("search", place / "store", QUERY, "--query-prefix", "Query: ")
    assert result.returncode == 1
    assert result.stderr == "adamerge: minilm takes no query_prefix\n"
    again = call("index", place / "docs", "--store", place / "store", "--query-prefix", "Query: ")
    assert again.stderr.endswith("adamerge: minilm takes no query_prefix\n")


def test_search_prints_pages_scores_and_words(place):
    result = run("search", place / "store", QUERY, "-k", 2)
    assert result.returncode == 0, result.stderr
    first, second = re.findall(HIT, result.stdout)
    path = place / "docs" / "sample.pdf"
    assert first[0] == "1"
    assert float(first[1]) > float(second[1])
    assert first[2].startswith(f"{path}, page ")
    assert first[2].endswith("  year 2026")
    assert "The last token of the sequence" in first[3]
    assert result.stderr == "4 pages: every page compared\n"


def test_search_in_json_has_a_match_per_query_vector_that_sums_to_the_score(place):
    hits = lines(
        call(
            "search",
            place / "store",
            QUERY,
            "-k",
            3,
            "--json",
            "--where",
            "year = 2026 AND number < 3",
        )
    )
    assert [hit["number"] for hit in hits] == sorted(
        {1, 2}, key=[hit["number"] for hit in hits].index
    )
    assert [hit["rank"] for hit in hits] == [1, 2]
    for hit in hits:
        assert hit["path"] == str(place / "docs" / "sample.pdf")
        assert all(hit["snippet"]["text"][begin:end] for begin, end in hit["snippet"]["marks"])
        assert sum(match["similarity"] for match in hit["matches"]) == pytest.approx(
            hit["score"], rel=5e-3
        )
        assert hit["metadata"] == {"year": 2026}
        assert all(len(box) == 4 for match in hit["matches"] for box in match["boxes"])
    assert call("search", place / "store", QUERY, "--where", "year = 1").stdout == "nothing found\n"


def test_hits_of_one_file_are_grouped_and_equal_pages_shown_once(place, tmp_path):
    for name in ("one.pdf", "two.pdf"):
        shutil.copy(SAMPLE, tmp_path / name)
    assert call("index", tmp_path, "--store", tmp_path / "store").returncode == 0
    result = call("search", tmp_path / "store", QUERY, "-k", 4, "--group")
    one, first, *rest = result.stdout.splitlines()
    assert one == str(tmp_path / "one.pdf")
    assert re.fullmatch(r"  1  [\d.]+  page 2", first)
    assert f"     the same page: {tmp_path / 'two.pdf'}, page 2" in rest
    assert any(re.fullmatch(r"  3  [\d.]+  page \d", line) for line in rest)


def test_indexing_again_changes_nothing_and_says_so_for_each_page(place):
    changes = lines(call("index", place / "docs", "--store", place / "store", "--json"))
    assert changes == [{"page": f"sample.pdf#{i}", "did": "unchanged"} for i in range(1, 5)]


def test_info_tells_the_store_and_its_bytes(place):
    (facts,) = lines(call("info", place / "store", "--json"))
    assert (facts["pages"], facts["files"], facts["name"], facts["dtype"]) == (
        4,
        1,
        "minilm",
        "int4",
    )
    assert facts["bytes in all"] == facts["bytes of vectors"] + facts["bytes of the rest"]
    assert facts["bytes of vectors"] == (384 // 2 + 4) * facts["stored"]


def test_export_gives_back_the_vectors_as_shards_and_as_parquet(place, tmp_path):
    assert call("export", place / "store", "-o", tmp_path / "shards").stdout.startswith(
        "4 pages written"
    )
    assert call("export", place / "store", "-o", tmp_path / "pages.parquet").stdout.startswith(
        "4 pages written"
    )
    with am.open_store(place / "store") as store:
        stored = {entry.id: entry.page for entry in store.entries()}
    for page in am.read_compressed(tmp_path / "shards"):
        np.testing.assert_array_equal(page.vectors, stored[page.id].vectors)
        np.testing.assert_array_equal(page.groups, stored[page.id].groups)
    for page in am.read_vectors(tmp_path / "pages.parquet"):
        np.testing.assert_array_equal(page.vectors, stored[page.id].vectors)
    with am.open_store(place / "store") as store:
        stopped = export_shards(store, tmp_path / "stopped")
        next(stopped)
        stopped.close()
    assert {path.name for path in tmp_path.iterdir()} == {"shards", "pages.parquet"}
    again = call("export", place / "store", "-o", tmp_path / "shards")
    assert (again.returncode, again.stderr) == (
        1,
        f"adamerge: {tmp_path / 'shards'} is there already: choose another name\n",
    )


def test_copy_and_delete(place, tmp_path):
    assert (
        call("copy", place / "store", tmp_path / "small", "--dtype", "int2").stdout
        == f"4 pages copied to {tmp_path / 'small'}\n"
    )
    (facts,) = lines(call("info", tmp_path / "small", "--json"))
    assert facts["bytes of vectors"] == facts["stored"] * (384 // 4 + 4)
    removed = call("delete", tmp_path / "small", "sample.pdf#1", "sample.pdf#9")
    assert removed.stdout == "1 page removed\n"
    assert removed.stderr.startswith(f"adamerge: {tmp_path / 'small'} holds no page 'sample.pdf#9'")
    path = place / "docs" / "sample.pdf"
    assert call("delete", tmp_path / "small", "--source", path).stdout == "3 pages removed\n"
    again = call("delete", tmp_path / "small", "sample.pdf#1")
    assert (again.returncode, again.stderr) == (
        1,
        f"adamerge: {tmp_path / 'small'} holds no page 'sample.pdf#1'\n",
    )
    nothing = call("search", tmp_path / "small", QUERY)
    assert (nothing.returncode, nothing.stdout) == (0, "nothing found\n")


def test_copy_adds_to_a_store_of_other_pages_only_when_asked_to(place, tmp_path):
    from_here, other = place / "store", tmp_path / "other"
    with am.open_store(from_here) as store:
        encoder, entries = store.require_about().encoder, list(store.entries())
    with am.open_store(other, encoder=encoder) as to:
        to.add(entries[:1])
    refused = call("copy", from_here, other)
    assert refused.returncode == 1
    assert "holds 1 pages already, and is not a copy of" in refused.stderr
    assert "add to it with --merge" in refused.stderr
    assert call("copy", from_here, other, "--merge").returncode == 0
    (facts,) = lines(call("info", other, "--json"))
    assert facts["pages"] == 4


def test_ls_lists_files_and_the_pages_of_one(place):
    with am.open_store(place / "store") as store:
        entries = {entry.id: entry for entry in store.entries()}
    vectors = sum(len(entry.page) for entry in entries.values())
    head, row = call("ls", place / "store").stdout.splitlines()
    assert head.split() == ["file", "pages", "vectors", "size", "indexed", "year"]
    assert row.split()[:3] == ["sample.pdf", "4", f"{vectors:,}"]
    assert row.split()[-1] == "2026"
    (file,) = lines(call("ls", place / "store", "--json"))
    assert datetime.fromisoformat(file.pop("indexed")) <= datetime.now(UTC)
    assert file == {
        "source": "sample.pdf",
        "pages": 4,
        "of": 4,
        "vectors": vectors,
        "bytes": (384 // 2 + 4) * vectors,
        "folder": (place / "docs").as_posix(),
        "metadata": {"year": 2026},
        "first_page": "sample.pdf#1",
    }
    for name in ("sample.pdf", place / "docs" / "sample.pdf"):
        pages = lines(call("ls", place / "store", name, "--json"))
        assert [page["id"] for page in pages] == [f"sample.pdf#{i}" for i in range(1, 5)]
        assert [page["vectors"] for page in pages] == [
            len(entries[page["id"]].page) for page in pages
        ]
    assert call("ls", place / "store", "sample.pdf").stdout.splitlines()[1].split()[0] == (
        "sample.pdf#1"
    )


@pytest.mark.parametrize("verb", [["delete", "--source"], ["ls"]])
def test_a_file_that_is_not_there_is_told_what_is_like_it(place, verb):
    name, *option = verb
    result = call(name, place / "store", *option, "elsewhere/sampel.pdf")
    assert result.returncode == 1
    assert result.stderr == (
        f"adamerge: {place / 'store'} holds no file 'elsewhere/sampel.pdf' "
        "(did you mean 'sample.pdf'?): adamerge ls lists them\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "nowhere", "q"], "there is no store at nowhere: adamerge index makes one"),
        (["delete", "nowhere", "id"], "there is no store at nowhere"),
        (
            ["index", SAMPLE, "--store", "http://127.0.0.1:9"],
            "a Qdrant store is http://host:6333/collection",
        ),
        (
            ["index", SAMPLE, "--store", "x", "--metadata", "nowhere.csv"],
            "nowhere.csv cannot be read as a table",
        ),
        (["index", "nowhere.pdf", "--store", "x"], "nowhere.pdf does not exist"),
        (["index", SAMPLE, "--store", "x", "--method", "adamurge"], "adamurge"),
    ],
)
def test_mistakes_are_told_in_one_line(words, said):
    result = call(*words)
    assert result.returncode == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert json.dumps(result.stdout) == '""'


def test_a_mixture_is_refused_before_a_model_is_loaded(place):
    result = call("index", place / "docs", "--store", place / "store", "--method", "identity")
    assert result.returncode == 1
    assert "not of identity: use that method, or another store" in result.stderr


def test_what_cannot_be_indexed_is_told_and_an_empty_run_is_an_error(tmp_path):
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    result = call("index", tmp_path, "--store", tmp_path / "store")
    assert result.returncode == 1
    skipped, error = result.stderr.splitlines()
    assert "skipped" in skipped
    assert "broken.pdf is damaged" in skipped
    assert error == "adamerge: no page could be indexed"
    assert not (tmp_path / "store").exists()


def test_what_was_passed_over_and_what_failed_is_said_at_the_end(place, tmp_path):
    docs = tmp_path / "docs"
    shutil.copytree(place / "docs", docs)
    for name in ("a.log", "b.LOG", "c.log", "notes.txt", "Makefile", ".hidden.txt"):
        (docs / name).write_text("words")
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    result = call("index", docs, "--store", docs / "store")
    assert result.returncode == 0, result.stderr
    passed_over, skipped = result.stderr.splitlines()
    assert passed_over == "adamerge: passed over: 3 .log, 1 .txt, 1 without an ending"
    assert skipped.startswith(f"adamerge: skipped: {docs / 'broken.pdf'} is damaged")
    assert result.stdout.startswith("pages: 4 added; 1 skipped\n")
    again = call("index", docs, "--store", docs / "store")  # which lies among the documents
    assert again.stderr.splitlines()[0] == passed_over


def test_a_reader_that_leaves_does_not_stop_the_indexing(place, tmp_path):
    words = f"index {place / 'docs'} --store {tmp_path / 'store'} --json --quiet"
    command = f"{ADAMERGE} {words} --encoder light:Light | head -n 1"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
    )
    assert (result.returncode, result.stderr) == (0, "")
    with am.open_store(tmp_path / "store") as store:
        assert len(store) == 4


def test_rows_of_a_table_that_name_no_file_are_told(place, tmp_path):
    (tmp_path / "t.csv").write_text("source,year\nsample.pdf,2026\nnosuch.pdf,1\n")
    result = call(
        "index", place / "docs", "--store", place / "store", "--metadata", tmp_path / "t.csv"
    )
    assert result.returncode == 0
    assert (
        result.stderr == "adamerge: the table names 'nosuch.pdf', and the store has no such file\n"
    )
    assert "metadata                year int" in call("info", place / "store").stdout


def test_a_page_of_a_store_is_inspected_from_its_file_or_the_command_says_what_is_missing(place):
    page, out = f"{place / 'store'}:sample.pdf#3", place / "page.html"
    result = call("inspect", page, "-o", out, "--query", "where is the tree cut?")
    assert result.returncode == 0, result.stderr
    with am.open_store(place / "store") as store:
        (entry,) = store.get(["sample.pdf#3"])
    read = list(am.read_pages([SAMPLE]))[2]
    known = am.inspect(am.load_encoder("minilm").encode_pages([read])[0], entry.page.method, read)
    np.testing.assert_array_equal(known.small.groups, entry.page.groups)
    assert f'"patches":{len(entry.page.groups)}' in out.read_text()
    assert (
        "the store has no page 'nothing'"
        in call("inspect", f"{place / 'store'}:nothing", "-o", out).stderr
    )
    file = place / "docs" / "sample.pdf"
    for change, words in [
        (lambda: file.write_bytes(b"other"), "has changed"),
        (file.unlink, "no longer where it was"),
    ]:
        kept = file.read_bytes()
        change()
        result = call("inspect", page, "-o", out)
        assert result.returncode == 1
        assert (
            f"not the patches they were made from, and 'sample.pdf' {'has' if 'has' in words else 'is'}"
            in result.stderr
        )
        assert words in result.stderr
        file.write_bytes(kept)


def test_what_may_work_later_has_an_exit_code_of_its_own(tmp_path):
    with am.open_store(tmp_path / "store") as store:
        store.begin_writing()  # this process writes
        result = run("index", SAMPLE, "--store", tmp_path / "store")
    assert result.returncode == 75
    assert "another process is writing" in result.stderr
    assert run("info", tmp_path / "store").returncode == 1


def test_inspecting_a_file_shows_the_method_that_index_stores_it_by(place, tmp_path):
    def inspected(page, *options):
        result = call("inspect", page, "-o", tmp_path / "page.html", *options)
        assert result.returncode == 0, result.stderr
        return (tmp_path / "page.html").read_text()

    with am.open_store(place / "store") as store:
        stored_by = store.require_about().method
    shown = inspected(f"{SAMPLE}#3")
    assert shown == inspected(f"{SAMPLE}#3", "--method", stored_by)
    assert shown != inspected(f"{SAMPLE}#3", "--method", "adamerge")
    vectors = f"examples/sample#{SAMPLE.split('/')[-1]}#3"  # which say that minilm made them
    assert inspected(vectors) == inspected(vectors, "--method", stored_by)
