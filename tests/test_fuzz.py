"""The short run of every fuzz target: as many inputs on every machine, the examples and kept findings among them."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from waiting import LONG

from fuzz.driver import Limits, run_target, save_findings
from fuzz.target import CORPUS, EXAMPLES, load_target
from fuzz.targets import TARGETS

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", TARGETS)
def test_hostile_input_ends_in_one_line(name, tmp_path):
    target = load_target(TARGETS[name])
    inputs = len(target.examples()) + target.short_run
    tally = run_target(TARGETS[name], seed=0, limits=Limits(inputs=inputs, hang=LONG))
    save_findings(tally, tmp_path)
    assert tally.inputs == inputs
    assert not tally.findings, "\n".join(path.read_text() for path in tmp_path.glob("*.txt"))


def test_a_campaign_notices_every_kind_of_fault_and_keeps_its_input(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    tally = run_target(
        "faulty_target:TARGET", seed=3, limits=Limits(inputs=20, hang=10, memory=128 << 20)
    )
    save_findings(tally, tmp_path)
    assert tally.inputs == 20
    kept = {path.name.split("-")[0]: path.read_bytes() for path in tmp_path.glob("*.input")}
    assert kept == {
        "exception": b"raw",
        "message": b"two lines",
        "crash": b"crash",
        "hang": b"hang",
        "memory": b"memory",
    }


def test_everything_in_the_corpus_is_an_example_of_a_target():
    examples = [data for place in TARGETS.values() for data in load_target(place).examples()]
    for lines in CORPUS.glob("*.txt"):
        assert set(lines.read_bytes().splitlines()) <= set(examples)
    for found in CORPUS.glob("*/*"):
        assert found.read_bytes() in examples
    with ZipFile(EXAMPLES) as archive:
        assert all(archive.read(name) in examples for name in archive.namelist())


def test_an_input_is_made_again_from_its_seed_and_number():
    for place in TARGETS.values():
        target = load_target(place)
        examples = target.examples()
        made = [target.make_input(examples, 7, number) for number in range(len(examples), 200)]
        assert made == [
            target.make_input(examples, 7, number) for number in range(len(examples), 200)
        ]
        assert len(set(made)) > len(made) / 2


def test_an_input_is_tried_again_from_a_file(tmp_path):
    (tmp_path / "name").write_text("adamerge:k=x")
    command = [sys.executable, "-m", "fuzz", "methods", tmp_path / "name"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout == "no finding\n"
