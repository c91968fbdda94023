"""A folder that is served: its store is made while people search, and kept up to date."""

import io
from contextlib import ExitStack

import pytest
from encrypted import SECRET, write_encrypted_pdf
from light import write_pdf
from PIL import Image
from playwright.sync_api import expect
from processes import stopped
from serving import serving, workers
from visiting import visiting
from waiting import until

pytestmark = pytest.mark.xdist_group("folder of the server")


def make_folder(place):
    """A folder of two PDFs, a damaged one, and a file that holds no pages."""
    folder = place / "my files"
    write_pdf(folder / "report.pdf", ["alpha beta gamma", "delta epsilon zeta"])
    write_pdf(folder / "sub" / "letter.pdf", ["omega"])
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 no more")
    (folder / "notes.txt").write_text("not a page")
    return folder


def when_done(server, **wanted):
    """The state of the folder once it is done and these of its values are as wanted."""

    def found():
        state = server.json("/api/folder")
        is_wanted = all(state[name] == value for name, value in wanted.items())
        return state if state["state"] == "done" and is_wanted else None

    return until(found, f"a folder with {wanted}", server.process)


def sources(server, query):
    return [hit["source"] for hit in server.json("/api/search", q=query)["hits"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def server(folder):
    options = ("--watch", "--encoder", "light")
    with serving(folder, *options, env={"ADAMERGE_PASSWORD": SECRET}, look_seconds=0.2) as server:
        server.first_run = when_done(server)
        yield server


@pytest.fixture
def visit(chromium, server):
    with visiting(chromium, server) as open_page:
        yield open_page


def test_the_store_of_a_folder_is_made_beside_it_and_says_what_it_left_out(folder, server):
    state = server.first_run
    assert (state["total"], state["done"], state["added"]) == (4, 4, 3)
    (skipped,) = state["skipped"]
    assert skipped.startswith("broken.pdf is damaged")
    assert state["passed_over"] == [[".txt", 1]]
    assert (folder.parent / "my files.store").is_dir()
    assert sources(server, "omega")[0] == "sub/letter.pdf"
    assert sorted(path.name for path in folder.iterdir()) == [
        "broken.pdf",
        "notes.txt",
        "report.pdf",
        "sub",
    ]


def test_the_home_page_shows_the_folder_its_files_and_something_to_try(visit):
    page = visit()
    assert "up to date" in page.locator("#progress").inner_text()
    assert "Passed over: 1 .txt" in page.locator("#progress").inner_text()
    assert set(page.locator(".shelf b").all_inner_texts()) == {"report.pdf", "sub/letter.pdf"}
    page.get_by_role("link", name="Files", exact=True).click()
    row = page.get_by_role("row").filter(has_text="report.pdf")
    assert row.get_by_role("cell").nth(1).inner_text() == "2"
    assert row.get_by_role("link", name="Remove").count() == 0
    row.get_by_role("link", name="report.pdf", exact=True).click()
    assert page.locator("h1").inner_text() == "report.pdf page 1 of 2"


def test_a_file_of_the_folder_is_removed_in_the_folder_only(server):
    status, _, body = server.ask("/api/files/report.pdf", method="DELETE")
    assert (status, b"remove it from the folder" in body) == (409, True)
    assert server.ask("/files/remove?source=report.pdf")[0] == 409


def test_a_folder_that_is_watched_is_followed(folder, server):
    added = write_pdf(folder / "new.pdf", ["sigma tau"])
    when_done(server, added=1)
    assert sources(server, "sigma")[0] == "new.pdf"
    write_pdf(added, ["upsilon"])
    when_done(server, replaced=1)
    assert server.json("/api/pages/new.pdf%231")["text"] == "upsilon"
    added.unlink()
    when_done(server, removed=1)
    assert "new.pdf" not in sources(server, "upsilon")


def test_a_password_opens_files_of_the_folder_and_none_that_people_upload(folder, server):
    file = write_encrypted_pdf(folder / "secret.pdf", ["psi", "rho"])
    content = file.read_bytes()
    when_done(server, added=2)
    assert sources(server, "psi")[0] == "secret.pdf"

    _, _, picture = server.ask(server.page("picture", "secret.pdf#1", full=1))
    with Image.open(io.BytesIO(picture)) as drawn:
        assert max(drawn.size) > 1000  # from the file: the small one has fewer pixels
    assert server.ask(server.page("inspect", "secret.pdf#1"))[0] == 200

    status, job = server.upload("other.pdf", content)
    assert status == 202
    assert "is encrypted" in server.wait(job)["error"]

    for kept in folder.parent.rglob("*"):
        assert not kept.is_file() or SECRET.encode() not in kept.read_bytes(), kept
    file.unlink()
    when_done(server, removed=2)


def test_the_page_follows_the_folder_until_it_is_done(folder, server, visit):
    with ExitStack() as held:
        for worker in workers(server):
            held.enter_context(stopped(worker))
        slow = write_pdf(folder / "slow.pdf", ["phi chi"])
        until(lambda: server.json("/api/folder")["state"] == "indexing", "a run", server.process)
        page = visit()
        expect(page.locator("#progress")).to_contain_text("Indexing my files")
    expect(page.locator("#progress")).to_contain_text("1 new")
    page.get_by_role("link", name="Show what is new").click()
    expect(page.locator(".shelf b").filter(has_text="slow.pdf")).to_have_count(1)
    slow.unlink()
    when_done(server, removed=1)


def test_a_server_that_is_started_again_encodes_nothing_anew_and_sees_what_changed(tmp_path):
    folder = make_folder(tmp_path)
    with serving(folder, "--encoder", "light") as server:
        when_done(server)
    write_pdf(folder / "later.pdf", ["sigma"])
    with serving(folder) as server:  # the store knows its encoder
        state = when_done(server)
        assert (state["unchanged"], state["added"]) == (3, 1)
        assert sources(server, "sigma")[0] == "later.pdf"


def test_the_page_shows_how_far_the_folder_is_and_a_search_of_nothing_finds_nothing(
    tmp_path, chromium
):
    folder = tmp_path / "empty"
    folder.mkdir()
    with (
        serving(folder, "--watch", "--encoder", "light", look_seconds=0.2) as server,
        visiting(chromium, server) as visit,
    ):
        assert server.json("/api/store")["pages"] == 0
        assert server.json("/api/files") == server.json("/api/search", q="alpha")["hits"] == []
        assert server.ask("/healthz")[0] == 200
        page = visit()
        expect(page.locator("#progress")).to_contain_text("holds no pages")

        status, job = server.upload("up.pdf", write_pdf(tmp_path / "up.pdf", ["rho"]).read_bytes())
        assert (status, server.wait(job)["state"]) == (202, "done")
        assert sources(server, "rho") == ["up.pdf"]
        write_pdf(folder / "first.pdf", ["alpha beta"])
        when_done(server, added=1)
        page.goto(server.url)
        assert "up to date" in page.locator("#progress").inner_text()
        assert sorted(file["source"] for file in server.json("/api/files")) == [
            "first.pdf",
            "up.pdf",
        ]
