"""`make demo`: the main job in one screen, on a machine that has no torch."""

import runpy
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"
WITHOUT_TORCH = """
import runpy, sys
sys.modules |= {"torch": None, "transformers": None, "sentence_transformers": None}
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_the_demo_shows_both_indexes_side_by_side_and_a_file_to_open(tmp_path):
    command = [sys.executable, "-c", WITHOUT_TORCH, EXAMPLES / "demo.py", tmp_path / "demo"]
    shown = subprocess.check_output(command, text=True)
    lines = shown.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines[:-3])) <= 100  # the last three have paths

    (sizes,) = (line.split() for line in lines if line.startswith("bytes of vectors"))
    whole, small = (int(size.replace(",", "")) for size in sizes[3:5])
    assert 0 < small < whole
    for query, page in (("which month", 2), ("how much", 3), ("who repaired", 5)):
        (at,) = (i for i, line in enumerate(lines) if line.startswith(query))
        assert lines[at + 1].count(f"page {page} ") == 2  # the whole index and the small one

    file = tmp_path / "demo" / "inspect.html"
    assert f"open {file} in a browser" in shown
    assert "Where merging stops" in file.read_text()


def test_the_report_is_what_its_script_makes(tmp_path, monkeypatch):
    made = runpy.run_path(str(EXAMPLES / "make_report.py"))
    monkeypatch.setitem(made["main"].__globals__, "__file__", str(tmp_path / "make_report.py"))
    made["main"]()
    assert (tmp_path / "report.pdf").read_bytes() == (EXAMPLES / "report.pdf").read_bytes()
