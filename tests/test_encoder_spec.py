"""Which encoder is asked for: names, options, and what a store may load."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint

import light
import numpy as np
import pytest

import adamerge as am
from adamerge.encoders import EncoderSpec, load_encoder, spec
from adamerge.errors import BadFile, BadInput, Mismatch, UnknownName
from adamerge.types import Page, Word


class Limited(light.Light):
    """An encoder with an option that its pages depend on."""

    def __init__(self, name, *, most=99):
        super().__init__(name)
        self.most = most

    @property
    def about(self):
        return super().about | {"options": {"most": self.most}}

    def _page(self, page):
        return super()._page(Page(page.id, None, page.words[: self.most]))


@pytest.fixture
def own(monkeypatch):
    """The name of that class as a user gives it."""
    monkeypatch.setitem(sys.modules, "own_encoder", sys.modules[__name__])
    return "own_encoder:Limited"


def a_page(id, text):
    words = [Word(word, (0.0, 0.0, 1.0, 1.0)) for word in text.split()]
    return Page(id, None, tuple(words))


def filled(path, encoder):
    """A store of one page by an encoder."""
    with am.open_store(path, encoder=encoder) as store:
        store.add(
            am.compress(
                encoder.encode_pages([a_page("a#1", "one two three")])[0], method="identity"
            )
        )


def test_a_name_that_is_none_is_refused_before_any_hub_is_asked():
    with pytest.raises(
        UnknownName,
        match=r"no encoder 'minlm' \(did you mean 'minilm'\?\); give minilm, a name of the",
    ):
        load_encoder("minlm")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("colpali", "vidore/colpali-v1.3"),
        ("colqwen2.5", "vidore/colqwen2.5-v0.2"),
        ("MiniLM", "minilm"),
    ],
)
def test_a_part_of_a_name_is_told_the_whole(name, meant):
    with pytest.raises(UnknownName, match=re.escape(f"'{name}' (did you mean '{meant}'?)")):
        load_encoder(name)


def test_an_option_that_an_encoder_lacks_is_refused_before_it_is_loaded():
    with pytest.raises(BadInput, match="minilm takes no max_num_visual_tokens"):
        EncoderSpec("minilm", {"max_num_visual_tokens": 5}).check_options()


def test_a_class_of_ones_own_is_loaded_by_its_path(own):
    encoder = load_encoder(own, most=2)
    assert (encoder.name, encoder.most) == (own, 2)


def test_a_class_that_is_not_there_is_named():
    with pytest.raises(
        BadFile, match="the encoder no_such_module:Encoder cannot be imported: No module named"
    ):
        load_encoder("no_such_module:Encoder")


def test_an_encoder_must_answer_to_its_name(monkeypatch):
    monkeypatch.setitem(spec.KINDS, "heavy", spec.Kind("test_encoder_spec:Renamed", ""))
    with pytest.raises(BadInput, match="the encoder heavy calls itself light"):
        load_encoder("heavy")


class Renamed(light.Light):
    def __init__(self, name):
        super().__init__()


def test_an_installed_package_brings_an_encoder(own, monkeypatch):
    point = EntryPoint("limited", own, spec.GROUP)
    monkeypatch.setattr(spec, "_entry_points", lambda: [point])
    assert load_encoder("limited").name == "limited"
    assert not EncoderSpec("limited", trusted=False).is_code  # who installed it trusts it


def test_a_store_loads_its_encoder_with_the_options_that_made_its_pages(own, tmp_path):
    filled(tmp_path / "store", load_encoder(own, most=2))
    with am.open_store(tmp_path / "store", encoder=own) as store:
        assert store.encoder_spec() == EncoderSpec(own, {"most": 2})
        assert store.load_encoder().most == 2
        assert store.load_encoder() is store.load_encoder()


def test_a_store_does_not_run_code_that_only_it_names(own, tmp_path):
    filled(tmp_path / "store", load_encoder(own))
    with am.open_store(tmp_path / "store") as store:
        with pytest.raises(
            BadInput, match="made by code outside of adamerge, own_encoder:Limited: if you trust it"
        ):
            store.search("one")
        assert store.search(light.of_word("one")[None]).hits  # vectors need no encoder


def test_a_store_is_labelled_without_loading_a_model(tmp_path):
    page = am.MultiVector(np.eye(4), id="a#1")
    with am.open_store(tmp_path / "store", encoder="vidore/colqwen2.5-v0.2") as store:
        store.add(am.compress(page, method="identity"))
        assert store.facts()["name"] == "vidore/colqwen2.5-v0.2"
    with pytest.raises(Mismatch, match=r"its name is vidore/colqwen2\.5-v0\.2, not minilm"):
        am.open_store(tmp_path / "store", encoder="minilm")


def test_a_store_of_before_options_were_recorded_still_tells_them():
    about = {"name": "a/model", "max_num_visual_tokens": 256}
    assert EncoderSpec.recorded(about) == EncoderSpec("a/model", {"max_num_visual_tokens": 256})
    assert EncoderSpec.recorded({"name": "minilm"}) == EncoderSpec("minilm")
    without_prefix = {"name": "a/model", "options": {}, "query prefix": ""}
    assert EncoderSpec.recorded(without_prefix) == EncoderSpec("a/model", {"query_prefix": ""})
    assert EncoderSpec.recorded({}) is None


def test_threads_may_share_a_store_and_ask_it_by_text(tmp_path):
    encoder = load_encoder("minilm")
    with am.open_store(tmp_path / "store", encoder=encoder) as store:
        texts = [
            f"page {i} on {topic}" for i, topic in enumerate(["clocks", "rivers", "bread", "stars"])
        ]
        pages = encoder.encode_pages([a_page(f"f#{i}", text) for i, text in enumerate(texts)])
        store.add(am.compress(page, method="identity") for page in pages)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(store.search, texts * 10))
        assert [one[0].id for one in found] == [f"f#{i}" for i in range(4)] * 10


def test_queries_of_another_prefix_are_not_mixed(tmp_path):
    made = {"options": {}, "class": "ColQwen2_5", "query prefix": ""}
    with pytest.raises(Mismatch, match=r"with options {'query_prefix': ''}, not {'query_prefix':"):
        EncoderSpec("a/model").check(made, tmp_path)
    EncoderSpec("a/model", {"query_prefix": ""}).check(made, tmp_path)
    EncoderSpec("a/model").check(made | {"query prefix": "Query: "}, tmp_path)


def test_an_encoder_without_a_prefix_refuses_one():
    spec = EncoderSpec("minilm")
    assert spec.with_query_prefix(None) is spec
    with pytest.raises(BadInput, match="minilm takes no query_prefix"):
        spec.with_query_prefix("Query: ").load()
