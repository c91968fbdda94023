"""An experiment is a TOML file: what it means, and what it says where it means nothing."""

from collections import Counter
from pathlib import Path

import pytest

import adamerge as am
from adamerge.errors import BadFile
from adamerge.evaluate.experiment import read_experiment
from adamerge.evaluate.experiment.controls import ALONE, CONTROLS, Control

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("encoders = 3 = 4", "cannot be read as an experiment"),
        ("colours = []", "has 'colours', and an experiment has controls, data, datasets"),
        ('encoders = ["minilm"]', "must name encoders, datasets and methods"),
        ("encoders = [3]", "an encoder is a name, or a table of its name and options; got 3"),
        ("[[encoders]]\ndevice = 'cpu'", "an encoder is a name, or a table of its name"),
        ("datasets = [3]", "datasets are names, got 3"),
        ("methods = [3]", "a method is a table of its name and options, got 3"),
        ("[[methods]]\nk = 1", "a method is a table of its name and options"),
        ("[[controls]]\nnames = ['bm25']", "a control is a table of name and of, got {'names'"),
        ("modules = ['none.py']", "none.py is no file of Python"),
        ("modules = ['x.toml']", "x.toml is no file of Python"),
    ],
)
def test_an_experiment_that_makes_no_sense_is_refused(tmp_path, text, words):
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(BadFile, match=words):
        read_experiment(tmp_path / "x.toml")


def test_one_is_as_good_as_a_list_of_one(tmp_path):
    (tmp_path / "x.toml").write_text(
        "encoders = 'minilm'\ndatasets = 'books'\n[methods]\nname = 'adamerge'\n"
        "[controls]\nname = 'random'\nof = 'adamerge'"
    )
    plan = read_experiment(tmp_path / "x.toml")
    assert ([spec.name for spec in plan.specs], plan.datasets) == (["minilm"], ("books",))
    assert list(plan.methods) == [
        str(am.AdaMerge()),
        f"random({am.AdaMerge()})",
    ]


def test_an_encoder_has_the_options_of_all_and_its_own(tmp_path):
    (tmp_path / "x.toml").write_text(
        "datasets = 'books'\nmethods = 'identity'\noptions = {dtype = 'float32', revision = 'b'}\n"
        "[[encoders]]\nname = 'a/model'\nrevision = 'a'\nusual_patches = 744\n"
        "[[encoders]]\nname = 'b/model'\n"
    )
    plan = read_experiment(tmp_path / "x.toml")
    first, second = plan.specs
    assert first.options == {"dtype": "float32", "revision": "a"}
    assert second.options == {"dtype": "float32", "revision": "b"}
    assert plan.usual_patches == {"a/model": 744}
    assert plan.encoder("a/model") == first
    assert plan.encoder("c/model").options == second.options


def test_the_encoders_of_the_paper_are_pinned():
    for spec in read_experiment(ROOT / "experiments" / "paper.toml").specs:
        assert len(spec.options["revision"]) == 40
        assert spec.options["query_prefix"] == "Query: "
        assert spec.options["max_num_visual_tokens"] == 768
        spec.check_options()


def test_the_paper_runs_statistics_as_printed_for_every_method_at_every_k():
    methods = set(read_experiment(ROOT / "experiments" / "paper.toml").methods)
    grid = [name for name in methods if "stats=plain" in name and "(" not in name]
    for name in grid:
        assert name.replace(",stats=plain", "") in methods
    counts = Counter(name.partition(":")[0] for name in grid)
    assert counts == {
        "docpruner": 11,
        "ptm": 48,
        "ptm-attn": 48,
        "adamerge": 16,
        "adamerge-mean": 16,
    }


def test_the_first_experiment_is_one_book_and_few_methods():
    plan = read_experiment(ROOT / "experiments" / "one_book.toml")
    assert (plan.datasets, len(plan.methods)) == (("r-intro",), 10)


@pytest.mark.parametrize("name", ["paper", "books"])
def test_the_experiments_of_the_repository_are_understood(name):
    plan = read_experiment(ROOT / "experiments" / f"{name}.toml")
    texts = list(plan.methods)
    assert len(set(texts)) == len(texts) > 150
    assert {
        "identity",
        "docpruner:k=0",
        "adamerge:k=none,c_min=0.7",
        "adamerge:k=-0.25,c_min=0.7,unit=true",
    } <= set(texts)
    assert any("cut=floor" in text for text in texts)
    assert {str(c).partition("(")[0] for c in plan.entries if isinstance(c, Control)} == (
        CONTROLS.keys() | ALONE
    )
