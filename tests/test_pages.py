"""Files that people have: PDFs good and bad, pictures with one frame and many."""

import io
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pypdfium2
import pytest
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from adamerge.documents import count_pages, other_files, pdf, read_pages
from adamerge.errors import BadFile, BadInput, NotFound


def make_pdf(path, pages=2, size=(300, 400), **more):
    canvas = Canvas(str(path), pagesize=size, **more)
    for i in range(pages):
        canvas.drawString(30, size[1] - 40, f"revenue of page {i + 1}")
        canvas.showPage()
    canvas.save()
    return path


def test_a_pdf_becomes_pages_with_pictures_and_words(tmp_path):
    pages = list(read_pages([make_pdf(tmp_path / "report.pdf")], dpi=144))
    assert [(p.id, p.source, p.number) for p in pages] == [
        ("report.pdf#1", "report.pdf", 1),
        ("report.pdf#2", "report.pdf", 2),
    ]
    assert pages[0].image.size == (600, 800)
    assert pages[0].image.mode == "RGB"
    assert [w.text for w in pages[1].words] == ["revenue", "of", "page", "2"]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [False, True])
def test_a_words_box_is_where_its_ink_is(tmp_path, rotation, crop):
    document = pypdfium2.PdfDocument(make_pdf(tmp_path / "a.pdf", pages=1))
    page = document[0]
    page.set_rotation(rotation)
    if crop:
        page.set_cropbox(20, 100, 250, 390)
    document.save(tmp_path / "b.pdf")
    (page,) = read_pages([tmp_path / "b.pdf"])
    ink = np.asarray(page.image.convert("L")) < 128
    height, width = ink.shape
    covered = np.zeros_like(ink)
    for word in page.words:
        left, top, right, bottom = word.box
        assert 0 <= left < right <= 1
        assert 0 <= top < bottom <= 1
        covered[
            int(top * height) : int(bottom * height) + 2, int(left * width) : int(right * width) + 2
        ] = True
    assert ink.any()
    assert covered[ink].mean() > 0.95
    assert covered.mean() < 0.1


def test_a_page_of_a_pdf_is_drawn_when_somebody_looks_and_once(tmp_path, monkeypatch):
    drawn = []
    draw = pdf.PdfFile.draw

    def counted(file, i, dpi):
        drawn.append(i)
        return draw(file, i, dpi)

    monkeypatch.setattr(pdf.PdfFile, "draw", counted)
    report = make_pdf(tmp_path / "report.pdf")
    pages = list(read_pages([report]))
    assert "drawn when it is looked at" in repr(pages[1])
    assert [word.text for word in pages[1].words] == ["revenue", "of", "page", "2"]
    assert drawn == []

    picture = pages[1].image  # its file was closed long ago
    with_more_words = replace(pages[1], words=())
    assert with_more_words.image is picture
    assert drawn == [1]

    while_open = next(read_pages([report]))
    assert np.array_equal(np.asarray(while_open.image), np.asarray(pages[0].image))
    assert not np.array_equal(np.asarray(while_open.image), np.asarray(picture))


def test_a_page_is_drawn_after_its_reader_went_to_another_folder(tmp_path, monkeypatch):
    make_pdf(tmp_path / "report.pdf", 1)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    (page,) = list(read_pages(["report.pdf"]))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert page.image.mode == "RGB"


def test_a_file_that_went_before_somebody_looked_is_named(tmp_path):
    report = make_pdf(tmp_path / "report.pdf")
    pages = list(read_pages([report]))
    make_pdf(report, 1)
    assert pages[0].image.mode == "RGB"
    with pytest.raises(BadFile, match=r"report\.pdf, page 2: "):
        pages[1].draw()
    report.unlink()
    assert pages[0].image.mode == "RGB"
    with pytest.raises(BadFile, match=r"report\.pdf is gone, and nobody had looked at page 2"):
        pages[1].draw()


def test_pages_are_drawn_by_many_threads_while_others_read(tmp_path):
    """PDFium itself would end the process now and then."""
    report = make_pdf(tmp_path / "report.pdf", pages=12)
    expected = [np.asarray(page.image) for page in read_pages([report])]

    def look(_):
        return [np.asarray(page.image) for page in list(read_pages([report]))]

    with ThreadPoolExecutor(4) as threads:
        for seen in threads.map(look, range(8)):
            assert all(map(np.array_equal, seen, expected))


