"""The command line: what it prints, what it writes, and what a stopped run leaves."""

import os
import signal
import subprocess

import numpy as np
import pytest
from cli import ADAMERGE, QUIET, call, lines, run
from conftest import random_page
from processes import ended, start_python
from vector_pages import write_in_shards
from waiting import LONG, until

import adamerge as am
from adamerge.cli.facts_in_words import bytes_in_words


@pytest.fixture
def source(tmp_path):
    pages = [random_page(30 + i, id=f"report#{i}") for i in range(5)]
    extra = np.ones((2, 16), np.float32)
    pages = [am.MultiVector(p.vectors, p.attention, extra, id=p.id) for p in pages]
    am.write_vectors(tmp_path / "pages", pages, encoder={"name": "colqwen2.5", "revision": "abc"})
    return tmp_path / "pages"


def test_compress_prints_what_was_kept_of_each_page(source, tmp_path):
    result = run(
        "compress", source, "-o", tmp_path / "small", "--method", "adamerge:k=-0.5,c_min=0.6"
    )
    assert result.returncode == 0
    assert result.stderr == ""
    title, head, *rows, total = result.stdout.splitlines()
    assert title == "adamerge:k=-0.5,c_min=0.6, float16"
    assert head.split() == [
        "page",
        "patches",
        "stored",
        "extra",
        "compression",
        "theta",
        "gap",
        "bytes",
        "before",
        "after",
    ]
    method = am.AdaMerge(k=-0.5, c_min=0.6)
    pages = list(am.read_vectors(source))
    for row, page in zip(rows, pages, strict=True):
        small = method(page)
        cells = [page.id, str(len(page)), str(len(small)), "2", f"{small.compression:.1%}"]
        cut = [f"{small.cut.theta:.3f}", f"{small.cut.gap:.3f}"]
        assert row.split() == [*cells, *cut, f"{(len(page) + 2) * 32:,}", f"{small.bytes():,}"]
    assert total.startswith("5 pages")
    for small, page in zip(am.read_compressed(tmp_path / "small"), pages, strict=True):
        np.testing.assert_array_equal(small.groups, method(page).groups)
        np.testing.assert_allclose(small.vectors, method(page).vectors, atol=2e-3)


def test_json_has_a_line_per_page_and_one_in_total(source, tmp_path):
    *pages, total = lines(
        call("compress", source, "-o", tmp_path / "s", "--method", "docpruner", "--json")
    )
    assert [p["page"] for p in pages] == [f"report#{i}" for i in range(5)]
    assert pages[0]["method"] == total["method"] == "docpruner:k=-0.25"
    assert pages[0]["theta"] is None
    assert total["total"] == 5
    for key in ("patches", "stored", "bytes_before", "bytes_after"):
        assert total[key] == sum(p[key] for p in pages)
    assert total["compression"] == pytest.approx(1 - total["stored"] / total["patches"])


def test_several_methods_make_a_folder_each(source, tmp_path):
    names = ["adamerge", "sem-cluster:m=4", "docpruner:k=0.25", "docpruner:k=-0.25"]
    result = call(
        "compress", source, "-o", tmp_path / "s", *(w for n in names for w in ("--method", n))
    )
    assert result.returncode == 0
    made = sorted(p.name for p in (tmp_path / "s").iterdir())
    assert made == [
        "adamerge@k=-0.25,c_min=0.7",
        "docpruner@k=-0.25",
        "docpruner@k=0.25",
        "sem-cluster@m=4",
    ]
    for name in made:
        method = name.replace("@", ":")
        assert {small.method for small in am.read_compressed(tmp_path / "s" / name)} == {method}


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_workers_and_dtype_change_nothing_else(source, tmp_path, workers, dtype):
    result = call("compress", source, "-o", tmp_path / "s", "--workers", workers, "--dtype", dtype)
    assert result.returncode == 0
    assert [s.id for s in am.read_compressed(tmp_path / "s")] == [f"report#{i}" for i in range(5)]
    assert lines(call("info", tmp_path / "s", "--json"))[0]["dtype"] == dtype


def test_other_peoples_files_go_in(tmp_path):
    np.savez(tmp_path / "p.npz", a=np.random.default_rng(0).normal(size=(20, 8)), b=np.eye(8))
    *pages, _ = lines(
        call(
            "compress",
            tmp_path / "p.npz",
            "-o",
            tmp_path / "s",
            "--method",
            "adamerge:k=none",
            "--json",
        )
    )
    assert [(p["page"], p["patches"]) for p in pages] == [("a", 20), ("b", 8)]


def test_a_long_table_is_cut_and_says_so(tmp_path):
    am.write_vectors(tmp_path / "v", (random_page(5, id=str(i)) for i in range(45)))
    out = call("compress", tmp_path / "v", "-o", tmp_path / "s").stdout.splitlines()
    assert len(out) == 2 + 20 + 1 + 1
    assert out[-2].startswith("45 pages")
    assert out[-1] == "(the first 20 pages; --json has all)"


