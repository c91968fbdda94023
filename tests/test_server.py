"""The server as programs and strangers meet it: a real process, real files, real kills."""

import json
import os
import re
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest
from light import Light, write_pdf
from PIL import Image
from server_store import HOSTILE, TOKEN, make_store, pdf_of
from serving import HERE, serving
from waiting import LONG

import adamerge as am
from adamerge.store.index import Indexing, index_files


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def server(place):
    with serving(place, "--max-upload", "1MB") as server:
        yield server


@pytest.fixture(scope="module")
def guarded(place):
    with serving(place, "--no-upload", env={"ADAMERGE_TOKEN": TOKEN}) as server:
        yield server


def test_search_gives_pages_scores_and_a_match_per_word(server):
    found = server.json("/api/search", q="delta zeta", k=2)
    assert found["how"] == "exact"
    hit = found["hits"][0]
    assert (hit["id"], hit["source"], hit["number"], hit["metadata"]["year"]) == (
        "report.pdf#2",
        "report.pdf",
        2,
        2026,
    )
    assert sum(match["similarity"] for match in hit["matches"]) == pytest.approx(
        hit["score"], abs=1e-3
    )
    assert [(match["word"], match["words"]) for match in hit["matches"]] == [
        ("delta", ["delta"]),
        ("zeta", ["zeta"]),
    ]
    assert all(len(box) == 4 for match in hit["matches"] for box in match["boxes"])
    assert hit["added_by_words"] == 0
    (by_both,) = server.json("/api/search", q="delta zeta", k=1, hybrid="true")["hits"]
    assert by_both["id"] == hit["id"]
    assert by_both["score"] == pytest.approx(1.15 * hit["score"], rel=1e-3)  # it has all the words
    assert server.json("/api/search", q="delta", where="number = 1 AND year = 2026")["pages"] == 1
    assert server.json("/api/search", q="delta", where="source = 'root'")["pages"] == 0
    assert server.json(hit["links"]["json"])["matches"] == hit["matches"]


def test_a_page_tells_what_is_stored_and_has_a_picture(server):
    page = server.json(server.page("api/pages", "report.pdf#1"))
    assert (page["of"], page["patches"], page["matches"]) == (2, 3, [])
    assert page["compression"] == pytest.approx(1 - page["stored"] / 3)
    for query in ("", "?full=1"):
        status, headers, picture = server.ask(server.page("picture", "report.pdf#1") + query)
        assert (status, headers["content-type"], picture[8:12]) == (200, "image/webp", b"WEBP")


def test_a_picture_is_kept_until_its_page_is_another(tmp_path):
    store, pdf = make_store(tmp_path), tmp_path / "private-folder" / "report.pdf"

    def ask(server, query, known=""):
        status, headers, _ = server.ask(
            server.page("picture", "report.pdf#1") + query, {"If-None-Match": known}
        )
        return status, headers["etag"]

    with serving(store) as server:
        (small, full), old = (ask(server, query)[1] for query in ("", "?full=1")), pdf.read_bytes()
        assert (ask(server, "", small), ask(server, "?full=1", full)) == ((304, small), (304, full))
        pdf.unlink()
        assert ask(server, "?full=1") == (200, small)  # drawn no more
        pdf.write_bytes(old)
        assert ask(server, "?full=1", small) == (200, full)
        write_pdf(pdf, ["alpha beta gamma", "another"])
        with am.open_store(store) as opened:
            list(
                index_files(
                    [tmp_path / "private-folder"], opened, Indexing(Light(), "adamerge:k=none")
                )
            )
        assert ask(server, "", small)[0] == ask(server, "?full=1", full)[0] == 200


def test_the_pages_beside_one_are_the_next_that_the_store_has(server, tmp_path):
    job = server.wait(server.upload("gaps.pdf", pdf_of(tmp_path, "", "psi", "", "", "chi", ""))[1])
    assert (job["added"], len(job["skipped"])) == (2, 4)
    for number, beside in ((2, {"next": 5}), (5, {"prev": 2})):
        page = server.ask(server.page("page", f"gaps.pdf#{number}"))[2].decode()
        links = dict(re.findall(r'rel="(prev|next)" href="/page/gaps.pdf%23(\d)"', page))
        assert links == {way: str(to) for way, to in beside.items()}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/api/search", "type a query"),
        ("/api/search?q=%20", "type a query"),
        ("/api/search?q=a&k=0", "k is a whole number from 1 to 100"),
        ("/api/search?q=a&k=1e3", "k is a whole number"),
        ("/api/search?q=a&exact=maybe", "exact is true or false"),
        ("/api/search?q=" + "a" * 1001, "at most 1,000 letters"),
        ("/api/search?q=a%00", "NUL"),
        ("/api/search?q=a&where=nothing+%3D+1", "no column 'nothing'"),
        ("/api/search?q=a&where=%27", "is not SQL"),
    ],
)
def test_mistakes_are_400_in_words(server, path, words):
    status, _, body = server.ask(path)
    assert status == 400
    assert words in json.loads(body)["error"]


