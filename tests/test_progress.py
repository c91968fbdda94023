"""Progress that is true: pages count when they are encoded, at the speed that they are, with the name of their file."""

import os
import pty
import threading
from pathlib import Path

import pytest
from cli import ADAMERGE, call
from gated import PLACE
from light import write_pdf
from processes import ended, start
from waiting import LONG, until

from adamerge.cli import progress
from adamerge.cli.progress import Lines, Silence, Task, duration

HERE = str(Path(__file__).parent)


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_speed_and_time_left_are_of_the_pages_that_were_encoded():
    clock = Clock()
    task = Task(Silence(), "indexing", "pages", 414, clock=clock)
    task.pass_over(14)  # had not changed
    assert (task.speed, task.seconds_left, task.facts()) == (None, None, "")
    clock.now += 30  # the model is loaded
    for _ in range(4):
        task.begin("report.pdf")
        clock.now += 2
        task.advance()
    assert (task.done, task.speed, task.seconds_left) == (18, 0.5, 792)
    assert task.facts() == "0.5 pages/s, 13 min left, report.pdf"


def test_the_speed_is_that_of_the_last_minute():
    clock = Clock()
    task = Task(Silence(), "indexing", "pages", None, clock=clock)
    for seconds in [1] * 100 + [10] * 20:
        clock.now += seconds
        task.advance()
    assert task.speed == pytest.approx(0.1)
    assert task.seconds_left is None


def test_what_an_earlier_run_did_is_not_taken_for_speed():
    clock = Clock()
    task = Task(Silence(), "encoding", "pages", 100, done=90, clock=clock)
    clock.now += 5
    task.advance()
    assert (task.done, task.speed, task.seconds_left) == (91, 0.2, 45)


def test_a_log_file_gets_a_line_now_and_then(capsys):
    clock = Clock()
    task = Task(Lines(clock), "indexing", "pages", 1414, clock=clock)
    for _ in range(25):
        task.begin("sub/report.pdf")
        clock.now += 1
        task.advance()
    assert capsys.readouterr().err.splitlines() == [
        "indexing: 10 of 1,414 pages, 1 pages/s, 23 min left, sub/report.pdf",
        "indexing: 20 of 1,414 pages, 1 pages/s, 23 min left, sub/report.pdf",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (99, "99 s"), (600, "10 min"), (11_100, "3 h 5 min")]
)
def test_times_are_said_in_words(seconds, words):
    assert duration(seconds) == words


@pytest.fixture
def documents(tmp_path, monkeypatch):
    """Two files of three pages, an encoder that any process can load, and leave to encode every page."""
    write_pdf(tmp_path / "docs" / "a.pdf", ["apple pie", "apple tart"])
    write_pdf(tmp_path / "docs" / "b.pdf", ["clock repair"])
    (tmp_path / "permits").mkdir()
    monkeypatch.setenv(PLACE, str(tmp_path / "permits"))
    monkeypatch.setenv("PYTHONPATH", HERE)
    monkeypatch.syspath_prepend(HERE)
    return tmp_path / "docs"


def permit(documents, *pages):
    for page in pages:
        (documents.parent / "permits" / str(page)).touch()


@pytest.mark.parametrize("verb", ["index", "encode"])
def test_every_page_is_counted_when_it_is_encoded(documents, tmp_path, monkeypatch, verb):
    permit(documents, 1, 2, 3)
    monkeypatch.setattr(progress, "INTERVAL", 0)  # a line for every change
    out = ["--store" if verb == "index" else "-o", tmp_path / "out"]
    encoder = ["--encoder", "gated:Gated", "--batch-size", 1]
    result = call(verb, documents, *out, *encoder, ADAMERGE_QUIET="")
    assert result.returncode == 0, result.stderr
    said = [line for line in result.stderr.splitlines() if "pages" in line]
    counts = [int(line.split(": ")[1].split()[0]) for line in said]
    assert sorted(set(counts)) == [0, 1, 2, 3]
    assert counts == sorted(counts)
    assert said[-1].startswith("indexing: 3 of 3" if verb == "index" else "encoding: 3 of 3")
    assert all(line.endswith("a.pdf") for line in said if ": 1 of" in line)
    assert said[-1].endswith("b.pdf")


def test_nothing_is_said_where_nobody_wants_it(documents, tmp_path, monkeypatch):
    permit(documents, 1, 2, 3)
    monkeypatch.setattr(progress, "INTERVAL", 0)
    words = ["index", documents, "--store", tmp_path / "store", "--encoder", "gated:Gated"]
    result = call(*words, "--quiet", ADAMERGE_QUIET="")
    assert (result.returncode, result.stderr) == (0, "")


class Terminal:
    """What a person sees: everything that was written to a terminal so far."""

    def __init__(self):
        self.leader, self.follower = pty.openpty()
        self.seen = bytearray()
        self._reader = threading.Thread(target=self._read)

    def _read(self):
        try:
            while chunk := os.read(self.leader, 65536):
                self.seen += chunk
        except OSError:  # the other end is closed
            pass

    def begin(self):
        """Read from now on; a terminal that nobody reads stops who writes to it."""
        os.close(self.follower)
        self._reader.start()

    def end(self):
        self._reader.join(LONG)
        os.close(self.leader)


def test_a_terminal_shows_pages_as_they_are_encoded_and_stdout_has_the_data(documents, tmp_path):
    """The run cannot go on to page 3 before two pages were seen on the terminal."""
    words = ["index", documents, "--store", tmp_path / "store", "--encoder", "gated:Gated"]
    terminal = Terminal()
    with open(tmp_path / "stdout", "w") as out:
        process = start(
            [ADAMERGE, *words, "--batch-size", 1, "--json"],
            stdout=out,
            stderr=terminal.follower,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
        )
    terminal.begin()
    with ended(process):
        until(lambda: b"0/3" in terminal.seen, "no bar before the first page", process)
        permit(documents, 1, 2)
        until(lambda: b"2/3" in terminal.seen, "two pages were encoded", process)
        assert b"3/3" not in terminal.seen
        permit(documents, 3)
        assert process.wait(LONG) == 0
    terminal.end()
    assert b"3/3" in terminal.seen
    assert b"pages/s" in terminal.seen
    assert b"a.pdf" in terminal.seen
    assert len((tmp_path / "stdout").read_text().splitlines()) == 3
    assert b'"did"' not in terminal.seen
