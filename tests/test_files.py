"""Files that are there whole or not at all."""

import os
import subprocess
import sys

import pytest

from adamerge import files
from adamerge.errors import BadFile, Locked


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_whole_and_nothing_else_stays(tmp_path):
    path = tmp_path / "a.json"
    files.write(path, "old")
    files.write(path, b"new")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.json"]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "a.json"
    files.write(path, "old")
    with pytest.raises(IsADirectoryError), files.replacing(path):
        tmp_path.write_text("half")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.json"]


def test_two_attempts_at_one_name_do_not_meet(tmp_path):
    path = tmp_path / "a.json"
    with files.replacing(path) as first:
        first.write_text("first")
        with files.replacing(path) as second:
            second.write_text("second")
        assert path.read_text() == "second"
        assert first.exists()  # the second did not take the first for dead
    assert path.read_text() == "first"


def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path):
    path = tmp_path / "a.json"
    code = f"""
import os, signal
from adamerge import files
with files.replacing({str(path)!r}) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    (tmp_path / ".a.json.folder.tmp").mkdir()
    assert len(names(tmp_path)) == 2
    files.write(path, "whole")
    assert names(tmp_path) == ["a.json"]


def test_a_new_attempt_that_another_process_takes_for_dead_begins_again(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    flock = files.fcntl.flock

    def another_is_quicker(holder, how):
        monkeypatch.setattr(files.fcntl, "flock", flock)
        files.remove_dead_attempts(path)
        flock(holder, how)

    monkeypatch.setattr(files.fcntl, "flock", another_is_quicker)
    with files.replacing(path) as temporary:
        temporary.write_text("whole")
        files.remove_dead_attempts(path)  # as any other process may, and this one is not dead
    assert path.read_text() == "whole"
    assert names(tmp_path) == ["a.json"]


def test_the_attempts_of_another_name_are_not_touched(tmp_path):
    other = tmp_path / ".b.json.123.tmp"
    other.write_text("mine")
    files.write(tmp_path / "a.json", "whole")
    assert other.read_text() == "mine"


def test_a_locked_folder_is_refused_until_it_is_let_go(tmp_path):
    first = files.lock_folder(tmp_path / "folder")
    with pytest.raises(
        Locked,
        match=r"another process is writing to .*folder: wait for it, or choose another folder",
    ):
        files.lock_folder(tmp_path / "folder")
    os.close(first)
    os.close(files.lock_folder(tmp_path / "folder"))


def test_a_folder_is_made_with_those_above_it(tmp_path):
    files.make_folder(tmp_path / "a" / "b")
    files.make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_a_file_is_no_folder_to_lock(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile, match="is a file, and a folder is written here"):
        files.lock_folder(tmp_path / "file")


def test_a_fingerprint_knows_names_order_and_content(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("1")
    b.write_text("2")
    all_four = {
        files.fingerprint(("a", a), ("b", b)),
        files.fingerprint(("b", b), ("a", a)),
        files.fingerprint(("a", a), ("c", b)),
        files.fingerprint(("a", a)),
    }
    assert len(all_four) == 4
    assert files.fingerprint(("a", a), ("b", b)) in all_four
