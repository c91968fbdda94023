"""The laptop's encoder: true vectors of true words."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from later import needs_torch, torch
from PIL import Image, ImageDraw, ImageFont
from reportlab.pdfgen.canvas import Canvas

import adamerge as am
from adamerge.documents import read_pages
from adamerge.encoders import load_encoder, minilm
from adamerge.encoders.batches import encode_in_batches
from adamerge.encoders.minilm_weights import find_weights
from adamerge.encoders.ocr_fallback import with_words
from adamerge.errors import BadInput
from adamerge.types import Page, Word

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # other people's deprecations
    pytest.mark.xdist_group("minilm"),  # one model is loaded, once
]
SAMPLE = Path(__file__).parent.parent / "examples" / "sample.pdf"


@pytest.fixture(scope="module")
def encoder():
    return load_encoder("minilm")


def best_page(encoder, pages, query):
    """The number of the page that MaxSim finds."""
    (vectors,) = encoder.encode_queries([query])
    scores = [(vectors @ page.T).max(axis=1).sum() for page in pages]
    return 1 + int(np.argmax(scores))


def test_the_sample_is_what_its_pdf_encodes_to(encoder):
    made = encoder.encode_pages(list(read_pages([SAMPLE])))
    for page, kept in zip(made, am.read_vectors(SAMPLE.with_suffix("")), strict=True):
        assert page.id == kept.id
        np.testing.assert_allclose(page.vectors, kept.vectors, atol=2e-3)
        np.testing.assert_allclose(page.attention, kept.attention, rtol=2e-3, atol=1e-4)
        np.testing.assert_allclose(page.boxes, kept.boxes, atol=1e-4)


@pytest.mark.parametrize("method", ["identity", "adamerge:k=none,c_min=0.6,unit=true"])
def test_a_question_finds_its_page_before_and_after_compression(encoder, method):
    pages = [am.compress(p, method=method).vectors for p in am.read_vectors(SAMPLE.with_suffix(""))]
    assert best_page(encoder, pages, "how much disk space does a page need") == 1
    assert best_page(encoder, pages, "drop patches below a threshold of attention") == 2
    assert best_page(encoder, pages, "where is the tree of joins cut") == 3
    assert best_page(encoder, pages, "weighted mean of a group") == 4


def test_any_number_of_threads_search_by_text(encoder, tmp_path):
    texts = [
        "how much disk space does a page need",
        "drop patches below a threshold of attention",
        "where is the tree of joins cut",
        "weighted mean of a group",
    ]
    pages = am.read_vectors(SAMPLE.with_suffix(""))
    with am.open_store(tmp_path / "store", encoder=encoder) as store:
        store.add(am.compress(page, method="identity") for page in pages)
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(store.search, texts * 5))
    assert [hits[0].number for hits in found] == [1, 2, 3, 4] * 5


def test_every_vector_of_a_query_has_its_token(encoder):
    (tokens,) = encoder.query_tokens(["unbelievable revenue?"])
    assert tokens == ["unbelievable", "revenue", "?"]
    assert len(encoder.encode_queries(["unbelievable revenue?"])[0]) == 3


def test_queries_encoded_together_are_what_each_is_alone(encoder):
    texts = ["one", "a longer query of several words", "many " * 300, "loss?"] * 3
    for text, vectors in zip(texts, encoder.encode_queries(texts), strict=True):
        np.testing.assert_allclose(vectors, encoder.encode_queries([text])[0], atol=1e-5)
    assert encoder.encode_queries([]) == []


def test_every_patch_has_the_box_of_its_word(encoder):
    words = tuple(
        Word(w, (i / 10, 0, (i + 1) / 10, 1))
        for i, w in enumerate(["unbelievable", "otorhinolaryngology", "x"])
    )
    (page,) = encoder.encode_pages([Page("p", None, words)])
    words_of = (10 * page.boxes[:, 0]).round().astype(int).tolist()
    assert sorted(set(words_of)) == [0, 1, 2]
    assert words_of == sorted(words_of)
    assert words_of.count(1) > 3
    np.testing.assert_allclose(np.linalg.norm(page.vectors, axis=1), 1, rtol=1e-5)


@needs_torch
def test_vectors_and_attention_are_those_of_transformers(encoder):
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(find_weights(), attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(find_weights())
    long = ("the quick brown fox jumps over the lazy dog " * 60).split()
    pages = [*read_pages([SAMPLE]), Page("long", None, tuple(Word(w, (0, 0, 1, 1)) for w in long))]
    for page, made in zip(pages, encoder.encode_pages(pages), strict=True):
        texts = [word.text for word in page.words]
        ids = tokenizer(texts, is_split_into_words=True, add_special_tokens=False)["input_ids"]
        assert len(ids) == len(made)
        for start in range(0, len(ids), minilm.WINDOW):
            window = ids[start : start + minilm.WINDOW]
            inputs = torch.tensor([[tokenizer.cls_token_id, *window, tokenizer.sep_token_id]])
            with torch.no_grad():
                out = model(inputs, output_attentions=True)
            vectors = torch.nn.functional.normalize(out.last_hidden_state[0], dim=-1)[1:-1]
            received = out.attentions[-1][0].mean(0).sum(0)[1:-1]
            rows = slice(start, start + len(window))
            np.testing.assert_allclose(made.vectors[rows], vectors, atol=1e-5)
            np.testing.assert_allclose(made.attention[rows], received, atol=1e-4)


def test_any_number_of_threads_may_ask_and_each_gets_what_it_would_get_alone(encoder):
    texts = [f"question number {i} about revenue" for i in range(40)]
    alone = [encoder.encode_queries([text])[0] for text in texts]
    with ThreadPoolExecutor(8) as pool:
        beside = list(pool.map(lambda text: encoder.encode_queries([text])[0], texts))
    for one, other in zip(alone, beside, strict=True):
        np.testing.assert_array_equal(one, other)


def test_pages_are_the_same_whatever_the_number_of_threads(encoder):
    pages = list(read_pages([SAMPLE]))
    one_thread = load_encoder("minilm", threads=1).encode_pages(pages)
    for one, other in zip(encoder.encode_pages(pages), one_thread, strict=True):
        np.testing.assert_array_equal(one.vectors, other.vectors)
        np.testing.assert_array_equal(one.attention, other.attention)


def test_it_needs_neither_torch_nor_transformers():
    code = """
