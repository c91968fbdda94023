"""`adamerge evaluate run` with a checkpoint of the ColPali family, on folders in the schemas of the hub."""

import shutil
import warnings
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import ClassVar

import hub
import light
import numpy as np
import pytest
import tiny
from experiment_runs import go, is_done, run_in
from later import needs_torch

from adamerge.encoders import EncoderSpec, spec
from adamerge.errors import BadInput, Mismatch
from adamerge.evaluate.experiment import Experiment, read_cells, read_datasets, read_experiment
from adamerge.types import Word

pytestmark = needs_torch


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


class Counted(light.Light):
    """Says when it is loaded, and refuses to be where it is called missing."""

    loads: ClassVar = []

    def __init__(self, name, *, size=4):
        super().__init__(name)
        self.loads.append((name, size))
        if size == 0:
            raise BadInput(f"{name} cannot be loaded")
        self.size = size

    @property
    def about(self):
        return super().about | {"options": {"size": self.size}}

    def _page(self, page):
        words = [Word(text, (0.0, 0.0, 1.0, 1.0)) for text in "abcdefgh"[: self.size]]
        return super()._page(replace(page, words=tuple(words)))


FIRST = "test_evaluate_hub:Counted"


@pytest.fixture
def two_encoders(tmp_path, monkeypatch):
    """Two datasets, and two encoders with options of their own, of which the second is registered under a name."""
    for name in ("one", "two"):
        hub.flat(tmp_path / "data" / name, pages=3)
    monkeypatch.setattr(Counted, "loads", [])
    point = EntryPoint("second", FIRST, spec.GROUP)
    monkeypatch.setattr(spec, "_entry_points", lambda: [point])
    monkeypatch.setattr(spec, "_package", lambda point: "tests")
    return lambda second: Experiment(
        [EncoderSpec(FIRST, {"size": 5}), EncoderSpec("second", {"size": second})],
        ["one", "two"],
        ["identity"],
        usual_patches={FIRST: 5, "second": 40},
    )


def test_an_encoder_is_loaded_before_the_first_cell_and_kept_between_datasets(
    two_encoders, tmp_path, caplog
):
    cells = list(run_in(two_encoders(3), tmp_path))
    assert [(cell.encoder, cell.dataset, cell.patches // cell.pages) for cell in cells] == [
        (FIRST, "one", 5),
        (FIRST, "two", 5),
        ("second", "one", 3),
        ("second", "two", 3),
    ]
    # the second is tried first, so that the first stays
    assert Counted.loads == [("second", 3), (FIRST, 5), ("second", 3)]
    assert caplog.text.count("half of the pages have 3 patches or more, and 40 are usual") == 2
    assert is_done(two_encoders(3), tmp_path)


def test_an_encoder_that_cannot_be_loaded_is_found_before_the_first_cell(two_encoders, tmp_path):
    with pytest.raises(BadInput, match="second cannot be loaded"):
        next(run_in(two_encoders(0), tmp_path))
    assert Counted.loads == [("second", 0)]
    assert not list(read_cells(tmp_path / "results"))
    assert not (tmp_path / "vectors").exists()


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
            match=r"with options {.*'max_num_visual_tokens': 8}, not {.*}: choose another folder",
        ):
            next(run_in(plan, other, results))
    weights = next(checkpoint.glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes())  # saved again
    for results in (tmp_path / "new", other / "results"):
        with pytest.raises(
            Mismatch, match=r"with weights local \w+, now they are local \w+: choose another folder"
        ):
            next(run_in(fewer, other, results))
