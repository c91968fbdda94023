"""Folders in the schemas of ViDoRe, and the presets."""

import shutil

import hub
import pyarrow.parquet as pq
import pytest

from adamerge.errors import BadFile
from adamerge.evaluate.data import Dataset, dataset_names, load_dataset, vidore
from adamerge.evaluate.data.parquet_folder import read_parquet_folder
from adamerge.evaluate.data.vidore_pins import PINS


def test_flat_rows_give_each_page_once(tmp_path):
    dataset = read_parquet_folder(hub.flat(tmp_path / "v1"))
    assert dataset.name == "v1"
    assert set(dataset.page_ids) == {"0.png", "1.png", "2.png", "3.png", "4.png", "5.png", "99.png"}
    assert [page.id for page in dataset.read(())] == list(dataset.page_ids)
    judged = {dataset.queries[q]: grades for q, grades in dataset.judgements.items()}
    assert judged["what is the image?"] == {"0.png": 1}
    assert judged["what is the revenue in 3?"] == {"3.png": 1}
    assert len(judged) == 7


def test_beir_parts_have_graded_judgements(tmp_path):
    dataset = read_parquet_folder(hub.beir(tmp_path / "v2"))
    assert sorted(dataset.page_ids) == list("012345")
    assert dataset.judgements["1"] == {"1": 2, "2": 1}  # a grade of 0 is no judgement
    assert dataset.queries["3"] == "revenue 3 in french"
    assert {page.id: page.image.size for page in dataset.read(())}["1"] == (130, 160)
    assert [page.id for page in dataset.read({"0", "1", "2", "3", "4"})] == ["5"]


def test_languages_are_chosen_by_column_or_by_folder(tmp_path):
    assert set(read_parquet_folder(hub.beir(tmp_path / "v2"), languages=["english"]).queries) == {
        "0",
        "2",
        "4",
    }
    v3 = hub.by_language(tmp_path / "v3")
    assert list(read_parquet_folder(v3).queries) == [
        f"{lang}-q{i}" for lang in ("english", "french") for i in range(3)
    ]
    french = read_parquet_folder(v3, languages=["french"])
    assert french.queries["french-q1"] == "french revenue 2001"
    assert french.texts()["p1"] == "# Revenue of 2001"
    with pytest.raises(BadFile, match="has english, french, none of german"):
        read_parquet_folder(v3, languages=["german"])


def test_what_is_in_no_schema_is_refused_in_words(tmp_path):
    with pytest.raises(
        BadFile, match="expected corpus/, queries/ and qrels/, or rows of query and image"
    ):
        read_parquet_folder(tmp_path)
    hub.write([{"a": 1}], tmp_path / "x" / "data")
    with pytest.raises(BadFile, match="has the columns a, and none of image_filename"):
        read_parquet_folder(tmp_path / "x")
    hub.write(
        [{"query": "what?", "image": {"bytes": b"no", "path": ""}, "image_filename": "a.png"}],
        tmp_path / "y",
    )
    with pytest.raises(BadFile, match=r"page 'a\.png' has no image that can be read"):
        list(read_parquet_folder(tmp_path / "y").read(()))


def beir_with(tmp_path, part, change):
    """A folder in the BEIR schema, one part of which has its rows changed."""
    folder = hub.beir(tmp_path / "v2")
    rows = pq.read_table(folder / part).to_pylist()
    shutil.rmtree(folder / part)
    hub.write(change(rows), folder / part)
    return folder


def without(column):
    return lambda rows: [
        {key: value for key, value in row.items() if key != column} for row in rows
    ]


@pytest.mark.parametrize(
    ("part", "change", "words"),
    [
        ("corpus", lambda rows: [*rows, rows[0]], "page '0' is there more than once"),
        ("corpus", without("image"), "and none of image"),
        ("queries", without("query"), "and none of query, text"),
        (
            "queries",
            lambda rows: [*rows, rows[0] | {"query": "who?"}],
            "query '0' is there twice, as 'revenue 0",
        ),
        ("qrels", without("score"), "and none of score"),
        ("qrels", without("query-id"), "and none of query-id"),
        (
            "qrels",
            lambda rows: [rows[0] | {"score": None}],
            "a score is a whole number, .* got None",
        ),
        (
            "qrels",
            lambda rows: [rows[0] | {"score": float("nan")}],
            "a score is a whole number, .* got nan",
        ),
        ("queries", lambda rows: [rows[0] | {"query": None}], "query '0' is empty"),
        ("qrels", lambda rows: [rows[0] | {"score": 0.5}], "a score is a whole number, .* got 0.5"),
    ],
)
def test_a_part_that_would_be_misread_is_refused(tmp_path, part, change, words):
    with pytest.raises(BadFile, match=words):
        read_parquet_folder(beir_with(tmp_path, part, change))


def test_a_broken_file_is_named(tmp_path):
    folder = hub.beir(tmp_path / "v2")
    (path,) = (folder / "qrels").iterdir()
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadFile, match=r"qrels/.*parquet cannot be read as Parquet"):
        read_parquet_folder(folder)


def test_flat_rows_know_no_languages_and_need_a_query(tmp_path):
    hub.flat(tmp_path / "VidoreArxivQARetrieval")
    with pytest.raises(BadFile, match="no languages: leave out ':klingon'"):
        load_dataset("VidoreArxivQARetrieval:klingon", tmp_path)
    hub.write([{"image": hub.image(0), "image_filename": "a.png"}], tmp_path / "x")
    with pytest.raises(BadFile, match="has the columns image, image_filename, and none of query"):
        read_parquet_folder(tmp_path / "x")