import sys
sys.modules |= {"torch": None, "transformers": None}
import adamerge as am
print(am.load_encoder("minilm").encode_queries(["revenue by region"])[0].shape)
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "(3, 384)"


def test_a_page_without_a_text_layer_is_read_by_its_picture(encoder):
    image = Image.new("RGB", (900, 300), "white")
    font = ImageFont.load_default(size=48)
    ImageDraw.Draw(image).text((40, 40), "quarterly revenue", fill="black", font=font)
    page = with_words(Page("scan", image))
    assert [word.text.lower() for word in page.words] == ["quarterly", "revenue"]
    (read,) = encoder.encode_pages([Page("scan", image)])
    np.testing.assert_array_equal(read.boxes, encoder.encode_pages([page])[0].boxes)


def test_a_page_that_ocr_cannot_take_is_named_and_spoils_no_other(encoder, tmp_path):
    canvas = Canvas(str(tmp_path / "thin.pdf"))
    for size, text in (((300, 200), "profit"), ((14400, 0.5), ""), ((300, 200), "loss")):
        canvas.setPageSize(size)
        canvas.drawString(20, 100, text)
        canvas.showPage()
    canvas.save()
    bad = []

    def read(report):
        return read_pages([tmp_path / "thin.pdf"], skip_bad=report)

    (encoded,) = encode_in_batches(encoder, read, 4, skip_bad=bad.append)
    assert [page.id for page, _ in encoded] == ["thin.pdf#1", "thin.pdf#3"]
    assert [str(error) for error in bad] == [
        "page 'thin.pdf#2' has no text layer, and OCR cannot read its picture of 30001 x 2 pixels"
    ]


def test_a_blank_page_is_refused_by_name(encoder, tmp_path):
    canvas = Canvas(str(tmp_path / "blank.pdf"))
    canvas.showPage()
    canvas.save()
    with pytest.raises(BadInput, match=r"page 'blank\.pdf#1' has no words"):
        encoder.encode_pages(list(read_pages([tmp_path / "blank.pdf"])))
    with pytest.raises(BadInput, match="page 'p' has no words"):
        encoder.encode_pages([Page("p", None, (Word("\u200b", (0, 0, 1, 1)),))])
    with pytest.raises(BadInput, match="a query needs words"):
        encoder.encode_queries([" "])


def test_a_device_that_is_not_here_is_refused():
    with pytest.raises(BadInput, match=r"minilm runs on the processor: .* got 'cuda'"):
        load_encoder("minilm", device="cuda")