def test_pictures_become_pages(tmp_path):
    for i, name in enumerate(["a.png", "b.jpg", "c.webp"]):
        Image.new("RGB" if i else "RGBA", (40 + i, 50)).save(tmp_path / name)
    frames = [Image.new("L", (30, 20 + i)) for i in range(3)]
    frames[0].save(tmp_path / "d.tiff", save_all=True, append_images=frames[1:])
    pages = list(read_pages([tmp_path]))
    assert [p.id for p in pages] == ["a.png", "b.jpg", "c.webp", "d.tiff#1", "d.tiff#2", "d.tiff#3"]
    assert [p.image.size for p in pages] == [
        (40, 50),
        (41, 50),
        (42, 50),
        (30, 20),
        (30, 21),
        (30, 22),
    ]
    assert {p.image.mode for p in pages} == {"RGB"}
    assert count_pages([tmp_path]) == 6


def test_folders_and_globs_are_read_in_order(tmp_path):
    (tmp_path / "sub").mkdir()
    make_pdf(tmp_path / "sub" / "b.pdf", 1)
    make_pdf(tmp_path / "a.pdf", 1)
    (tmp_path / "notes.txt").write_text("not a page")
    assert [p.id for p in read_pages([tmp_path])] == ["a.pdf#1", "sub/b.pdf#1"]
    assert [p.id for p in read_pages([str(tmp_path / "**" / "*.pdf")])] == [
        "a.pdf#1",
        "sub/b.pdf#1",
    ]


