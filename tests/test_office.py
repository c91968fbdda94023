"""Office files become pages by LibreOffice, which sees nothing but the file; without it they are named."""

import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from cli import call
from light import write_pdf
from office_files import write_docx, write_odf, write_pptx
from PIL import Image
from server_store import make_store
from serving import serving
from starlette.exceptions import HTTPException

import adamerge as am
from adamerge.documents import office, other_files
from adamerge.errors import BadFile
from adamerge.server.uploads.checks import suffixes_of

needs_office = pytest.mark.skipif(
    not office.is_installed(), reason="LibreOffice is not installed: make office"
)
pytestmark = pytest.mark.xdist_group("office")

PARAGRAPH = "<text:p>{}</text:p>"
TABLE = (
    '<table:table table:name="Sums"><table:table-row><table:table-cell><text:p>{}</text:p>'
    "</table:table-cell></table:table-row></table:table>"
)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files, which has to be empty when the conversions have ended."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(office, "_conversions", office.Conversions())
    return folder


@pytest.fixture
def without_office(tmp_path, monkeypatch):
    """LibreOffice cannot be found."""
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    monkeypatch.setattr(office, "PLACES", ())


def words(pages):
    return [" ".join(word.text for word in page.words) for page in pages]


@needs_office
def test_every_kind_of_office_file_becomes_pages(tmp_path):
    write_docx(tmp_path / "a.docx", "alpha beta", "gamma delta")
    write_pptx(tmp_path / "b.pptx", "words of a slide")
    write_odf(tmp_path / "c.odt", PARAGRAPH.format("open words"))
    write_odf(tmp_path / "d.ods", TABLE.format("cell"))
    (tmp_path / "e.html").write_text("<p>first line</p><h1>title</h1>")
    (tmp_path / "-f.rtf").write_text(r"{\rtf1 rich words}")

    pages = {page.id: page for page in am.read_pages([tmp_path])}
    assert list(pages) == [
        "-f.rtf#1",
        "a.docx#1",
        "a.docx#2",
        "b.pptx#1",
        "c.odt#1",
        "d.ods#1",
        "e.html#1",
    ]
    assert words(pages.values()) == [
        "rich words",
        "alpha beta",
        "gamma delta",
        "words of a slide",
        "open words",
        "Sums Page 1 cell",
        "first line title",
    ]
    assert pages["a.docx#2"].source == "a.docx"
    assert pages["a.docx#2"].number == 2


@needs_office
def test_a_bad_file_costs_one_line_and_leaves_nothing_behind(tmp_path, temporary, monkeypatch):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 and then nothing")
    (folder / "text.odt").write_text("LibreOffice would read this as a text")
    said = []
    assert list(am.read_pages([folder], skip_bad=said.append)) == []

    monkeypatch.setattr(office, "SECONDS", 0.01)
    long = write_docx(folder / "long.docx", "alpha")
    with pytest.raises(BadFile, match=r"long\.docx took LibreOffice longer than"):
        list(am.read_pages([long]))

    broken, text = map(str, said)
    assert (
        broken == f"{folder}/broken.docx is damaged, or has a password: LibreOffice cannot read it"
    )
    assert text == f"{folder}/text.odt is damaged: it is no .odt file"
    office._conversions._folder.cleanup()
    assert list(temporary.iterdir()) == []


@needs_office
def test_a_file_is_converted_once_until_it_changes(tmp_path, temporary, monkeypatch):
    file = write_docx(tmp_path / "a.docx", "alpha")
    first = office.as_pdf(file)
    assert office.as_pdf(file) == first

    write_docx(file, "alpha", "beta")
    monkeypatch.setattr(office, "KEPT_BYTES", 0)  # only the last one is kept then
    second = office.as_pdf(file)
    assert second != first
    assert not first.exists()
    assert second.exists()
    office._conversions._folder.cleanup()


class Recorder(BaseHTTPRequestHandler):
    """Writes down what is asked of it."""

    def handle_one_request(self):
        self.server.asked.append(self.rfile.readline())


