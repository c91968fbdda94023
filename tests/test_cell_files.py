"""Cells on disk: packed when a run is done, never lost, and read as they were written by any version."""

import gzip
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import byhand
import pytest
from experiment_runs import by_method, go, make_run
from processes import ended, start_python
from waiting import LONG, until

from adamerge import evaluate, files
from adamerge.errors import Damaged
from adamerge.evaluate.experiment import cell_files, read_datasets
from adamerge.evaluate.experiment.cell_files import (
    pack_cells,
    pack_path,
    read_cells,
    read_cells_of,
    write_cell,
)

UNPACKED = Path(__file__).parent / "data" / "unpacked_results.zip"
TOML = """
encoders = ["light:Light"]
datasets = ["manual"]
[[methods]]
name = "identity"
[[methods]]
name = "sem-cluster"
m = [2, 3, 4]
[[controls]]
name = ["random", "merge-page"]
of = "sem-cluster"
"""
COMMAND = ["evaluate", "run", "plan.toml", "-o", "results"]
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A book, an experiment, and a whole run of it."""
    return make_run(tmp_path_factory.mktemp("finished"), TOML)


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy")


def pack_of(folder):
    (pack,) = (folder / "results").glob("*/*.jsonl.gz")
    return pack


def loose_cells(folder):
    return list(folder.glob("results/*/*/*.json.gz"))


def unpack(folder):
    """The folder as it is while a run goes on: every cell a file of its own."""
    cells = list(read_cells(folder / "results"))
    pack_of(folder).unlink()
    for cell in cells:
        write_cell(folder / "results", cell)
    return cells


def without_times(cells):
    return {method: replace(cell, ms=0) for method, cell in cells.items()}


def test_a_finished_run_leaves_one_file_of_an_encoder_and_dataset(finished):
    made = [path for path in (finished / "results").rglob("*") if path.is_file()]
    assert set(made) == {pack_of(finished), finished / "results" / "datasets" / "manual.json.gz"}
    lines = gzip.decompress(pack_of(finished).read_bytes()).splitlines()
    assert [json.loads(line)["method"] for line in lines] == list(by_method(finished))
    assert len(lines) == 6


def test_cells_that_are_there_are_passed_over_and_the_others_made(finished, copy):
    pack = pack_of(copy)
    lines = gzip.decompress(pack.read_bytes()).splitlines()
    kept = [line for line in lines if b'"sem-cluster:m=3"' not in line]
    pack.write_bytes(gzip.compress(b"\n".join(kept)))
    done = go(copy)
    assert [line.split("\t")[2] for line in done.stdout.splitlines()] == ["sem-cluster:m=3"]
    assert without_times(by_method(copy)) == without_times(by_method(finished))
    assert go(copy).stdout == ""


WAIT_AFTER_THREE_CELLS = """
import signal
from adamerge.cli import main
from adamerge.evaluate.experiment import runner
write_cell, written = runner.write_cell, 0
def write_or_wait(folder, cell):
    global written
    if written == 3:
        signal.pause()
    written += 1
    write_cell(folder, cell)
