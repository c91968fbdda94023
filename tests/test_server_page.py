"""The search page in a real browser, as people use it: type, open, add a file, by mouse and by keyboard."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import PATIENCE
from light import write_pdf
from processes import stopped
from server_store import HOSTILE, TOKEN, make_store
from serving import serving, workers
from visiting import LOADED, visiting

GROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(make_store(tmp_path_factory.mktemp("shown"))) as server:
        yield server


@pytest.fixture
def visit(chromium, server):
    with visiting(chromium, server) as open_page:
        yield open_page


def test_a_person_types_a_query_and_opens_the_first_hit(visit):
    page = visit()
    page.locator("#q:focus").wait_for()  # the box gets the focus when the page is first drawn
    page.keyboard.type("delta zeta")
    page.keyboard.press("Enter")
    first = page.locator(".hit").first
    assert "3 pages for" in page.locator("#found-title").inner_text()
    assert first.locator("h3").inner_text() == "report.pdf"
    assert "Page 2" in first.inner_text()
    assert {"delta", "zeta"} <= set(first.locator("mark").all_inner_texts())
    first.locator(".thumb img").evaluate(LOADED)
    first.get_by_role("link", name="report.pdf", exact=True).click()
    assert page.locator("h1").inner_text() == "report.pdf page 2 of 2"
    assert page.locator(".region rect").count() == 2
    shown, picture = (
        page.locator(".region rect").first.bounding_box(),
        page.locator("#figure").bounding_box(),
    )
    assert shown["width"] > 5
    assert picture["x"] < shown["x"] < picture["x"] + picture["width"]
    page.locator("#figure img").evaluate(LOADED)
    assert (
        page.locator("#figure img").evaluate("img => img.naturalWidth") > 512
    )  # drawn from the file


def test_a_word_shows_its_region_alone(visit):
    page = visit("/page/report.pdf%232?q=delta+zeta")
    button = page.get_by_role("button", name="zeta")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert [region.is_visible() for region in page.locator(".region rect").all()] == [False, True]
    button.click()
    page.mouse.move(0, 0)
    assert [region.is_visible() for region in page.locator(".region rect").all()] == [True, True]
    page.get_by_role("link", name="Previous page").click()
    assert page.locator("h1").inner_text() == "report.pdf page 1 of 2"


def test_the_inspector_of_a_page_opens(visit):
    page = visit("/page/report.pdf%232?q=delta+zeta")
    page.get_by_role("link", name="Inspect this page").click()
    assert page.locator("#count").inner_text() == "3"
    assert page.locator("#query").inner_text() == "delta zeta"
    assert page.evaluate("origin") == "null"
    page.get_by_role("button", name="Dark theme").click()
    page.get_by_role("link", name="Back to the page").click()
    assert page.locator("h1").inner_text() == "report.pdf page 2 of 2"


def test_a_filter_stays_on_the_way_to_a_page_and_back(visit):
    page = visit("/?q=delta&where=number+%3D+2")
    page.locator(".hit h3 a").first.click()
    page.get_by_role("link", name="Previous page").click()
    page.get_by_label("Query").fill("alpha")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="Inspect this page").click()
    page.get_by_role("link", name="Back to the page").click()
    page.get_by_role("link", name="Hits for “alpha”").click()
    assert page.get_by_label("Only pages for which").input_value() == "number = 2"
    assert "1 page for" in page.locator("#found-title").inner_text()


def test_what_becomes_of_a_file_is_said_once_and_nothing_else_moves(visit, server, tmp_path):
    server.wait(
        server.upload("warm.pdf", write_pdf(tmp_path / "warm.pdf", ["rho"]).read_bytes())[1]
    )
    page = visit("/add")
    page.evaluate("""() => {
        [window.moved, window.said] = [0, []];
        const told = document.getElementById("sending");
        new MutationObserver(() => window.moved++).observe(document.getElementById("jobs"), {childList: true});
        new MutationObserver(() => window.said.push(told.textContent)).observe(told, {childList: true});
    }""")
    with stopped(workers(server)[-1]):
        page.get_by_label("PDF, PNG").set_input_files(write_pdf(tmp_path / "said.pdf", ["phi chi"]))
        page.get_by_role("button", name="Add to").click()
        page.locator(".job.indexing").filter(has_text="said.pdf").wait_for()
        before = page.evaluate("moved")
        for _ in range(3):  # the list is asked for again, and has not changed
            with page.expect_response("**/add/jobs"):
                pass
        assert page.evaluate("moved") == before
    page.locator(".job.done").filter(has_text="said.pdf").wait_for()
    assert page.locator("[aria-live]").count() == 0
    said = [text for text in page.evaluate("said") if not text.startswith("Sending")]
    assert said == ["said.pdf has arrived.", "said.pdf done 1 added, 0 unchanged, 0 skipped"]


def test_a_pdf_is_added_and_found(visit, tmp_path):
    page = visit("/add")
    page.get_by_label("PDF, PNG").set_input_files(
        write_pdf(tmp_path / "fresh.pdf", ["theta iota", "kappa mu"])
    )
    page.get_by_role("button", name="Add to").click()
    job = page.locator(".job").filter(has_text="fresh.pdf")
    job.filter(has_text="2 added").wait_for()
    assert job.locator(".state-word").inner_text() == "done"
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Search the pages").fill("kappa")
    page.get_by_role("button", name="Search").click()
    assert page.locator(".hit h3").first.inner_text() == "fresh.pdf"
    page.get_by_role("link", name="Add files").click()
    page.get_by_label("PDF, PNG").set_input_files(
        {"name": "no.pdf", "mimeType": "application/pdf", "buffer": b"no"}
    )
    page.get_by_role("button", name="Add to").click()
    page.get_by_text("no.pdf: this is none of PDF").wait_for()
    page.wrong.clear()  # the browser writes down the refusal


def test_it_works_without_scripts(visit, tmp_path):
    page = visit("/add", java_script_enabled=False)
    page.get_by_label("PDF, PNG").set_input_files(write_pdf(tmp_path / "plain.pdf", ["sigma tau"]))
    page.get_by_role("button", name="Add to").click()
    assert page.locator(".job").filter(has_text="plain.pdf").count() == 1
    page.goto(page.url.replace("/add", "/page/report.pdf%231?q=alpha"))
    assert page.locator(".region rect").count() == 1


def test_the_theme_follows_the_system_and_the_button_and_stays(visit):
    light, dark = visit(), visit(dark=True)
    bright, night = light.evaluate(GROUND), dark.evaluate(GROUND)
    assert bright != night
    light.get_by_role("button", name="Dark theme").click()
    assert light.evaluate(GROUND) == night
    light.reload()
    assert light.evaluate(GROUND) == night
    light.get_by_role("button", name="Light theme").click()
    assert light.evaluate(GROUND) == bright


def test_the_tab_key_reaches_everything_in_order(visit):
    page = visit("/?q=delta")
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("(at => at.id || at.textContent.trim())(document.activeElement)")
        )
    wanted = [
        "Skip to content",
        f"adamerge {'pages.store'}",
        "Search",
        "Files",
        "Add files",
        "API",
        "theme",
        "q",
        "Search",
    ]
    hit = page.locator(".hit h3").first.inner_text()
    assert reached == [*wanted, "Options", "Group by file", hit]
    page.keyboard.press("Enter")
    page.wait_for_url("**/page/**")


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(visit, server, dark):
    paths = [
        "/",
        "/?q=delta+zeta&where=number+%3E+0",
        "/?q=delta+zeta&group=1",
        "/page/report.pdf%232?q=delta+zeta",
        "/files",
        "/files/remove?source=report.pdf",
        "/add",
        "/docs",
        "/login",
    ]
    page = visit(dark=dark)
    for path in paths:
        page.goto(server.url + path)
        found = Axe().run(page).response["violations"]
        assert [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found] == [], path


@pytest.mark.parametrize("width", [360, 768, 2560])
def test_no_width_scrolls_sideways(visit, server, width):
    long = "a-very-long-word-without-any-space-" * 4
    page = visit(width=width)
    for path in (
        "/",
        f"/?q={long}",
        f"/page/report.pdf%232?q={long}+zeta",
        "/files",
        "/add",
        "/docs",
    ):
        page.goto(server.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_hostile_names_are_text(visit):
    page = visit("/?q=omega")
    assert page.locator(".hit h3").first.inner_text() == f"{HOSTILE}.pdf"
    page.locator(".hit h3 a").first.click()
    assert page.locator("h1").inner_text().startswith(f"{HOSTILE}.pdf")
    assert page.locator("img[src=x]").count() == 0


def test_a_filter_that_is_wrong_is_told_beside_the_box(visit):
    page = visit("/?q=delta&where=nothing+%3D+1")
    assert "no column 'nothing'" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("Only pages for which").input_value() == "nothing = 1"
    page.wrong.clear()


def test_a_browser_gives_the_token_once(chromium, tmp_path):
    with serving(make_store(tmp_path), env={"ADAMERGE_TOKEN": TOKEN}) as guarded:
        page = chromium.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(guarded.url)
        page.get_by_label("The token that the server was started with").fill(TOKEN)
        page.get_by_role("button", name="Enter").click()
        page.get_by_label("Search the pages").fill("alpha")
        page.keyboard.press("Enter")
        assert page.locator(".hit h3").first.inner_text() == "report.pdf"
        assert page.evaluate("document.cookie") == ""
        page.locator(".hit h3 a").first.click()
        page.get_by_role("link", name="Inspect this page").click()
        page.get_by_role("link", name="Back to the page").click()  # from an origin of nobody's
        assert page.locator("h1").inner_text() == "report.pdf page 1 of 2"
        page.close()
