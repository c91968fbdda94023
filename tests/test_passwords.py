"""Encrypted PDF files: one password opens them, and it is kept nowhere."""

import pytest
from cli import call
from encrypted import SECRET, write_encrypted_pdf
from light import write_pdf

import adamerge as am


@pytest.fixture
def encrypted(tmp_path):
    return write_encrypted_pdf(tmp_path / "files" / "secret.pdf", ["alpha", "beta"])


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


def test_a_plan_opens_encrypted_files_for_its_sample(tmp_path, light_by_name):
    words = [f"page{number} word{number % 7} line{number % 5}" for number in range(24)]
    file = write_encrypted_pdf(tmp_path / "many.pdf", words)
    budget = ("--encoder", "light", "--bytes-per-page", "20kB", "--dtype", "float16")
    plan = call("plan", file, *budget, "--password", SECRET)
    assert plan.stdout.startswith("24 pages, "), plan.stderr

    index = call("index", file, "--store", tmp_path / "s", *budget, ADAMERGE_PASSWORD=SECRET)
    assert "24 added" in index.stdout, index.stderr


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
    write_pdf(encrypted.with_name("open.pdf"), ["gamma"])
    pages = am.read_pages([encrypted.parent], password=SECRET)
    assert [page.id for page in pages] == ["open.pdf#1", "secret.pdf#1", "secret.pdf#2"]