runner.write_cell = write_or_wait
main()
"""


def test_a_run_that_was_killed_goes_on_where_it_was(finished, copy, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    shutil.rmtree(copy / "results")
    process = start_python("-c", WAIT_AFTER_THREE_CELLS, *COMMAND, cwd=copy, **QUIET)
    with ended(process):
        until(lambda: len(loose_cells(copy)) == 3, "three cells", process)
        process.kill()
        process.wait(LONG)
    assert len(by_method(copy)) == 3
    assert go(copy).stdout.count("\n") == 3
    assert without_times(by_method(copy)) == without_times(by_method(finished))
    assert not loose_cells(copy)
    assert not list(copy.glob("results/**/.*.tmp"))


def test_two_runs_may_write_the_same_cells_at_the_same_time(finished, copy, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    shutil.rmtree(copy / "results")
    runs = [start_python("-m", "adamerge", *COMMAND, cwd=copy, **QUIET) for _ in range(2)]
    with ended(runs[0]), ended(runs[1]):
        assert [process.wait(LONG) for process in runs] == [0, 0]
    assert without_times(by_method(copy)) == without_times(by_method(finished))


def test_results_of_an_earlier_version_open_and_are_packed_unchanged(tmp_path):
    old = tmp_path / "old"
    shutil.unpack_archive(UNPACKED, old)
    before = list(read_cells(old))
    assert [cell.method for cell in before] == [
        "adamerge:k=-0.25,c_min=0.7",
        "bm25",
        "identity",
        "random(adamerge:k=-0.25,c_min=0.7)",
    ]
    assert evaluate.load(old).mean("minilm", "identity") == pytest.approx(before[2].mean())
    pack_cells(old, "minilm", "r-intro")
    assert list(read_cells(old)) == before
    assert [path.name for path in (old / "minilm").iterdir()] == ["r-intro.jsonl.gz"]


def test_the_same_cells_are_the_same_bytes_in_whatever_order_they_were_made(finished, copy):
    cells = unpack(copy)
    pack_cells(copy / "results", "light:Light", "manual")
    assert pack_of(copy).read_bytes() == pack_of(finished).read_bytes()
    pack_of(copy).unlink()
    for cell in reversed(cells):
        write_cell(copy / "results", cell)
        pack_cells(copy / "results", "light:Light", "manual")
    assert pack_of(copy).read_bytes() == pack_of(finished).read_bytes()


def test_a_cell_that_is_loose_and_packed_is_one_cell(finished, copy):
    pack = pack_of(copy).read_bytes()  # a run that was killed after it packed, before it removed
    unpack(copy)
    pack_path(copy / "results", "light:Light", "manual").write_bytes(pack)
    assert list(read_cells(copy / "results")) == list(read_cells(finished / "results"))


def test_one_process_at_a_time_packs_and_the_cells_of_the_other_stay(finished, copy):
    unpack(copy)
    (folder,) = copy.glob("results/*/manual")
    holder = files.lock(folder)
    pack_cells(copy / "results", "light:Light", "manual")
    assert len(loose_cells(copy)) == 6
    assert by_method(copy) == by_method(finished)
    files.os.close(holder)


def test_a_cell_that_is_written_while_others_are_packed_is_kept(finished, copy, monkeypatch):
    cells = unpack(copy)
    loose_cells(copy)[0].unlink()
    write_lines = cell_files.write_json_lines

    def write_another_first(path, objects):
        write_lines(path, objects)
        monkeypatch.setattr(cell_files, "write_json_lines", write_lines)
        write_cell(copy / "results", replace(cells[0], method="sem-cluster:m=9"))

    monkeypatch.setattr(cell_files, "write_json_lines", write_another_first)
    pack_cells(copy / "results", "light:Light", "manual")
    assert "sem-cluster:m=9" in by_method(copy)
    assert len(by_method(copy)) == 6


def test_a_cell_is_written_though_its_folder_was_packed_away_meanwhile(finished, copy, monkeypatch):
    cells = unpack(copy)
    write_lines = cell_files.write_json_lines

    def pack_first(path, objects):
        monkeypatch.setattr(cell_files, "write_json_lines", write_lines)
        pack_cells(copy / "results", "light:Light", "manual")
        write_lines(path, objects)

    monkeypatch.setattr(cell_files, "write_json_lines", pack_first)
    write_cell(copy / "results", replace(cells[0], method="sem-cluster:m=9"))
    assert len(by_method(copy)) == 7


def test_a_reader_misses_no_cell_that_is_packed_while_it_reads(finished, copy, monkeypatch):
    unpack(copy)
    read_loose = cell_files._read_loose

    def pack_first(folder):
        monkeypatch.setattr(cell_files, "_read_loose", read_loose)
        pack_cells(copy / "results", "light:Light", "manual")
        return read_loose(folder)

    monkeypatch.setattr(cell_files, "_read_loose", pack_first)
    assert len(read_cells_of(copy / "results", "light:Light", "manual")) == 6


def test_a_damaged_file_is_named(copy):
    pack = pack_of(copy)
    whole = pack.read_bytes()
    for bad in (
        b"not gzip",
        whole[:40] + bytes(b ^ 255 for b in whole[40:80]) + whole[80:],
        gzip.compress(b"[1]"),
        gzip.compress(b""),
        gzip.compress(b'{"method": "identity"}'),
    ):
        pack.write_bytes(bad)
        with pytest.raises(Damaged, match=r"manual\.jsonl\.gz .*remove it, and run again"):
            by_method(copy)


def test_a_moved_file_is_named(copy):
    unpack(copy)
    (path,) = copy.glob("results/*/manual/identity.json.gz")
    moved = path.rename(path.with_name("identiti.json.gz"))
    with pytest.raises(
        Damaged, match="the cell of identity on manual by light:Light: it was moved"
    ):
        by_method(copy)
    moved.rename(path)
    pack_cells(copy / "results", "light:Light", "manual")
    pack_of(copy).rename(pack_of(copy).with_name("other.jsonl.gz"))
    with pytest.raises(Damaged, match="on manual by light:Light: it was moved; move it back"):
        by_method(copy)


def test_a_dataset_file_that_says_too_little_is_named(copy):
    path = copy / "results" / "datasets" / "manual.json.gz"
    path.write_bytes(gzip.compress(b'{"pages":26}'))
    with pytest.raises(Damaged, match=r"manual\.json\.gz says nothing of judgements: remove it"):
        read_datasets(copy / "results")


def test_a_folder_of_results_in_another_one_is_not_read_with_it(tmp_path):
    byhand.make(tmp_path / "inner")
    assert not list(read_cells(tmp_path))
    assert list(read_cells(tmp_path / "inner"))