@pytest.mark.parametrize(
    "where",
    [
        "root like '/%'",
        '"ROOT" is not null',
        "/* ' */ root > 'a' /* ' */",
        "hash > 'a'",
        "repeat('a', 2000000000) = id",
    ],
)
def test_a_filter_cannot_ask_for_what_is_private(server, where):
    status, _, body = server.ask(
        "/api/search?q=a&where=" + where.replace(" ", "%20").replace("%'", "%25'")
    )
    assert status == 400
    assert "the filter" in json.loads(body)["error"]


@pytest.mark.parametrize("kind", ["api/pages", "page", "picture", "inspect"])
@pytest.mark.parametrize(
    "id", ["nothing", "../../etc/passwd", "/etc/passwd", "x' OR '1'='1", "\0", "é\ud7ff"]
)
def test_what_is_not_in_the_store_is_not_found(server, kind, id):
    assert server.ask(server.page(kind, id))[0] == 404


def test_no_way_leads_out_of_the_static_files(server):
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
    ):
        with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1]))) as line:
            line.sendall(
                f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
            )
            assert line.makefile("rb").read().split()[1] in (b"404", b"400")


def test_no_answer_names_a_folder_of_the_machine(server, place):
    id = "report.pdf#1"
    paths = [
        "/",
        "/?q=alpha",
        "/add",
        "/docs",
        "/metrics",
        "/openapi.json",
        "/api/store",
        "/api/search?q=alpha",
    ]
    paths += [server.page(kind, id, q="alpha") for kind in ("page", "api/pages", "inspect")]
    for path in paths:
        status, _, body = server.ask(path, {"Accept": "text/html"})
        assert status == 200, path
        assert b"private-folder" not in body, path
        assert str(place.parent).encode() not in body, path


def test_names_and_metadata_are_escaped(server):
    id = f"{HOSTILE}.pdf#1"
    for path in (
        "/?q=omega",
        server.page("page", id, q=HOSTILE),
        "/?q=" + HOSTILE.replace(" ", "+"),
    ):
        status, _, body = server.ask(path, {"Accept": "text/html"})
        assert status == 200
        assert HOSTILE.encode() not in body
        assert b"&lt;img src=x onerror=alert(1)&gt;" in body


