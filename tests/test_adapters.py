"""Our methods inside other people's programs, with the real packages."""

import numpy as np
import pytest
from later import Later, needs_torch, torch

import adamerge as am

pytestmark = [pytest.mark.filterwarnings("ignore"), needs_torch]  # other people's deprecations
engine = Later("adamerge.adapters.colpali_engine")
st = Later("adamerge.adapters.sentence_transformers")
NAMES = [
    "adamerge:k=none,c_min=0.5",
    "sem-cluster:m=4",
    "adamerge:k=0,c_min=0.5,importance=density",
]


@pytest.fixture(scope="module")
def pages():
    """Two pages of 40 and 24 patches, as tensors."""
    torch.manual_seed(0)
    made = []
    for n in (40, 24):
        rows = torch.randn(n, 16) + torch.randn(4, 16).repeat(n // 4, 1)
        made.append(torch.nn.functional.normalize(rows, dim=-1))
    return made


@pytest.mark.parametrize("name", NAMES)
def test_sentence_transformers_pools_as_the_method_compresses(pages, name):
    pooled = st.AdaMergePooling(name).pool(pages)
    for got, page in zip(pooled, pages, strict=True):
        np.testing.assert_array_equal(got.numpy(), am.compress(page, method=name).vectors)


def test_a_padded_batch_comes_back_padded(pages):
    batch = torch.nn.utils.rnn.pad_sequence(pages, batch_first=True)
    pooled = st.AdaMergePooling("sem-cluster:m=4").pool(batch)
    assert pooled.shape == (2, 10, 16)
    assert (pooled[1, 6:] == 0).all()


def test_protected_rows_and_dtypes_are_kept(pages):
    half = pages[0].half()
    pooled = st.AdaMergePooling("sem-cluster:m=4", num_protected_tokens=2).pool([half])[0]
    assert pooled.dtype == torch.float16
    assert torch.equal(pooled[:2], half[:2])
    assert len(pooled) == 2 + 10


def test_attention_that_is_given_prunes(pages):
    pooling = st.AdaMergePooling("docpruner:k=0")
    attention = torch.rand(40)
    assert torch.equal(
        pooling.pool_one(pages[0], attention=attention),
        pages[0][attention > attention.mean() + 1e-6],
    )


def test_attention_goes_along_with_protected_rows(pages):
    attention = torch.rand(40)
    pooled = st.AdaMergePooling("docpruner:k=0", num_protected_tokens=2).pool_one(
        pages[0], attention=attention
    )
    rest = st.AdaMergePooling("docpruner:k=0").pool_one(pages[0][2:], attention=attention[2:])
    assert torch.equal(pooled, torch.cat([pages[0][:2], rest]))


def test_a_pooling_in_a_pipeline_is_saved_and_loaded(tmp_path):
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Transformer

    from adamerge.encoders.minilm_weights import find_weights

    model = MultiVectorEncoder(
        modules=[Transformer(str(find_weights())), st.AdaMergePooling("sem-cluster:m=2")]
    )
    text = "late interaction keeps a vector for every word of a page"
    (pooled,) = model.encode_document([text])
    model.save(str(tmp_path / "model"))
    again = MultiVectorEncoder(str(tmp_path / "model"), trust_remote_code=True)
    assert again[-1].method == "sem-cluster:m=2"
    np.testing.assert_allclose(again.encode_document([text])[0], pooled, atol=1e-5)
    plain = MultiVectorEncoder(modules=[Transformer(str(find_weights()))])
    (full,) = plain.encode_document([text])
    assert len(pooled) == (len(full) + 1) // 2
    (per_call,) = plain.encode_document([text], token_pooling=st.AdaMergePooling("sem-cluster:m=2"))
    np.testing.assert_allclose(per_call, pooled, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("workers", [None, 2])
def test_colpali_engine_pools_as_the_method_compresses(pages, name, workers):
    out = engine.AdaMergePooler(name).pool_embeddings(pages, return_dict=True, num_workers=workers)
    for got, groups, page in zip(
        out.pooled_embeddings, out.cluster_id_to_indices, pages, strict=True
    ):
        small = am.compress(page, method=name)
        np.testing.assert_array_equal(got.numpy(), small.vectors)
        for g, (indices,) in groups.items():
            assert (small.groups[indices.numpy()] == g).all()


def test_colpali_engine_takes_attention_and_padded_batches(pages):
    attention = [torch.rand(len(p)) for p in pages]
    pooled = engine.AdaMergePooler("adamerge").pool_embeddings(pages, attention=attention)
    for got, page, a in zip(pooled, pages, attention, strict=True):
        np.testing.assert_array_equal(got.numpy(), am.compress(page, a).vectors)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("options", [{}, {"padding_side": "left"}, {"padding_side": "right"}])
def test_colpali_engine_takes_batches_padded_on_either_side(pages, side, options):
    """As the documentation calls it, without saying where the padding is, and in every other way."""
    batch = torch.nn.utils.rnn.pad_sequence(pages, batch_first=True, padding_side=side)
    out = engine.AdaMergePooler("sem-cluster:m=4").pool_embeddings(
        batch, padding=True, return_dict=True, **options
    )
    assert out.pooled_embeddings.shape == (2, 10, 16)
    for got, page in zip(out.pooled_embeddings, pages, strict=True):
        small = am.compress(page, method="sem-cluster:m=4")
        np.testing.assert_array_equal(got[got.any(dim=1)].numpy(), small.vectors)