def test_the_folder_one_stands_in_has_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(hub.flat(tmp_path / "here"))
    (tmp_path / "here" / "data").rename(tmp_path / "here" / "rows")
    monkeypatch.chdir(tmp_path / "here" / "rows")
    assert load_dataset(".", tmp_path).name == "rows"
    with pytest.raises(BadFile, match="a dataset cannot be called 'datasets'"):
        Dataset("datasets", ("a",), {"q": "what?"}, {"q": {"a": 1}}, lambda done: iter(()))


@pytest.mark.parametrize(
    ("pages", "queries", "judged"),
    [
        (("b", "a"), {"q": "what?", "r": "who?"}, {"q": {"a": 1}, "r": {"b": 1}}),
        (("a", "b"), {"r": "who?", "q": "what?"}, {"q": {"a": 1}, "r": {"b": 1}}),
        (("a", "b"), {"q": "what?", "r": "whom?"}, {"q": {"a": 1}, "r": {"b": 1}}),
        (("a", "b"), {"q": "what?", "r": "who?"}, {"q": {"b": 1}, "r": {"a": 1}}),
        (("a", "b"), {"q": "what?", "r": "who?"}, {"q": {"a": 2}, "r": {"b": 1}}),
    ],
)
def test_pages_queries_judgements_and_their_order_are_a_datasets_identity(pages, queries, judged):
    def identity(*parts):
        return Dataset("d", *parts, lambda done: iter(())).identity

    one = identity(("a", "b"), {"q": "what?", "r": "who?"}, {"q": {"a": 1}, "r": {"b": 1}})
    assert one == identity(("a", "b"), {"q": "what?", "r": "who?"}, {"r": {"b": 1}, "q": {"a": 1}})
    assert one != identity(pages, queries, judged)


def test_a_dataset_that_does_not_agree_with_itself_is_refused():
    with pytest.raises(BadFile, match="'b' is judged and is no page"):
        Dataset("d", ("a",), {"q": "what?"}, {"q": {"b": 1}}, lambda done: iter(()))
    with pytest.raises(BadFile, match="query 'r' has no text or no judgement"):
        Dataset("d", ("a",), {"q": "what?", "r": "who?"}, {"q": {"a": 1}}, lambda done: iter(()))
    with pytest.raises(BadFile, match="1 pages and 0 queries"):
        Dataset("d", ("a",), {}, {}, lambda done: iter(()))


def test_the_fourteen_tasks_have_11273_pages_and_v2_the_queries_of_the_paper():
    tasks = [*vidore.PRESETS["vidore-v1"], *vidore.PRESETS["vidore-v2"]]
    assert len(tasks) == 14
    assert sum(vidore.known_counts(task)[0] for task in tasks) == 11_273
    queries = {
        preset: sum(vidore.known_counts(task)[1] for task in tasks)
        for preset, tasks in vidore.PRESETS.items()
    }
    assert queries["vidore-v2"] == 672 == 1344 / 2
    assert queries["vidore-v2-english"] == 57 + 58 + 160 + 52
    assert queries["vidore-v2-all"] == 4 * (57 + 58 + 160) + 52


@pytest.mark.filterwarnings("ignore")  # mteb's
def test_every_task_of_every_preset_is_pinned_as_by_mteb():
    import mteb

    tasks = {name.partition(":")[0] for preset in vidore.PRESETS.values() for name in preset}
    assert len(tasks) == 10 + 4 + 8
    assert tasks == set(PINS)
    for task, (path, revision) in PINS.items():
        about = mteb.get_task(task).metadata.dataset
        assert (about["path"], about["revision"]) == (path, revision)


def test_numbers_that_are_not_the_known_ones_are_refused(tmp_path):
    small = read_parquet_folder(hub.beir(tmp_path / "v2"), "Vidore2ESGReportsRetrieval")
    with pytest.raises(BadFile, match="has 6 pages and 6 queries, 1538 and 228 were expected"):
        vidore.check_counts(small)


def test_a_local_folder_goes_before_the_hub(tmp_path, caplog):
    hub.beir(tmp_path / "Vidore2ESGReportsRetrieval")
    load_dataset("Vidore2ESGReportsRetrieval", tmp_path)
    assert "has 6 pages and 6 queries, and the published Vidore2" in caplog.text
    assert len(load_dataset("Vidore2ESGReportsRetrieval", tmp_path).queries) == 6
    english = load_dataset("Vidore2ESGReportsRetrieval:english", tmp_path)
    assert (english.name, len(english.queries)) == ("Vidore2ESGReportsRetrieval:english", 3)


@pytest.mark.filterwarnings("ignore")  # mteb's
def test_without_folder_and_hub_the_error_says_what_was_looked_for(tmp_path):
    with pytest.raises(
        BadFile,
        match="is not on this machine, and vidore/esg_reports_v2 cannot be had from the hub",
    ):
        load_dataset("Vidore2ESGReportsRetrieval", tmp_path)


def test_a_suite_stands_for_its_datasets():
    assert len(dataset_names("books")) == 6
    assert dataset_names("some/folder") == ("some/folder",)


def test_of_a_page_that_is_judged_twice_the_last_counts_as_for_mteb(tmp_path):
    folder = beir_with(tmp_path, "qrels", lambda rows: [*rows, rows[0] | {"score": 1}])
    assert read_parquet_folder(folder).judgements["0"]["0"] == 1