def test_every_answer_carries_its_policy(server):
    for path in ("/", "/api/search?q=alpha", "/nothing", "/static/app.css", "/healthz"):
        _, headers, body = server.ask(path, {"Accept": "text/html"})
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-inline" not in policy
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == (
            "nosniff",
            "same-origin",
        )
        assert b"<script>" not in body
        assert b" style=" not in body
    _, headers, _ = server.ask(server.page("inspect", "report.pdf#1"))
    assert "script-src 'sha256-" in headers["content-security-policy"]
    assert "sandbox allow-scripts" in headers["content-security-policy"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.7:8765"])
def test_a_name_that_leads_here_from_elsewhere_is_refused(server, host):
    assert server.ask("/api/search?q=a", {"Host": host})[0] == 421
    assert server.ask("/healthz", {"Host": "localhost:1"})[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
def test_another_page_cannot_change_anything(server, tmp_path, headers):
    status, answer = server.upload("x.pdf", pdf_of(tmp_path, "alpha"), headers)
    assert (status, "another page" in answer["error"]) == (403, True)


def test_a_server_that_others_can_reach_needs_a_token(place):
    command = [
        sys.executable,
        HERE / "serving.py",
        "serve",
        place,
        "--host",
        "0.0.0.0",
        "--port",
        "0",
    ]
    for token in ("", "short"):
        run = subprocess.run(
            command, env=os.environ | {"ADAMERGE_TOKEN": token}, capture_output=True, text=True
        )
        assert run.returncode == 1
        assert "0.0.0.0 can be reached by others" in run.stderr


def test_the_token_opens_by_header_or_cookie(guarded):
    assert guarded.ask("/healthz")[0] == 200
    for path in ("/api/search?q=alpha", "/metrics", "/openapi.json", "/picture/report.pdf%231"):
        assert guarded.ask(path)[0] == 401
        assert guarded.ask(path, {"Authorization": f"Bearer {TOKEN}"})[0] == 200
    for wrong in ({"Authorization": "Bearer wrong"}, {"Cookie": "adamerge=wrong"}):
        assert guarded.ask("/metrics", wrong)[0] == 401
    status, headers, _ = guarded.ask("/", {"Accept": "text/html"})
    assert (status, headers["location"]) == (303, "/login")
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": guarded.url}
    assert guarded.ask("/login", form, b"token=wrong")[0] == 403
    assert guarded.ask("/login", form, b"token=" + b"x" * 1_000_000)[0] == 413
    status, headers, _ = guarded.ask("/login", form, f"token={TOKEN}".encode())
    cookie = headers["set-cookie"]
    assert status == 303
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert TOKEN not in cookie
    assert guarded.ask("/api/search?q=alpha", {"Cookie": cookie.split(";")[0]})[0] == 200
    assert guarded.ask("/api/search?q=alpha", {"Cookie": "adamerge=" + "0" * 64})[0] == 401


def test_many_wrong_tokens_of_an_address_are_refused_and_the_right_one_works(guarded):
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": guarded.url}
    guesses = [("/metrics", {"Authorization": f"Bearer {i}"}, None) for i in range(40)]
    guesses += [("/login", form, b"token=%d" % i) for i in range(40)]
    with ThreadPoolExecutor(80) as pool:
        asked = [pool.submit(guarded.ask, *guess) for guess in guesses]
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert all(guarded.ask("/api/search?q=alpha", right)[0] == 200 for _ in range(10))
        answers = [one.result() for one in asked]
    assert {status for status, *_ in answers} <= {401, 403, 429}
    refused = [(headers, body) for status, headers, body in answers if status == 429]
    assert len(refused) > 40
    for headers, body in refused:
        assert headers["retry-after"]
        assert "too many wrong tokens" in json.loads(body)["error"]


def test_uploads_can_be_switched_off(guarded, tmp_path):
    status, answer = guarded.upload(
        "x.pdf", pdf_of(tmp_path, "alpha"), {"Authorization": f"Bearer {TOKEN}"}
    )
    assert (status, answer["error"]) == (403, "this server takes no uploads")
    assert (
        "/api/index"
        not in json.loads(guarded.ask("/openapi.json", {"Authorization": f"Bearer {TOKEN}"})[2])[
            "paths"
        ]
    )


def test_an_uploaded_file_is_found_shown_and_inspected(server, place, tmp_path):
    status, job = server.upload("../../new.pdf", pdf_of(tmp_path, "theta iota", "kappa lambda"))
    assert (status, job["name"]) == (202, "new.pdf")
    done = server.wait(job)
    assert (done["state"], done["added"], done["done"], done["total"]) == ("done", 2, 2, 2)
    assert server.json("/api/search", q="kappa", k=1)["hits"][0]["id"] == "new.pdf#2"
    assert b"Where merging stops" in server.ask(server.page("inspect", "new.pdf#2", q="kappa"))[2]
    assert (place.parent / "pages.store.uploads" / "new.pdf").is_file()
    again = server.wait(server.upload("new.pdf", pdf_of(tmp_path, "theta iota", "kappa lambda"))[1])
    assert (again["state"], again["added"], again["unchanged"]) == ("done", 0, 2)
    other = server.wait(server.upload("report.pdf", pdf_of(tmp_path, "mu"))[1])
    assert (other["state"], "another 'report.pdf'" in other["error"]) == ("failed", True)
    assert server.json("/api/search", q="alpha", k=1)["hits"][0]["id"] == "report.pdf#1"


def test_what_is_too_large_or_no_page_is_refused(server, tmp_path):
    assert server.upload("big.pdf", b"%PDF-" + b"0" * 2_000_000)[0] == 413
    assert server.upload("page.pdf", b"MZ\x90 an executable")[0] == 415
    assert server.upload("page.pdf", b"")[0] == 415
    status, headers, body = server.ask(
        "/api/index", {"Content-Type": "multipart/form-data"}, b"nothing"
    )
    assert (status, "application/json" in headers["content-type"]) == (400, True), body


def test_a_body_that_hides_its_size_is_cut_off(server):
    with socket.create_connection(server.address, timeout=LONG) as line:
        head = "POST /api/index HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        line.sendall(f"{head}Content-Type: multipart/form-data; boundary=line\r\n\r\n".encode())
        form = (
            b'--line\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-'
        )
        line.sendall(f"{len(form):x}\r\n".encode() + form + b"\r\n")
        try:
            for _ in range(40):
                line.sendall(b"10000\r\n" + b"0" * 65536 + b"\r\n")
        except OSError:  # it hung up, as it should
            pass
        assert b" 413 " in line.recv(100)


def picture_bomb():
    """A PNG of 400 million pixels in 50 kB."""
    out = BytesIO()
    Image.new("1", (20_000, 20_000)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"%PDF-1.7\n" + os.urandom(5000), b"\x89PNG\r\n\x1a\n" + b"\0" * 99, picture_bomb()],
    ids=len,
)
def test_a_damaged_file_fails_in_words(server, content):
    job = server.wait(server.upload("damaged.pdf", content)[1])
    assert job["state"] == "failed"
    assert job["error"]
    assert "/" not in job["error"]


def test_a_page_of_too_many_pixels_is_skipped(server):
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas("", pagesize=(14_000, 14_000))
    canvas.drawString(9, 9, "huge")
    job = server.wait(server.upload("huge.pdf", canvas.getpdfdata())[1])
    assert (job["state"], "pixels is beyond" in job["error"]) == ("failed", True)


def test_metrics_count_in_the_format_of_prometheus(server):
    server.json("/api/search", q="alpha")
    text = server.ask("/metrics")[2].decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values["adamerge_searches_total"]) >= 1
    assert float(values['adamerge_search_seconds_bucket{le="+Inf"}']) == float(
        values["adamerge_searches_total"]
    )
    assert float(values["adamerge_pages"]) == server.json("/api/store")["pages"]
    assert float(values["adamerge_store_bytes"]) == server.json("/api/store")["bytes_in_all"]
    assert any(
        key.startswith('adamerge_requests_total{method="GET",route="search",status="200"}')
        for key in values
    )