def test_info_says_what_a_folder_holds_and_what_made_it(source, tmp_path):
    facts = lines(call("info", source, "--json"))[0]
    assert (facts["pages"], facts["dimensions"], facts["name"], facts["revision"]) == (
        5,
        16,
        "colqwen2.5",
        "abc",
    )
    assert facts["bytes on disk"] == sum(p.stat().st_size for p in source.iterdir())
    call("compress", source, "-o", tmp_path / "s")
    facts = lines(call("info", tmp_path / "s", "--json"))[0]
    assert (facts["method"], facts["name"]) == ("adamerge:k=-0.25,c_min=0.7", "colqwen2.5")
    assert facts["stored"] == sum(len(s) for s in am.read_compressed(tmp_path / "s"))
    assert "adamerge:k=-0.25,c_min=0.7" in call("info", tmp_path / "s").stdout
    np.savez(tmp_path / "p.npz", vectors=np.eye(8))
    facts = lines(call("info", tmp_path / "p.npz", "--json"))[0]
    assert facts == {"pages": 1, "patches": 8, "extra": 0, "dimensions": 8, "attention": False}


def test_info_is_said_in_words_and_rounded_numbers(source, tmp_path):
    call("compress", source, "-o", tmp_path / "s")
    said = dict(
        (line[:24].strip(), line[24:]) for line in call("info", tmp_path / "s").stdout.splitlines()
    )
    (facts,) = lines(call("info", tmp_path / "s", "--json"))
    assert said["encoder"] == "colqwen2.5"
    assert said["compression"] == f"{facts['compression']:.1%} of the patches are not stored"
    assert said["theta"] == f"{facts['theta']:.3g}"
    assert facts["theta"] != round(facts["theta"], 4)  # JSON has all digits
    assert said["bytes on disk"] == f"{facts['bytes on disk'] / 1000:.3g} kB"
    assert not any("{" in value for value in said.values())


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1234, "1.23 kB"),
        (56_700_000, "56.7 MB"),
        (3e12, "3 TB"),
    ],
)
def test_bytes_have_a_unit(count, words):
    assert bytes_in_words(count) == words


def test_methods_lists_every_method_with_its_defaults():
    methods = {m["method"]: m["options"] for m in lines(call("methods", "--json"))}
    assert methods["adamerge"]["c_min"] == 0.7
    assert set(methods) == {
        "identity",
        "random",
        "docpruner",
        "sem-cluster",
        "ptm",
        "ptm-attn",
        "adamerge",
        "adamerge-mean",
        "height",
    }
    text = call("methods").stdout
    assert all(name in text for name in methods)


@pytest.mark.parametrize("words", [[], ["compress"], ["info"], ["methods"]])
def test_help_shows_itself(words):
    for flag in ("-h", "--help"):
        result = call(*words, flag)
        assert result.returncode == 0
        assert "Usage: adamerge" in result.stdout


def test_wrong_usage_is_exit_code_2(source, tmp_path):
    assert run("compres").returncode == 2
    for words in (
        ["compres"],
        ["compress", source],
        ["compress", source, "-o", tmp_path / "s", "--workers", "0"],
    ):
        assert call(*words).returncode == 2


NAN = np.array([[1.0, float("nan")]])
WRONG = {
    "no such method": (
        ["--method", "docpuner"],
        None,
        "no method 'docpuner' (did you mean 'docpruner'?)",
    ),
    "no such option": (["--method", "adamerge:z=1"], None, "adamerge has no option 'z'"),
    "not finite": ([], {"vectors": NAN}, "page 'in': vectors must be finite"),
    "no attention": (
        [],
        {"vectors": np.eye(4)},
        "page 'in': pruning at k=-0.25 needs the attention",
    ),
    "second page bad": (
        ["--method", "identity"],
        {"a": np.eye(2), "b": NAN},
        "page 'b': vectors must be finite",
    ),
    "no pages": ([], {"vectors": np.ones((0, 4, 8))}, "in.npz holds no pages"),
}


@pytest.mark.parametrize(("options", "arrays", "words"), WRONG.values(), ids=WRONG)
def test_our_errors_are_one_line_and_nothing_is_written(tmp_path, options, arrays, words):
    np.savez(tmp_path / "in.npz", **(arrays or {"vectors": np.eye(4), "attention": np.ones(4)}))
    result = call("compress", tmp_path / "in.npz", "-o", tmp_path / "s", *options)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("adamerge: ")
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["in.npz"]


def test_debug_shows_where_an_error_came_from(tmp_path):
    for words in (
        ["--debug", "info", tmp_path / "nowhere"],
        ["info", tmp_path / "nowhere", "--debug"],
    ):
        result = run(*words)
        assert result.returncode == 1
        assert "Traceback" in result.stderr
        assert "NotFound" in result.stderr


def test_out_must_not_lie_inside_in(source):
    for out in (source, source / "small"):
        result = call("compress", source, "-o", out)
        assert result.returncode == 1
        assert "OUT must not be IN or lie inside it" in result.stderr
    assert len(list(am.read_vectors(source))) == 5


