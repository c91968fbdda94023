"""Files in the page and the API: listed, added many at a time, and removed after a question."""

import pytest
from light import write_pdf
from playwright.sync_api import expect
from server_store import HOSTILE, make_store
from serving import serving
from visiting import visiting
from waiting import until

pytestmark = pytest.mark.xdist_group("files of the server")
DROP = """(form, [name, bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], name));
    form.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def server(place):
    with serving(make_store(place)) as server:
        yield server


@pytest.fixture
def visit(chromium, server):
    with visiting(chromium, server) as open_page:
        yield open_page


def names(server):
    return {file["source"] for file in server.json("/api/files")}


def a_pdf(place, name, *pages):
    return write_pdf(place / "mine" / name, pages)


def test_files_are_listed_with_pages_size_time_and_metadata(server):
    files = {file["source"]: file for file in server.json("/api/files")}
    report = files["report.pdf"]
    assert (report["pages"], report["of"], report["metadata"]["year"]) == (2, 2, 2026)
    assert report["bytes"] > 0
    assert report["indexed"].startswith("20")
    assert report["links"]["page"] == "/page/report.pdf%231"


def test_a_row_of_files_is_no_higher_on_a_phone_than_two_lines(visit):
    page = visit("/files")
    page.set_viewport_size({"width": 360, "height": 900})
    row = page.get_by_role("row").filter(has_text="report.pdf")
    assert row.bounding_box()["height"] < 60


def test_several_files_are_added_at_a_time_and_one_that_is_refused_does_not_hold_up_the_rest(
    visit, server, place
):
    page = visit("/add")
    good = [a_pdf(place, f"many{i}.pdf", "kappa") for i in (1, 2)]
    bad = place / "mine" / "bad.pdf"
    bad.write_bytes(b"no")
    page.get_by_label("PDF, PNG").set_input_files([good[0], bad, good[1]])
    page.get_by_role("button", name="Add to").click()
    page.get_by_text("bad.pdf: this is none of PDF").wait_for()
    for name in ("many1.pdf", "many2.pdf"):
        page.locator(".job.done").filter(has_text=name).wait_for()
    assert {"many1.pdf", "many2.pdf"} <= names(server)
    page.wrong.clear()  # the browser writes down the refusal


def test_a_file_that_is_dropped_is_added(visit, server, place):
    page = visit("/add")
    content = list(a_pdf(place, "dropped.pdf", "lambda").read_bytes())
    page.locator("#send").evaluate(DROP, ["dropped.pdf", content])
    page.locator(".job.done").filter(has_text="dropped.pdf").wait_for()
    assert "dropped.pdf" in names(server)


def test_without_scripts_several_files_are_added_too(visit, place):
    page = visit("/add", java_script_enabled=False)
    page.get_by_label("PDF, PNG").set_input_files(
        [a_pdf(place, f"plain{i}.pdf", "mu") for i in (1, 2)]
    )
    page.get_by_role("button", name="Add to").click()
    expect(page.locator(".job").filter(has_text="plain")).to_have_count(2)


def test_a_file_is_removed_after_a_question_and_its_upload_is_deleted(visit, server, place):
    content = a_pdf(place, "gone.pdf", "nu").read_bytes()
    server.wait(server.upload("gone.pdf", content)[1])
    uploaded = place / "pages.store.uploads" / "gone.pdf"
    assert uploaded.exists()

    page = visit("/files")
    row = page.get_by_role("row").filter(has_text="gone.pdf")
    row.get_by_role("link", name="Remove").click()
    page.get_by_role("link", name="Keep it").click()
    assert "gone.pdf" in names(server)
    row.get_by_role("link", name="Remove").click()
    page.get_by_role("button", name="Remove").click()
    page.wait_for_url("**/files")
    assert page.get_by_text("gone.pdf").count() == 0
    assert "gone.pdf" not in names(server)
    assert not uploaded.exists()
    other = a_pdf(place, "other.pdf", "another nu").read_bytes()
    assert server.wait(server.upload("gone.pdf", other)[1])["state"] == "done"


def test_a_file_of_the_machine_leaves_the_store_and_stays_where_it_is(server, place):
    name = f"{HOSTILE}.pdf"
    assert name in names(server)
    status = server.ask(server.page("api/files", name), method="DELETE")[0]
    assert (status, name in names(server)) == (204, False)
    assert (place / "private-folder" / name).exists()
    status, _, body = server.ask("/api/files/repot.pdf", method="DELETE")
    assert (status, b"did you mean 'report.pdf'" in body) == (404, True)


def test_while_another_process_writes_a_file_is_not_removed(server, place):
    import adamerge as am

    content = a_pdf(place, "kept.pdf", "xi").read_bytes()
    server.wait(server.upload("kept.pdf", content)[1])
    with am.open_store(place / "pages.store") as writer:
        writer.begin_writing()
        status, headers, _ = server.ask("/api/files/kept.pdf", method="DELETE")
        assert (status, "retry-after" in headers) == (503, True)
    until(
        lambda: server.ask("/api/files/kept.pdf", method="DELETE")[0] == 204,
        "the store to be free",
    )


def test_a_server_without_uploads_removes_nothing(tmp_path):
    with serving(make_store(tmp_path), "--no-upload") as server:
        assert server.ask("/api/files/report.pdf", method="DELETE")[0] == 403
        assert b"Remove" not in server.ask("/files")[2]
