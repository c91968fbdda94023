"""What a person and a program see of hits: snippets, groups, equal pages, more hits, and the original at its page."""

import re
import shutil

import pytest
from light import Light, write_pdf
from playwright.sync_api import expect
from server_store import TOKEN
from serving import serving
from visiting import LOADED, visiting

import adamerge as am
from adamerge.server.reader.query_words import join_tokens
from adamerge.server.web.word_colours import word_colour

pytestmark = pytest.mark.xdist_group("results of the server")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of a book, a copy of it and a letter, and their store."""
    folder = tmp_path_factory.mktemp("results")
    pages = [f"The storm number {i} cost us a pier." for i in range(1, 13)]
    book = write_pdf(folder / "files" / "book.pdf", pages)
    shutil.copy(book, folder / "files" / "copy.pdf")
    write_pdf(folder / "files" / "sub" / "a letter.pdf", ["Dear storm, we mended the clock."])
    with am.open_store(folder / "pages.store") as store:
        how = am.Indexing(Light(), "identity")
        list(am.index_files([folder / "files"], store, how))
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with serving(folder / "pages.store", "--no-upload") as server:
        yield server


@pytest.fixture
def visit(chromium, server):
    with visiting(chromium, server) as open_page:
        yield open_page


def test_a_hit_of_the_api_has_a_rank_a_snippet_and_the_hit_that_holds_the_same_page(server):
    first, second = server.json("/api/search", q="the storm, clock.", k=2)["hits"]
    assert (first["rank"], first["source"], first["equal_to"]) == (1, "sub/a letter.pdf", "")
    assert first["snippet"]["text"] == "Dear storm, we mended the clock."
    marks = [first["snippet"]["text"][begin:end] for begin, end in first["snippet"]["marks"]]
    assert marks == ["storm", "clock"]
    assert [match["stop_word"] for match in first["matches"]] == [True, False, False]
    assert second["rank"] == 2

    hits = {hit["id"]: hit for hit in server.json("/api/search", q="storm", k=30)["hits"]}
    copies = {hit["equal_to"] for hit in hits.values() if hit["source"] == "copy.pdf"}
    assert copies == {f"book.pdf#{i}" for i in range(1, 13)}


def test_a_page_that_is_there_twice_is_shown_once_with_a_note(visit):
    page = visit("/?q=number+3+pier.&k=4")
    first = page.locator(".hit").first
    assert first.locator("mark").all_inner_texts() == ["number", "3", "pier"]
    assert first.locator(".rank").inner_text() == "1"
    first.get_by_role("link", name="copy.pdf, page 3").click()
    assert page.locator("h1").inner_text() == "copy.pdf page 3 of 12"


def test_hits_of_one_file_can_be_grouped_and_more_of_them_be_asked_for(visit):
    page = visit("/?q=storm+pier.")
    expect(page.locator(".hit")).to_have_count(10)
    page.get_by_role("link", name="Group by file").click()
    expect(page.locator(".of-file > h3")).to_have_text(["book.pdf 10 pages"])
    page.get_by_role("link", name="More pages").click()
    page.wait_for_url("**&k=20&group=1#hit-11")
    expect(page.locator(".of-file .hit")).to_have_count(12)  # the copies of eight of them are notes
    page.get_by_role("link", name="More pages").click()
    files = page.locator(".of-file > h3")
    expect(files).to_have_text(["book.pdf 12 pages", "sub/a letter.pdf 1 page"])
    assert page.get_by_role("link", name="More pages").count() == 0
    page.get_by_role("link", name="Every page by itself").click()
    expect(page.locator(".hits > .hit")).to_have_count(13)


def test_the_original_opens_at_its_page(server, folder, visit):
    page = visit("/?q=number+3")
    link = page.locator(".hit").first.get_by_role("link", name="Open the file")
    assert link.get_attribute("href") == "/file/book.pdf#page=3"

    status, headers, content = server.ask("/file/sub/a%20letter.pdf")
    assert (status, headers["content-type"]) == (200, "application/pdf")
    assert headers["content-disposition"].startswith("inline")
    assert content == (folder / "files" / "sub" / "a letter.pdf").read_bytes()
    status, headers, content = server.ask("/file/book.pdf", {"Range": "bytes=0-4"})
    assert (status, content) == (206, b"%PDF-")


@pytest.mark.parametrize(
    "name", ["nobody.pdf", "../pages.store", "%2e%2e/files/book.pdf", "/etc/passwd", "sub"]
)
def test_only_files_of_the_store_are_given_out(server, name):
    status, _, body = server.ask(f"/file/{name}")
    assert (status, b"the store has no such file" in body) == (404, True)


def test_a_file_that_has_changed_is_not_the_original(folder, server):
    path = folder / "files" / "copy.pdf"
    before = path.read_bytes()
    path.write_bytes(before + b"% more")
    status, _, body = server.ask("/file/copy.pdf")
    path.write_bytes(before)
    assert (status, b"has changed since" in body) == (404, True)


def test_the_original_needs_the_token(folder):
    with serving(folder / "pages.store", env={"ADAMERGE_TOKEN": TOKEN}) as guarded:
        assert guarded.ask("/file/book.pdf")[0] == 401
        given = {"Authorization": f"Bearer {TOKEN}"}
        assert guarded.ask("/file/book.pdf", given)[0] == 200


def test_the_picture_of_a_page_zooms_and_becomes_sharper(visit):
    page = visit("/page/book.pdf%233?q=storm")
    figure = page.locator("#figure")
    before = figure.bounding_box()["width"]
    region = page.locator(".region rect").bounding_box()["width"]
    with page.expect_response("**/picture/**full=2"):
        page.get_by_role("button", name="Larger").click()
    page.locator("#figure img[src$='full=2']").evaluate(LOADED)
    assert figure.bounding_box()["width"] == pytest.approx(1.5 * before, rel=0.02)
    assert page.locator(".region rect").bounding_box()["width"] == pytest.approx(
        1.5 * region, rel=0.1
    )
    assert page.locator("#percent").inner_text() == "150 %"
    for _ in range(3):
        page.get_by_role("button", name="Larger").click()
    assert page.get_by_role("button", name="Larger").is_disabled()
    for _ in range(4):
        page.get_by_role("button", name="Smaller").click()
    assert figure.bounding_box()["width"] == before
    assert page.get_by_role("button", name="Smaller").is_disabled()


def test_stop_words_of_a_query_are_shown_only_by_themselves(visit):
    page = visit("/page/book.pdf%233?q=The+storm")
    regions = page.locator(".region rect")
    assert [region.is_visible() for region in regions.all()] == [False, True]
    page.get_by_role("button", name="The", exact=True).click()
    assert [region.is_visible() for region in regions.all()] == [True, False]


def test_no_colour_comes_twice():
    colours = [word_colour(i) for i in range(300)]
    assert len(set(colours)) == 300
    hues = [float(re.match(r"hsl\(([\d.]+)", colour)[1]) for colour in colours[:12]]
    gaps = [min(abs(a - b), 360 - abs(a - b)) for i, a in enumerate(hues) for b in hues[:i]]
    assert min(gaps) > 15


def test_a_word_knows_its_pieces():
    words = join_tokens(["boot", "##able", "disk"])
    assert [(word.text, word.pieces) for word in words] == [
        ("bootable", ("boot", "able")),
        ("disk", ("disk",)),
    ]
