"""Words of scans: read by the real OCR, kept as those of a text layer are, each on its own letters."""

import numpy as np
import pypdfium2
import pytest
from later import Later
from light import Light
from reportlab.pdfgen.canvas import Canvas

import adamerge as am
from adamerge.encoders.ocr_fallback import prepare_page, with_words
from adamerge.errors import BadInput
from adamerge.inspector.stored_page import encode_again

pytestmark = pytest.mark.xdist_group("minilm")  # whose tests read pictures too
ocr = Later("adamerge.encoders.ocr")
TEXT = ["Will illness fill it?", "MAXIMUM wind WWW", "An iframe, mmm"]


class Reader(Light):
    """A light encoder of words, which has pages without a text layer read by OCR."""

    reads_words = True


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A page with words of narrow and wide letters, and its text layer."""
    path = tmp_path_factory.mktemp("scan") / "written.pdf"
    canvas = Canvas(str(path), pagesize=(300, 160))
    canvas.setFont("Helvetica", 18)
    for i, line in enumerate(TEXT):
        canvas.drawString(30, 120 - 40 * i, line)
    canvas.save()
    (page,) = am.read_pages([path], dpi=150)
    return page


@pytest.fixture(scope="module")
def scanned(written, tmp_path_factory):
    """The same as a picture: a PDF without a text layer."""
    path = tmp_path_factory.mktemp("scan") / "scan.pdf"
    written.image.save(path, "PDF", resolution=150)
    assert not pypdfium2.PdfDocument(path)[0].get_textpage().count_chars()
    return path


def test_the_box_of_a_word_sits_on_its_letters(written, scanned):
    (page,) = am.read_pages([scanned], dpi=150)
    read = with_words(page)
    assert [word.text for word in read.words] == [word.text for word in written.words]
    for found, known in zip(read.words, written.words, strict=True):
        letter = (known.box[2] - known.box[0]) / len(known.text)
        assert abs(found.box[0] - known.box[0]) < 0.25 * letter
        assert abs(found.box[2] - known.box[2]) < 0.25 * letter
        middle = (known.box[1] + known.box[3]) / 2
        assert found.box[1] < middle < found.box[3]


def test_a_line_is_split_at_the_widest_gaps_of_its_ink():
    strip = np.full((10, 40), 255, np.uint8)
    for begin, end in [(2, 5), (6, 9), (15, 20), (21, 24), (30, 38)]:  # letters of three words
        strip[3:7, begin:end] = 0
    assert ocr.word_spans(strip, 3) == [(2, 9), (15, 24), (30, 38)]
    assert ocr.word_spans(255 - strip, 3) == [(2, 9), (15, 24), (30, 38)]  # light on dark
    assert len(ocr.word_spans(strip, 9)) == 5
    strip[-1] = 0  # underlined
    assert ocr.word_spans(strip, 3) == [(0, 40)]
    assert ocr.word_spans(strip[:0], 3) == []


def test_words_of_a_scan_are_stored_and_a_hit_shows_them(scanned, tmp_path):
    with am.open_store(tmp_path / "store") as store:
        assert len(list(am.index_files([scanned], store, am.Indexing(Reader(), "identity")))) == 1
        (entry,) = store.get(["scan.pdf#1"])
        assert [word.text for word in entry.words] == " ".join(TEXT).split()
        (match,) = store.search("illness", 1)[0].matches
        assert match.words == ("illness",)
        vectors, page = encode_again(store, entry, Reader())  # as the page view and inspect do
        assert page.words == entry.words
        np.testing.assert_allclose(vectors.boxes, entry.page.boxes, atol=1e-3)


def test_encoders_of_pictures_do_not_wait_for_ocr(scanned):
    (page,) = am.read_pages([scanned])
    assert prepare_page(Light(), page) is page


def test_a_page_without_words_and_without_a_picture_is_refused():
    with pytest.raises(BadInput, match="page 'p' has no words, and no picture"):
        with_words(am.Page("p", None))
