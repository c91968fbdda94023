"""Encrypted PDF files: one password opens them, and it is kept nowhere."""

import pytest
from cli import call
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

import adamerge as am

SECRET = "correct-horse"


@pytest.fixture
def encrypted(tmp_path):
    path = tmp_path / "files" / "secret.pdf"
    path.parent.mkdir()
    canvas = Canvas(str(path), encrypt=StandardEncryption(SECRET))
    for word in ("alpha", "beta"):
        canvas.drawString(30, 400, word)
        canvas.showPage()
    canvas.save()
    return path


def test_a_password_opens_files_in_index_encode_and_inspect_and_is_not_kept(
    encrypted, tmp_path, light_by_name
):
    out = tmp_path / "out"
    out.mkdir()
    by_light = ("--encoder", "light")
    given = ("--password", SECRET)
    index = call("index", encrypted, "--store", out / "pages.store", *by_light, *given)
    assert "2 added" in index.stdout, index.stderr
    encode = call("encode", encrypted, "-o", out / "vectors", *by_light, ADAMERGE_PASSWORD=SECRET)
    assert encode.returncode == 0, encode.stderr
    for page in (f"{encrypted}#2", f"{out}/pages.store:secret.pdf#2"):
        inspect = call("inspect", page, "-o", out / "a.html", *by_light, ADAMERGE_PASSWORD=SECRET)
        assert inspect.returncode == 0, inspect.stderr

    said = index.stdout + index.stderr + encode.stdout + encode.stderr
    assert SECRET not in said
    for file in out.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file


def test_a_missing_or_wrong_password_is_one_line_that_says_what_to_write(
    encrypted, tmp_path, light_by_name
):
    to = ("-o", tmp_path / "vectors", "--encoder", "light")
    missing = call("encode", encrypted, *to)
    assert missing.stderr == (
        f"adamerge: {encrypted} is encrypted: remove its password, or give it by --password or ADAMERGE_PASSWORD\n"
    )
    wrong = call("encode", encrypted, *to, "--password", "battery")
    assert wrong.stderr == (
        f"adamerge: {encrypted} is encrypted, and the password does not open it\n"
    )


def test_a_cluster_is_not_sent_a_password(encrypted, tmp_path):
    to = ("--store", tmp_path / "pages.store", "--ray", "local", "--password", SECRET)
    refused = call("index", encrypted, *to)
    assert "a cluster opens no encrypted files: leave out --password" in refused.stderr


def test_a_file_without_a_password_does_not_mind_one(encrypted, tmp_path):
    canvas = Canvas(str(encrypted.with_name("open.pdf")))
    canvas.drawString(30, 400, "gamma")
    canvas.save()
    pages = am.read_pages([encrypted.parent], password=SECRET)
    assert [page.id for page in pages] == ["open.pdf#1", "secret.pdf#1", "secret.pdf#2"]
