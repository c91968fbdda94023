"""Loading a checkpoint of the ColPali family: whole or not at all, at the asked revision, adapters onto their base."""

import json
import shutil
import warnings
import weakref
from importlib.metadata import version

import numpy as np
import pytest
import tiny
from later import needs_torch, safetensors_torch

from adamerge.encoders import EncoderSpec, load_encoder
from adamerge.errors import BadFile
from adamerge.types import Page

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # other people's deprecations
    needs_torch,
]
PAGES = [Page("tall", tiny.picture(170, 220, 1))]


@pytest.fixture(scope="module")
def colqwen(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tiny.make("ColQwen2_5", tmp_path_factory.mktemp("tiny") / "ColQwen2_5")


@pytest.mark.parametrize("change", ["missing", "renamed"])
def test_a_checkpoint_that_would_leave_weights_random_is_refused(colqwen, tmp_path, change):
    bad = shutil.copytree(colqwen, tmp_path / "bad")
    weights = safetensors_torch.load_file(bad / "model.safetensors")
    name = next(n for n in weights if "q_proj.weight" in n)
    taken = weights.pop(name)
    if change == "renamed":
        weights[name.replace("q_proj", "p_proj")] = taken
    safetensors_torch.save_file(weights, bad / "model.safetensors", {"format": "pt"})
    with pytest.raises(BadFile, match=r"1 missing keys .*weights would be random"):
        load_encoder(str(bad))


def test_a_lora_adapter_loads_onto_its_base_and_changes_the_output(colqwen, tmp_path):
    lora = tiny.make_lora(colqwen, tmp_path / "lora")
    adapted = load_encoder(str(lora))
    assert adapted.about["base"] == str(colqwen)
    plain, changed = (e.encode_pages(PAGES[:1])[0] for e in (load_encoder(str(colqwen)), adapted))
    assert plain.vectors.shape == changed.vectors.shape
    assert np.abs(plain.vectors - changed.vectors).max() > 0.01


def test_a_lora_adapter_in_the_published_layout_is_applied_whole(colqwen, tmp_path):
    """Its keys are those of an older transformers, which some versions of the engine pass over (colpali#424)."""
    now = tiny.make_lora(colqwen, tmp_path / "now", targets=tiny.PUBLISHED_TARGETS)
    published = tiny.as_published(now, tmp_path / "published")
    names = safetensors_torch.load_file(published / "adapter_model.safetensors")
    assert any(name.startswith("base_model.model.model.layers.0.") for name in names)
    assert any("custom_text_proj" in name for name in names)
    vectors = [
        load_encoder(str(folder)).encode_pages(PAGES[:1])[0].vectors
        for folder in (colqwen, now, published)
    ]
    np.testing.assert_allclose(vectors[2], vectors[1], atol=1e-6)
    assert np.abs(vectors[2] - vectors[0]).max() > 0.01


def test_a_lora_adapter_that_would_not_be_applied_is_refused(colqwen, tmp_path):
    lora = tiny.make_lora(colqwen, tmp_path / "lora")
    weights = safetensors_torch.load_file(lora / "adapter_model.safetensors")
    elsewhere = {name.replace("language_model", "tower"): w for name, w in weights.items()}
    safetensors_torch.save_file(elsewhere, lora / "adapter_model.safetensors", {"format": "pt"})
    with pytest.raises(BadFile, match="weights would be random"):
        load_encoder(str(lora))


def test_the_base_of_an_adapter_is_freed_before_the_adapter_is_loaded(
    colqwen, tmp_path, monkeypatch
):
    from colpali_engine.models import ColQwen2_5

    lora = tiny.make_lora(colqwen, tmp_path / "lora")
    load, alive = ColQwen2_5.from_pretrained.__func__, []

    def noting(cls, name, **options):
        alive.append([one() is not None for one in models])
        model, info = load(cls, name, **options)
        models.append(weakref.ref(model))
        return model, info

    models = []
    monkeypatch.setattr(ColQwen2_5, "from_pretrained", classmethod(noting))
    load_encoder(str(lora))
    assert alive == [[], [False]]


def test_a_lora_adapter_on_a_base_that_lacks_weights_is_refused(colqwen, tmp_path):
    bad = shutil.copytree(colqwen, tmp_path / "base")
    weights = safetensors_torch.load_file(bad / "model.safetensors")
    weights.pop(next(n for n in weights if "q_proj.weight" in n))
    safetensors_torch.save_file(weights, bad / "model.safetensors", {"format": "pt"})
    lora = tiny.make_lora(colqwen, tmp_path / "lora")
    config = json.loads((lora / "adapter_config.json").read_text()) | {
        "base_model_name_or_path": str(bad)
    }
    (lora / "adapter_config.json").write_text(json.dumps(config))
    with pytest.raises(BadFile, match=r"base: 1 missing keys .*weights would be random"):
        load_encoder(str(lora))


def test_what_is_no_checkpoint_of_the_family_is_refused(tmp_path):
    with pytest.raises(BadFile, match="no checkpoint here or on the hub"):
        load_encoder(str(tmp_path / "nowhere"))
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(BadFile, match="is of type 'bert'; the ColPali family here: qwen2_5_vl"):
        load_encoder(str(tmp_path))


def test_the_revision_is_the_commit_that_the_hub_keeps(colqwen, tmp_path, monkeypatch):
    """A cache folder in the hub's own layout, as a download leaves it."""
    cache = tmp_path / "models--vidore--tiny"
    shutil.copytree(colqwen, cache / "snapshots" / "0123abc")
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("0123abc")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    encoder = load_encoder("vidore/tiny")
    assert encoder.revision == "0123abc"
    assert encoder.about["libraries"]["torch"] == version("torch")


def test_another_revision_is_loaded_when_it_is_asked_for(colqwen, tmp_path, monkeypatch):
    cache = tmp_path / "models--vidore--tiny"
    older, newer = "a" * 40, "b" * 40
    for commit in (older, newer):
        shutil.copytree(colqwen, cache / "snapshots" / commit)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(newer)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))

    pinned = load_encoder("vidore/tiny", revision=older)
    assert pinned.revision == older
    assert pinned.about["options"]["revision"] == older
    assert EncoderSpec("vidore/tiny", {"revision": older}).weights() == older
    assert EncoderSpec("vidore/tiny").weights() == newer
    with pytest.raises(BadFile, match=f"vidore/tiny at revision {'c' * 40} is no checkpoint here"):
        load_encoder("vidore/tiny", revision="c" * 40)