@pytest.fixture
def listener():
    """A server on this machine that nobody should ask."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@needs_office
def test_a_file_reads_no_other_file_and_calls_nobody(tmp_path, listener):
    files = tmp_path / "files"
    files.mkdir()
    picture, secret = tmp_path / "red.png", tmp_path / "secret.txt"
    Image.new("RGB", (200, 200), "red").save(picture)
    secret.write_text("SECRET")
    remote = f"http://127.0.0.1:{listener.server_port}"
    addresses = [f"{remote}/a.png", picture.as_uri(), "../red.png"]

    write_docx(files / "a.docx", "alpha", pictures=addresses, more=field(f'INCLUDETEXT "{secret}"'))
    frames = "".join(odf_picture(address) for address in addresses)
    sections = odf_section(1, secret.as_uri()) + odf_section(2, f"{remote}/b.html")
    write_odf(files / "b.odt", PARAGRAPH.format("alpha") + frames + sections)
    sheets = odf_sheet("one", secret.as_uri()) + odf_sheet("two", f"{remote}/c.csv")
    write_odf(files / "c.ods", TABLE.format("alpha") + sheets)
    images = "".join(f'<img src="{address}"><object data="{address}">' for address in addresses)
    (files / "d.html").write_text(
        f'<link rel="stylesheet" href="{remote}/d.css"><p>alpha</p>{images}'
        f'<iframe src="{secret.as_uri()}"></iframe><table background="{remote}/e.png"></table>'
    )

    pages = list(am.read_pages([files]))
    assert {page.source for page in pages} == {"a.docx", "b.odt", "c.ods", "d.html"}
    text = " ".join(words(pages))
    assert text.count("alpha") == 4
    assert "SECRET" not in text
    for page in pages:
        assert not is_red(page.image).any(), page.id
    assert listener.asked == []


def field(code):
    """A field of a DOCX."""
    part = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    return (
        f"<w:p>{part.format('begin')}<w:r><w:instrText> {code} </w:instrText></w:r>"
        f"{part.format('separate')}<w:r><w:t>old</w:t></w:r>{part.format('end')}</w:p>"
    )


def odf_picture(address):
    frame = (
        '<draw:frame svg:width="3cm" svg:height="3cm"><draw:image xlink:href="{}"/></draw:frame>'
    )
    return PARAGRAPH.format(frame.format(address))


def odf_section(number, address):
    source = f'<text:section-source xlink:href="{address}"/>'
    return f'<text:section text:name="s{number}">{source}<text:p>old</text:p></text:section>'


def odf_sheet(name, address):
    kind = 'table:filter-name="Text - txt - csv (StarCalc)"'
    source = f'<table:table-source xlink:href="{address}" {kind} table:table-name="t"/>'
    row = "<table:table-row><table:table-cell><text:p>old</text:p></table:table-cell></table:table-row>"
    return f'<table:table table:name="{name}">{source}{row}</table:table>'


def is_red(image):
    colours = np.asarray(image.convert("RGB")).astype(int)
    return (colours[..., 0] > 200) & (colours[..., 1] < 60) & (colours[..., 2] < 60)


@needs_office
def test_an_uploaded_office_file_is_found_drawn_and_given_back(tmp_path):
    store = make_store(tmp_path)
    content = write_docx(tmp_path / "said.docx", "upsilon", "zeppelin").read_bytes()
    with serving(store) as server:
        status, job = server.upload("said.docx", content)
        assert status == 202, job
        assert server.wait(job)["added"] == 2

        hit = server.json("/api/search", q="zeppelin")["hits"][0]
        assert hit["id"] == "said.docx#2"
        status, headers, picture = server.ask(server.page("picture", "said.docx#2"))
        assert (status, headers["content-type"]) == (200, "image/webp"), picture[:200]

        status, headers, original = server.ask("/file/said.docx")
        assert headers["content-disposition"].startswith("attachment")
        assert original == content

        status, refused = server.upload("page.html", b"<p>alpha</p>")
        assert status == 415
        assert "none of PDF, PNG" in refused["error"]
        status, job = server.upload("broken.docx", b"PK\x03\x04 and then nothing")
        assert server.wait(job)["error"].startswith("broken.docx is damaged, or has a password")


def test_without_libreoffice_office_files_are_named_with_the_way_to_read_them(
    tmp_path, without_office
):
    write_docx(tmp_path / "a.docx", "alpha")
    write_pdf(tmp_path / "b.pdf", ["beta"])
    assert [page.id for page in am.read_pages([tmp_path])] == ["b.pdf#1"]
    assert other_files([tmp_path]) == {".docx": 1}
    with pytest.raises(BadFile, match=r"a\.docx cannot be read: install LibreOffice \(apt install"):
        list(am.read_pages([tmp_path / "a.docx"]))
    with pytest.raises(HTTPException, match="office files need LibreOffice"):
        suffixes_of(b"PK\x03\x04", "a.docx")


def test_index_says_how_to_read_office_files(tmp_path, without_office, light_by_name):
    write_docx(tmp_path / "a.docx", "alpha")
    write_pdf(tmp_path / "b.pdf", ["beta"])
    done = call("index", tmp_path, "--store", tmp_path / "pages.store", "--encoder", "light")
    assert done.returncode == 0, done.stderr
    assert "passed over: 1 .docx" in done.stderr
    assert "to read office files too, install LibreOffice" in done.stderr


def test_a_file_that_is_no_office_file_keeps_its_name_to_itself():
    with pytest.raises(HTTPException, match="none of PDF"):
        suffixes_of(b"PK\x03\x04", "a.zip")
    assert suffixes_of(b"%PDF-1.7", "a.docx") == (".pdf",)


def test_libreoffice_is_known_by_its_program(tmp_path, monkeypatch):
    place = tmp_path / "LibreOffice" / "soffice"
    place.parent.mkdir()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(office, "PLACES", (str(place),))
    assert not office.is_installed()
    place.write_text("")
    assert office.is_installed()
    assert office._program() == str(Path(place))