def test_another_input_is_not_mixed_into_a_finished_folder(source, tmp_path):
    assert call("compress", source, "-o", tmp_path / "s").returncode == 0
    encoder = {"name": "colqwen2.5", "revision": "abc"}
    am.write_vectors(
        tmp_path / "other", [random_page(9, id=f"x{i}") for i in range(9)], encoder=encoder
    )
    result = call("compress", tmp_path / "other", "-o", tmp_path / "s")
    assert result.returncode == 1
    assert "of source" in result.stderr
    assert "cannot mix in" in result.stderr


def test_an_input_that_changed_is_not_taken_for_the_one_before(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        page = random_page(30, seed=len(name) if name == "x" else 5)
        np.savez(tmp_path / name / "page.npz", vectors=page.vectors, attention=page.attention)
    assert call("compress", tmp_path / "x" / "page.npz", "-o", tmp_path / "s").returncode == 0
    result = call("compress", tmp_path / "y" / "page.npz", "-o", tmp_path / "s")
    assert result.returncode == 1
    assert "cannot mix in" in result.stderr


def test_a_reader_that_has_seen_enough_is_no_error(source, tmp_path):
    command = f"{ADAMERGE} compress {source} -o {tmp_path / 's'} --json --quiet | head -1"
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True
    )
    assert result.returncode == 0
    assert result.stderr == ""
    assert len(result.stdout.splitlines()) == 1


def test_an_empty_folder_of_vectors_has_its_facts(tmp_path):
    am.write_vectors(tmp_path / "v", [])
    assert lines(call("info", tmp_path / "v", "--json"))[0]["pages"] == 0


def test_a_finished_run_may_be_run_again(source, tmp_path):
    once, again = (call("compress", source, "-o", tmp_path / "s") for _ in range(2))
    assert once.stdout == again.stdout


# The command; told to, it waits after the first shard until somebody stops it.
WAITING = """
import os, signal
from adamerge.vectors import shards

def write_and_wait(path, *content, write=shards.write_shard):
    write(path, *content)
    signal.pause()

if "WAIT" in os.environ:
    shards.write_shard = write_and_wait
from adamerge.cli import main
main()
"""


def start_waiting(*words, **environment):
    return start_python(
        "-c",
        WAITING,
        *map(str, words),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | QUIET | environment,
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many") / "v"
    return write_in_shards(folder, (random_page(40, id=f"p{i}") for i in range(60)), 20)


@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_goes_on_and_ends_as_if_undisturbed(many, tmp_path, signal_):
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    process = start_waiting("compress", many, "-o", stopped, WAIT="1")
    with ended(process):
        until((stopped / "shard-00000.safetensors").exists, "the first shard", process)
        process.send_signal(signal_)
        err = process.communicate(timeout=LONG)[1]
    if signal_ == signal.SIGINT:
        assert process.returncode == 130, err
        assert err == "adamerge: stopped; the same command goes on from here\n"
    unfinished = call("info", stopped)
    assert unfinished.returncode == 1
    assert "is not finished (1 shards)" in unfinished.stderr
    for folder in (stopped, whole):
        process = start_waiting("compress", many, "-o", folder)
        assert process.communicate(timeout=LONG)[1] == ""
        assert process.returncode == 0
    assert [page.id for page in am.read_compressed(stopped)] == [f"p{i}" for i in range(60)]
    assert len(list(whole.glob("shard-*"))) == 3
    for file in whole.iterdir():
        assert file.read_bytes() == (stopped / file.name).read_bytes()


HALVES = '''
from dataclasses import dataclass
import adamerge as am
from adamerge.compress import cut, link, pool


@dataclass(frozen=True)
class Halves(am.Method, names={"cli-halves": {}}):
    """Merge to half of the patches."""

    def __call__(self, page):
        groups = cut.groups(link.ward(page.vectors), (len(page) + 1) // 2)
        return am.Compressed(pool.mean(page.vectors, groups), groups, method=str(self), id=page.id)
'''


def test_a_method_of_a_file_works_on_the_command_line(source, tmp_path):
    file = tmp_path / "halves.py"
    file.write_text(HALVES)
    by_it = ("--module", file, "--method", "cli-halves")
    rows = lines(run("compress", source, "-o", tmp_path / "small", *by_it, "--json"))
    assert [row["stored"] for row in rows[:-1]] == [15, 16, 16, 17, 17]
    assert (
        "cli-halves\n    Merge to half of the patches." in run("methods", "--module", file).stdout
    )
    inspected = run("inspect", f"{source}#report#0", "-o", tmp_path / "page.html", *by_it)
    assert inspected.returncode == 0, inspected.stderr


def test_a_module_that_cannot_be_read_is_one_line(source, tmp_path):
    result = run("compress", source, "-o", tmp_path / "small", "--module", tmp_path / "no.py")
    assert result.returncode == 1
    assert result.stderr == (
        f"adamerge: {tmp_path}/no.py is no file of Python: a module is a file, such as methods.py\n"
    )
    assert not (tmp_path / "small").exists()