def test_files_of_other_kinds_are_counted_by_their_ending(tmp_path):
    make_pdf(tmp_path / "a.pdf", 1)
    for name in ("b.txt", "sub/c.TXT", "sub/d.log", ".e.txt", ".git/f.txt", "store/g.lance", "h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("not a page")
    assert other_files([tmp_path, tmp_path / "sub"], apart=tmp_path / "store") == {
        ".txt": 2,
        ".log": 1,
        "": 1,
    }
    assert other_files([tmp_path / "a.pdf"]) == {}
    assert other_files([str(tmp_path / "*.txt")]) == {".txt": 1}


def test_two_files_of_one_name_are_refused(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        make_pdf(tmp_path / name / "x.pdf", 1)
    with pytest.raises(
        BadFile, match=r"2 files would be called 'x\.pdf': give the folder that holds them all"
    ):
        list(read_pages([tmp_path / "a" / "x.pdf", tmp_path / "b" / "x.pdf"]))
    assert [p.id for p in read_pages([tmp_path / "*" / "x.pdf"])] == ["a/x.pdf#1", "b/x.pdf#1"]


def test_words_survive_hyphens_and_letters_beyond_the_first_plane(tmp_path):
    class Text:
        """A text layer: 𝒳 takes two units, and PDFium has U+FFFE for a hyphen at the end of a line."""

        units = tuple("\ud835\udcb3 hel\ufffe\r\nlo world\x02")

        def count_chars(self):
            return len(self.units)

        def get_charbox(self, i):
            return (10 * i, 380, 10 * i + 8, 390)

    document = pypdfium2.PdfDocument(make_pdf(tmp_path / "a.pdf", 1))
    text = Text()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pypdfium2.raw.FPDFText_GetUnicode", lambda t, i: ord(t.units[i]))
        words = list(pdf._words(document[0], text))
    assert [w.text for w in words] == ["𝒳", "hello", "world"]
    assert [round(300 * w.box[0]) for w in words] == [
        0,
        30,
        120,
    ]  # where each begins, in units of its own index
    assert round(300 * words[1].box[2]) == 58  # the part before the hyphen


def test_pictures_look_as_a_person_sees_them(tmp_path):
    clear = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    clear.paste((255, 0, 0, 255), (0, 0, 10, 20))
    clear.save(tmp_path / "clear.png")
    Image.fromarray(np.full((20, 20), 40_000, np.uint16)).save(tmp_path / "deep.png")
    turned = Image.new("RGB", (40, 20), "blue")
    exif = turned.getexif()
    exif[0x0112] = 6
    turned.save(tmp_path / "turned.jpg", exif=exif)
    Image.fromarray(np.full((20, 20), 0.5, np.float32)).save(tmp_path / "x.tiff")
    bad = []
    seen = {p.id: p.image for p in read_pages([tmp_path], skip_bad=bad.append)}
    assert seen["clear.png"].getpixel((15, 5)) == (255, 255, 255)
    assert seen["clear.png"].getpixel((5, 5)) == (255, 0, 0)
    assert seen["deep.png"].getpixel((5, 5)) == (156, 156, 156)
    assert seen["turned.jpg"].size == (20, 40)
    assert "x.tiff, page 1, cannot be read as an image (its numbers (mode F)" in str(bad[0])


def test_one_bad_frame_does_not_hide_the_others(tmp_path):
    frames = [Image.effect_noise((50, 50), 60 + i) for i in range(3)]
    frames[0].save(
        tmp_path / "a.tiff", save_all=True, append_images=frames[1:], compression="tiff_lzw"
    )
    with Image.open(tmp_path / "a.tiff") as file:
        file.seek(1)
        start = file.tag_v2[273][0]
    data = bytearray((tmp_path / "a.tiff").read_bytes())
    data[start : start + 400] = b"\xff" * 400
    (tmp_path / "a.tiff").write_bytes(data)
    bad = []
    assert [p.id for p in read_pages([tmp_path / "a.tiff"], skip_bad=bad.append)] == [
        "a.tiff#1",
        "a.tiff#3",
    ]
    assert "a.tiff, page 2, cannot be read" in str(bad[0])


def test_what_only_looks_like_a_file_is_passed_over(tmp_path):
    (tmp_path / "dir.pdf").mkdir()
    (tmp_path / "gone.pdf").symlink_to(tmp_path / "nowhere.pdf")
    make_pdf(tmp_path / "z.pdf", 1)
    assert [p.id for p in read_pages([tmp_path])] == ["z.pdf#1"]


def test_pages_that_are_done_are_not_read_again(tmp_path):
    pages = read_pages([make_pdf(tmp_path / "a.pdf", 3)], done={"a.pdf#1", "a.pdf#3"})
    assert [p.id for p in pages] == ["a.pdf#2"]


def encrypted(path):
    make_pdf(path, encrypt=StandardEncryption("secret"))


def bomb(path):
    """One page of 200 x 200 inches: 30,000 x 30,000 pixels."""
    make_pdf(path, 1, size=(14400, 14400))


def picture_bomb(path):
    Image.new("1", (20_000, 20_000)).save(path)


def half(path):
    buffer = io.BytesIO()
    Image.effect_noise((300, 300), 50).save(buffer, "PNG")
    path.write_bytes(buffer.getvalue()[:20_000])


BAD = {
    "secret.pdf": (
        encrypted,
        "secret.pdf is encrypted: remove its password, or give it by --password",
    ),
    "damaged.pdf": (
        lambda p: p.write_bytes(b"%PDF-1.7 and then nothing"),
        "damaged.pdf is damaged",
    ),
    "empty.pdf": (lambda p: p.write_bytes(b""), "empty.pdf is damaged"),
    "bomb.pdf": (bomb, "bomb.pdf, page 1: 30000 x 30000 pixels is beyond 64,000,000"),
    "bomb.png": (picture_bomb, "bomb.png"),
    "half.png": (half, "half.png, page 1, cannot be read as an image"),
    "text.png": (lambda p: p.write_text("hello"), "text.png cannot be read as an image"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_named_and_can_be_passed_over(tmp_path, name):
    write, words = BAD[name]
    write(tmp_path / name)
    make_pdf(tmp_path / "z.pdf", 1)
    with pytest.raises(BadFile) as caught:
        list(read_pages([tmp_path]))
    assert words in str(caught.value)
    assert count_pages([tmp_path]) == 2
    bad = []
    assert [p.id for p in read_pages([tmp_path], skip_bad=bad.append)] == ["z.pdf#1"]
    assert [str(e) for e in bad] == [str(caught.value)]


def test_what_is_not_there_is_said(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    for path, words in {
        tmp_path / "nowhere.pdf": "does not exist",
        tmp_path / "*.pdf": "holds no pages",
        tmp_path / "notes.txt": "is none of ",
        tmp_path: "holds no pages",
    }.items():
        with pytest.raises((BadFile, NotFound), match=words):
            list(read_pages([path]))


def test_memory_does_not_grow_with_the_pages(tmp_path):
    make_pdf(tmp_path / "long.pdf", 600, size=(595, 842))
    code = (
        "import sys, resource; from adamerge.documents import read_pages\n"
        "for i, p in enumerate(read_pages([sys.argv[1]], dpi=100)):\n"
        "    if i in (50, 599): print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    out = subprocess.check_output([sys.executable, "-c", code, tmp_path / "long.pdf"], text=True)
    early, late = map(int, out.split())
    assert late < 1.2 * early


def test_one_path_alone_is_not_taken_for_a_list_of_letters(tmp_path):
    with pytest.raises(BadInput, match="files come as a list"):
        next(read_pages(str(tmp_path)))
