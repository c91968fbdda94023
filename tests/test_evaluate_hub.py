"""`adamerge evaluate run` with a checkpoint of the ColPali family, on folders in the schemas of the hub."""

import shutil
import warnings
from dataclasses import replace

import hub
import numpy as np
import pytest
import tiny
from experiment_runs import go, is_done, run_in

from adamerge.encoders import EncoderSpec
from adamerge.errors import Mismatch
from adamerge.evaluate.experiment import Experiment, read_cells, read_datasets, read_experiment

pytestmark = pytest.mark.xdist_group("evaluate-hub")  # one checkpoint is made, once


@pytest.fixture(scope="module")
def colqwen(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tiny.make("ColQwen2_5", tmp_path_factory.mktemp("tiny") / "colqwen")


def test_the_whole_chain_runs_on_local_folders_of_all_three_schemas(colqwen, tmp_path):
    hub.flat(tmp_path / "data" / "v1")
    hub.beir(tmp_path / "data" / "Vidore2ESGReportsRetrieval")
    hub.by_language(tmp_path / "data" / "v3")
    (tmp_path / "plan.toml").write_text(
        f"encoders = ['{colqwen}']\n"
        "datasets = ['v1', 'Vidore2ESGReportsRetrieval', 'Vidore2ESGReportsRetrieval:english', 'v3']\n"
        "methods = [{name = 'identity'}, {name = 'adamerge', k = [-0.25, 0.25]}]\n"
        "controls = [{name = 'bm25'}, {name = 'random', of = {name = 'adamerge'}}]\n"
    )
    done = go(tmp_path)
    assert done.returncode == 0, done.stderr
    found = {(cell.dataset, cell.method): cell for cell in read_cells(tmp_path / "results")}
    datasets = read_datasets(tmp_path / "results")
    assert {name: len(about["queries"]) for name, about in datasets.items()} == {
        "v1": 7,
        "Vidore2ESGReportsRetrieval": 6,
        "Vidore2ESGReportsRetrieval:english": 3,
        "v3": 6,
    }
    assert len(found) == 4 * 5
    assert found["v3", "bm25"].mean() == 1
    assert not found["v1", "bm25"].measures  # its pages have no text
    esg = found["Vidore2ESGReportsRetrieval", "adamerge:k=-0.25,c_min=0.7"]
    assert esg.extra > 0
    assert 0 < esg.compression_of_all < esg.compression < 1
    english = found["Vidore2ESGReportsRetrieval:english", "identity"]
    everyone = found["Vidore2ESGReportsRetrieval", "identity"]
    np.testing.assert_allclose(english.measures["nDCG@5"], everyone.measures["nDCG@5"][::2])
    assert not list((tmp_path / "vectors").glob("*/*english/pages"))  # pages are encoded once
    assert is_done(read_experiment(tmp_path / "plan.toml"), tmp_path)


def test_weights_are_known_without_loading_them(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert EncoderSpec("a/model").weights() is None  # never loaded here
    snapshot = tmp_path / "models--a--model" / "snapshots" / "c0ffee"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("c0ffee")
    assert EncoderSpec("a/model").weights() == "c0ffee"
    EncoderSpec("a/model").check({"weights": "c0ffee"}, tmp_path)
    assert EncoderSpec("minilm").weights() is None  # it loads none but the known
    assert EncoderSpec(str(tmp_path / "no" / "such" / "folder")).weights() is None


@pytest.mark.filterwarnings("ignore")  # of the model library
def test_other_options_or_weights_are_not_mixed(colqwen, tmp_path):
    hub.flat(tmp_path / "data" / "v1")
    checkpoint = shutil.copytree(colqwen, tmp_path / "checkpoint")
    plan = Experiment([str(checkpoint)], ["v1"], ["identity"])
    fewer = replace(plan, options={"max_num_visual_tokens": 8})
    other = tmp_path / "other"
    hub.flat(other / "data" / "v1")
    (large,), (small,) = run_in(plan, tmp_path), run_in(fewer, other)
    assert small.patches < large.patches
    assert is_done(plan, tmp_path)
    assert is_done(fewer, other)
    for results in (tmp_path / "new", other / "results"):  # vectors are refused, and cells
        with pytest.raises(
            Mismatch,
            match=r"with options {'max_num_visual_tokens': 8}, not {}: choose another folder",
        ):
            next(run_in(plan, other, results))
    weights = next(checkpoint.glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes())  # saved again
    for results in (tmp_path / "new", other / "results"):
        with pytest.raises(
            Mismatch, match=r"with weights local \w+, now they are local \w+: choose another folder"
        ):
            next(run_in(fewer, other, results))
