"""The official harness on our methods: mteb's own tasks, loaders and measures, over local folders in its schemas."""

import warnings
from importlib import import_module

import hub
import numpy as np
import pytest
import tiny
from later import needs_torch

import adamerge as am
from adamerge.errors import BadInput
from adamerge.evaluate.data.parquet_folder import read_parquet_folder
from adamerge.evaluate.experiment.measures import measure_queries
from adamerge.search import score_pages, stack_queries

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # those of other people's libraries
    needs_torch,
]
LANGUAGES = {"english": ["eng-Latn"], "french": ["fra-Latn"]}


@pytest.fixture(scope="module")
def colqwen(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return am.load_encoder(
            str(tiny.make("ColQwen2_5", tmp_path_factory.mktemp("tiny") / "colqwen"))
        )


@pytest.fixture
def offline(monkeypatch, tmp_path):
    datasets = import_module("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()


def model(encoder, method):
    return import_module("adamerge.adapters.mteb").CompressedModel(encoder, method)


def local(name, folder, languages=None):
    """The real task of a name with its data in a folder."""
    kind = type(import_module("mteb").get_task(name))
    change = {
        "dataset": {"path": str(hub.as_repository(folder)), "revision": "local"},
        "name": f"Local{name}",
    }
    change |= {"eval_langs": languages} if languages else {}
    return type(f"Local{name}", (kind,), {"metadata": kind.metadata.model_copy(update=change)})()


def evaluate(ours, task):
    """subset -> nDCG@5, as mteb finds it."""
    done = import_module("mteb").evaluate(
        ours,
        [task],
        cache=None,
        encode_kwargs={"batch_size": 4},
        show_progress_bar=False,
        co2_tracker=False,
    )
    (result,) = done.task_results
    return {one["hf_subset"]: one["ndcg_at_5"] for one in result.scores["test"]}


def by_hand(encoder, method, dataset):
    """nDCG@5 of a dataset by our own reader, kernel and measure."""
    pages = {
        page.id: am.parse_method(method)(page)
        for page in encoder.encode_pages(list(dataset.read(())))
    }
    queries = stack_queries(
        am.MultiVector(v) for v in encoder.encode_queries(list(dataset.queries.values()))
    )
    scores = score_pages(queries, [pages[id] for id in dataset.page_ids])
    return measure_queries(scores, list(dataset.queries), dataset.page_ids, dataset.judgements)[
        "nDCG@5"
    ].mean()


@pytest.mark.parametrize(
    "method", ["identity", "adamerge:k=-0.25,c_min=0.7", "sem-cluster:m=4,unit=true"]
)
def test_a_compressed_encoder_runs_a_task_of_the_first_vidore(colqwen, offline, tmp_path, method):
    folder = hub.beir(tmp_path / "v1", languages=("english",))
    ours = model(colqwen, method)
    assert evaluate(ours, local("VidoreDocVQARetrieval", folder)) == {
        "default": pytest.approx(
            by_hand(colqwen, method, read_parquet_folder(folder, "v1", ())), abs=1e-4
        )
    }
    assert (ours.compression > 0) == (method != "identity")
    assert [page.method for page in ours.pages] == [method] * 6


def test_a_compressed_encoder_runs_a_task_of_the_second_in_each_language(
    colqwen, offline, tmp_path
):
    folder = hub.beir(tmp_path / "v2")
    found = evaluate(
        model(colqwen, "adamerge"), local("Vidore2ESGReportsRetrieval", folder, LANGUAGES)
    )
    for language, value in found.items():
        some = read_parquet_folder(folder, "v2", (language,))
        assert value == pytest.approx(by_hand(colqwen, "adamerge", some), abs=1e-4)
    assert set(found) == {"english", "french"}


def test_a_compressed_encoder_runs_a_task_of_the_third(colqwen, offline, tmp_path):
    folder = hub.by_language(tmp_path / "v3")
    found = evaluate(
        model(colqwen, "ptm:k=-0.25,m=2"), local("Vidore3FinanceEnRetrieval", folder, LANGUAGES)
    )
    assert set(found) == {"english", "french"}
    assert all(0 < value <= 1 for value in found.values())


def test_results_name_encoder_revision_and_method(colqwen):
    about = model(colqwen, "adamerge:k=none,c_min=0.6").mteb_model_meta
    assert about.name == "adamerge/colqwen--adamerge@k=none,c_min=0.6"
    assert about.revision == colqwen.revision
    assert about.embed_dim == colqwen.dim


def test_reranking_looks_at_the_pages_that_are_offered(colqwen):
    ours = model(colqwen, "identity")
    ours.index(
        [{"id": f"p{i}", "image": tiny.picture(120, 160, i)} for i in range(3)], encode_kwargs={}
    )
    rows = [{"id": "q", "text": "revenue"}]
    found = ours.search(rows, top_k=5, top_ranked={"q": ["p0", "p2"]})
    assert set(found["q"]) == {"p0", "p2"}
    everything = ours.search(rows, top_k=2)["q"]
    assert len(everything) == 2
    assert list(everything.values()) == sorted(everything.values(), reverse=True)
    with pytest.raises(BadInput, match="'x' of the task has neither an image nor a text"):
        ours.index([{"id": "x"}], encode_kwargs={})


def test_tasks_of_text_run_with_the_encoder_of_text():
    ours = model("minilm", "adamerge:k=none,c_min=0.6,unit=true")
    ours.index(
        [{"id": "a", "text": "a clock is repaired"}, {"id": "b", "title": "b", "text": "soup"}],
        encode_kwargs={},
    )
    found = ours.search([{"id": "q", "text": "who repairs the clock?"}], top_k=2)["q"]
    assert next(iter(found)) == "a"
    assert np.isfinite(list(found.values())).all()
