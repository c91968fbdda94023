"""The ColPali family on tiny random checkpoints of the real classes; attention against eager attention."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tiny
from later import Later, needs_torch, torch

import adamerge as am
from adamerge.encoders import load_encoder
from adamerge.errors import BadInput, TooLarge
from adamerge.types import Page

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # other people's deprecations
    needs_torch,
]
attention = Later("adamerge.encoders.attention")
transformers = Later("transformers.modeling_utils")
PAGES = [Page("tall", tiny.picture(170, 220, 1)), Page("wide", tiny.picture(300, 160, 2))]


@pytest.fixture(scope="session", params=tiny.KINDS)
def folder(request, tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tiny.make(request.param, tmp_path_factory.mktemp("tiny") / request.param)


@pytest.fixture(scope="session")
def colqwen(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tiny.make("ColQwen2_5", tmp_path_factory.mktemp("tiny") / "ColQwen2_5")


def eager_rows(encoder, batch):
    """Attention of the last text layer by eager attention: the whole matrix, heads averaged, (B, N, N)."""
    seen = []
    module = attention.last_attention(encoder.model)
    config = module.config
    before, config._attn_implementation = config._attn_implementation, "eager"
    handle = module.register_forward_hook(lambda m, a, out: seen.append(out[1]))
    try:
        with torch.no_grad():
            encoder._forward(batch)
    finally:
        handle.remove()
        config._attn_implementation = before
    return seen[-1].float().mean(1)


def check_against_eager(folder, side):
    encoder = load_encoder(str(folder))
    encoder.processor.tokenizer.padding_side = side
    batch = encoder._to_device(encoder.processor.process_images([p.image for p in PAGES]))
    full, mask = eager_rows(encoder, batch), batch["attention_mask"].bool()
    both_ways = "ModernVBert" in folder.name
    with (
        torch.no_grad(),
        attention.capture(encoder.model, mask, mask if both_ways else None) as seen,
    ):
        encoder._forward(batch)
    got = seen.weights.mean(1)
    for i in range(2):
        last = int(mask[i].nonzero().max())
        want = full[i][mask[i]].mean(0) if both_ways else full[i][last]
        torch.testing.assert_close(got[i], want, atol=1e-6, rtol=0)
        assert got[i].max() > 1.5 / mask[i].sum()  # peaked: a uniform row would prove nothing
        assert (got[i][~mask[i]] == 0).all()
        assert float(got[i].sum()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("side", ["left", "right"])
def test_attention_equals_eager_attention_in_a_batch_of_different_pages(folder, side):
    check_against_eager(folder, side)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_last_layer_that_sees_only_its_neighbours_is_read_as_it_is(tmp_path, monkeypatch, side):
    monkeypatch.setattr(tiny, "MODERN_LAYERS", 5)
    folder = tiny.make("ColModernVBert", tmp_path / "ColModernVBert")
    assert load_encoder(str(folder)).model.config.text_config.layer_types[-1] == "sliding_attention"
    check_against_eager(folder, side)


def test_pages_become_patches_with_attention_and_places(folder):
    encoder = load_encoder(str(folder))
    both = encoder.encode_pages(PAGES)
    for page, given in zip(both, PAGES, strict=True):
        assert page.id == given.id
        assert page.vectors.shape[1] == encoder.dim
        np.testing.assert_allclose(np.linalg.norm(page.vectors, axis=1), 1, atol=1e-4)
        assert page.boxes.shape == (len(page), 4)
        assert (page.boxes[:, :2] < page.boxes[:, 2:]).all()
        assert len(page.extra) > 0
        areas = np.prod(page.boxes[:, 2:] - page.boxes[:, :2], axis=1)
        if page.grid:
            rows, columns = page.grid
            assert rows * columns == len(page)
            y, x = np.divmod(np.arange(len(page)), columns)
            np.testing.assert_allclose(
                page.boxes[:, :2], np.stack([x / columns, y / rows], axis=1), atol=1e-6
            )
            if "ColPali" not in folder.name:  # it squashes pages to a square
                assert (rows > columns) == (given.id == "tall")
        else:  # tiles cover the page once, row by row, and the thumbnail once more
            assert areas[:-16].sum() == pytest.approx(1, abs=1e-3)
            np.testing.assert_allclose(page.boxes[-16:, 0], np.tile([0, 0.25, 0.5, 0.75], 4))
            firsts = page.boxes[:-16:16, :2]
            assert (np.lexsort((firsts[:, 0], firsts[:, 1])) == np.arange(len(firsts))).all()
            assert len(np.unique(firsts[:, 1])) == (4 if given.id == "tall" else 3)
        (alone,) = encoder.encode_pages([given.image])  # a bare picture is a page
        np.testing.assert_allclose(alone.vectors, page.vectors, atol=2e-5)
        np.testing.assert_allclose(alone.attention, page.attention, atol=1e-6)
    assert am.AdaMerge(c_min=-1)(both[0]).compression > 0


def test_vectors_are_those_of_the_model_itself(folder):
    """Ours come from the model without its language head; these from the model as colpali-engine loads it."""
    from colpali_engine import models

    encoder = load_encoder(str(folder))
    plain = getattr(models, folder.name).from_pretrained(folder).eval()
    if any(p.is_meta for p in plain.parameters()):  # ColPali: tie what loading left untied
        plain.model.lm_head.weight = plain.get_input_embeddings().weight
    batch = encoder._to_device(encoder.processor.process_images([p.image for p in PAGES]))
    with torch.no_grad():
        want = plain(**batch)
    for i, page in enumerate(encoder.encode_pages(PAGES)):
        real = batch["attention_mask"][i].bool()
        rows = np.concatenate([page.vectors, page.extra])
        patch = (batch["input_ids"][i] == encoder._image_token())[real]
        np.testing.assert_allclose(
            rows, torch.cat([want[i][real][patch], want[i][real][~patch]]), atol=1e-6
        )


def test_queries_become_vectors(folder):
    encoder = load_encoder(str(folder), query_prefix="Query: ")
    long, short = encoder.encode_queries(["what is the revenue in 2023?", "revenue?"])
    assert long.shape[1] == short.shape[1] == encoder.dim
    assert len(long) > len(short)
    tokens, few = encoder.query_tokens(["what is the revenue in 2023?", "revenue?"])
    assert (len(tokens), len(few)) == (len(long), len(short))
    assert "what is the revenue in 2023?" in "".join(tokens)
    assert encoder.about["query prefix"] == "Query: "
    assert encoder.about["class"] == folder.name
    (alone,) = encoder.encode_queries(["revenue?"])
    with ThreadPoolExecutor(4) as threads:
        pages = threads.submit(encoder.encode_pages, PAGES)
        for (vectors,) in threads.map(encoder.encode_queries, [["revenue?"]] * 8):
            np.testing.assert_allclose(vectors, alone, atol=1e-5)
        assert len(pages.result()) == len(PAGES)


TRAINED_WITH_PREFIX = {"ColPali", "ColQwen2", "ColQwen2_5", "ColIdefics3"}


def test_queries_begin_with_the_words_that_the_checkpoint_was_trained_with(folder):
    encoder = load_encoder(str(folder))
    (tokens,) = encoder.query_tokens(["what is the revenue in 2023?"])
    text = "".join(tokens).removeprefix("<bos>")
    prefix = "Query: " if folder.name in TRAINED_WITH_PREFIX else ""
    if folder.name != "ColPali":  # the tiny one spells a space in its own way
        assert text.startswith(f"{prefix}what is the revenue")
    assert text.startswith("Query") == (folder.name in TRAINED_WITH_PREFIX)
    assert encoder.about["options"]["query_prefix"] == prefix


def test_other_words_before_a_query_change_its_vectors(colqwen):
    with_prefix = load_encoder(str(colqwen))
    without = load_encoder(str(colqwen), query_prefix="")
    (first, *_), (second, *_) = (e.query_tokens(["revenue?"])[0] for e in (with_prefix, without))
    assert first == "Query"
    assert second != "Query"
    lengths = [len(e.encode_queries(["revenue?"])[0]) for e in (with_prefix, without)]
    assert lengths[0] > lengths[1]


def test_after_a_capture_the_model_is_as_it_was(folder):
    encoder = load_encoder(str(folder))
    module = attention.last_attention(encoder.model)
    config, names = module.config, set(vars(module))
    before = encoder.encode_queries(["revenue?"])[0]
    encoder.encode_pages(PAGES)
    with pytest.raises(ZeroDivisionError), attention.capture(encoder.model, torch.ones(1, 1)):
        _ = 1 / 0
    assert module.config is config
    assert set(vars(module)) == names
    np.testing.assert_array_equal(before, encoder.encode_queries(["revenue?"])[0])


def stand_in_for_flash(
    module, q, k, v, mask, scaling=None, sliding_window=None, is_causal=None, **_
):
    """What a flash kernel computes, called as transformers calls one: a mask of (B, N), or none."""
    assert mask is None or mask.dim() == 2
    n, groups = q.shape[2], q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    at = torch.arange(n)
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    allowed = (at[:, None] >= at[None]) if causal else torch.ones(n, n, dtype=torch.bool)
    if sliding_window is not None:
        allowed = allowed & ((at[:, None] - at[None]).abs() < sliding_window)
    allowed = (
        allowed[None, None] if mask is None else allowed[None, None] & mask[:, None, None].bool()
    )
    out = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=allowed | torch.eye(n).bool(), scale=scaling
    )
    return out.transpose(1, 2).contiguous(), None


def test_the_calling_convention_of_flash_kernels_gives_the_same_attention(folder, monkeypatch):
    encoder = load_encoder(str(folder))
    want = encoder.encode_pages(PAGES)
    monkeypatch.setitem(
        transformers.AttentionInterface._global_mapping, "flash_attention_2", stand_in_for_flash
    )
    attention.last_attention(
        encoder.model
    ).config._attn_implementation_internal = "flash_attention_2"
    for page, same in zip(encoder.encode_pages(PAGES), want, strict=True):
        np.testing.assert_allclose(page.attention, same.attention, atol=1e-6)


def test_a_model_that_runs_eager_attention_is_read_too(folder):
    encoder = load_encoder(str(folder))
    want = encoder.encode_pages(PAGES)
    attention.last_attention(encoder.model).config._attn_implementation_internal = "eager"
    for page, same in zip(encoder.encode_pages(PAGES), want, strict=True):
        np.testing.assert_allclose(page.attention, same.attention, atol=1e-6)


def test_soft_caps_and_windows_are_obeyed():
    from adamerge.encoders.attention import _weights

    torch.manual_seed(0)
    q, k = torch.randn(2, 4, 9, 8), torch.randn(2, 2, 9, 8)
    real = torch.ones(2, 9, dtype=torch.bool)
    real[1, :3] = False
    seen = attention.Capture(torch.tensor([8, 8]), real, None)
    got = _weights(
        object(), q, k, None, seen, {"softcap": 2.0, "sliding_window": 4, "scaling": 0.5}
    )
    logits = torch.einsum("bhd,bhnd->bhn", q[:, :, 8], k.repeat_interleave(2, 1)) * 0.5
    logits = 2 * torch.tanh(logits / 2)
    logits[..., :5] = -torch.inf
    torch.testing.assert_close(got, logits.softmax(-1))
    assert (got[..., :5] == 0).all()


def test_a_batch_that_does_not_fit_is_halved(colqwen, monkeypatch, caplog):
    encoder = load_encoder(str(colqwen))
    whole, sizes = encoder._encode, []

    def small_memory(images, ids):
        sizes.append(len(ids))
        if len(ids) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(images, ids)

    monkeypatch.setattr(encoder, "_encode", small_memory)
    assert [p.id for p in encoder.encode_pages([*PAGES, PAGES[0]])] == ["tall", "wide", "tall"]
    assert sizes == [3, 1, 1, 1]
    assert "out of memory with 3 pages at once; going on with 1" in caplog.text
    monkeypatch.setattr(
        encoder,
        "_encode",
        lambda images, ids: (_ for _ in ()).throw(torch.OutOfMemoryError("full")),
    )
    with pytest.raises(TooLarge, match="page 'tall' alone does not fit in memory"):
        encoder.encode_pages(PAGES)


def test_the_limit_of_visual_tokens_is_obeyed(colqwen):
    big = Page("big", tiny.picture(900, 900, 1))
    few, many = (
        load_encoder(str(colqwen), max_num_visual_tokens=n).encode_pages([big])[0] for n in (16, 36)
    )
    assert len(few) <= 16 < len(many) <= 36


def test_what_an_encoder_cannot_do_is_refused(folder, tmp_path):
    encoder = load_encoder(str(folder))
    assert encoder.encode_pages([]) == encoder.encode_queries([]) == []
    with pytest.raises(BadInput, match="there is no device 'gpu' here, only"):
        load_encoder(str(folder), device="gpu")
    if "Qwen" in folder.name:
        with pytest.raises(BadInput, match=r"page 'thin': .*aspect ratio"):
            encoder.encode_pages([Page("thin", tiny.picture(3000, 4, 1))])
    else:
        with pytest.raises(BadInput, match="it has no limit to set"):
            load_encoder(str(folder), max_num_visual_tokens=4)
    mask = torch.ones(1, 1)
    with (
        attention.capture(encoder.model, mask),
        pytest.raises(BadInput, match="one capture at a time"),
    ):
        attention.capture(encoder.model, mask).__enter__()


def test_an_unknown_dtype_is_refused(colqwen):
    with pytest.raises(
        BadInput, match="dtype must be one of float32, float16, bfloat16, got 'int4'"
    ):
        load_encoder(str(colqwen), dtype="int4")


def test_half_precision_stays_close(colqwen):
    full, half = (
        load_encoder(str(colqwen), dtype=d).encode_pages(PAGES[:1])[0]
        for d in ("float32", "bfloat16")
    )
    np.testing.assert_allclose(full.attention, half.attention, atol=5e-3)
    assert half.vectors.dtype == np.float32
