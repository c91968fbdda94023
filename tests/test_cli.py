"""The command line, as a person runs it: real processes, real files."""

import os
import pty
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from cli import ADAMERGE, lines, run
from conftest import random_page

import adamerge as am


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
        run("compress", source, "-o", tmp_path / "s", "--method", "docpruner", "--json")
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
    result = run(
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
    result = run("compress", source, "-o", tmp_path / "s", "--workers", workers, "--dtype", dtype)
    assert result.returncode == 0
    assert [s.id for s in am.read_compressed(tmp_path / "s")] == [f"report#{i}" for i in range(5)]
    assert lines(run("info", tmp_path / "s", "--json"))[0]["dtype"] == dtype


def test_other_peoples_files_go_in(tmp_path):
    np.savez(tmp_path / "p.npz", a=np.random.default_rng(0).normal(size=(20, 8)), b=np.eye(8))
    *pages, _ = lines(
        run(
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
    out = run("compress", tmp_path / "v", "-o", tmp_path / "s").stdout.splitlines()
    assert len(out) == 2 + 20 + 1 + 1
    assert out[-2].startswith("45 pages")
    assert out[-1] == "(the first 20 pages; --json has all)"


def test_info_says_what_a_folder_holds_and_what_made_it(source, tmp_path):
    facts = lines(run("info", source, "--json"))[0]
    assert (facts["pages"], facts["dimensions"], facts["name"], facts["revision"]) == (
        5,
        16,
        "colqwen2.5",
        "abc",
    )
    assert facts["bytes on disk"] == sum(p.stat().st_size for p in source.iterdir())
    run("compress", source, "-o", tmp_path / "s")
    facts = lines(run("info", tmp_path / "s", "--json"))[0]
    assert (facts["method"], facts["name"]) == ("adamerge:k=-0.25,c_min=0.7", "colqwen2.5")
    assert facts["stored"] == sum(len(s) for s in am.read_compressed(tmp_path / "s"))
    assert "adamerge:k=-0.25,c_min=0.7" in run("info", tmp_path / "s").stdout
    np.savez(tmp_path / "p.npz", vectors=np.eye(8))
    facts = lines(run("info", tmp_path / "p.npz", "--json"))[0]
    assert facts == {"pages": 1, "patches": 8, "extra": 0, "dimensions": 8, "attention": False}


def test_methods_lists_every_method_with_its_defaults():
    methods = {m["method"]: m["options"] for m in lines(run("methods", "--json"))}
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
    }
    text = run("methods").stdout
    assert all(name in text for name in methods)


@pytest.mark.parametrize("words", [[], ["compress"], ["info"], ["methods"]])
def test_help_shows_itself(words):
    for flag in ("-h", "--help"):
        result = run(*words, flag)
        assert result.returncode == 0
        assert "Usage: adamerge" in result.stdout


def test_wrong_usage_is_exit_code_2(source, tmp_path):
    for words in (
        ["compres"],
        ["compress", source],
        ["compress", source, "-o", tmp_path / "s", "--workers", "0"],
    ):
        assert run(*words).returncode == 2


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
    result = run("compress", tmp_path / "in.npz", "-o", tmp_path / "s", *options)
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
        result = run("compress", source, "-o", out)
        assert result.returncode == 1
        assert "OUT must not be IN or lie inside it" in result.stderr
    assert len(list(am.read_vectors(source))) == 5


def test_another_input_is_not_mixed_into_a_finished_folder(source, tmp_path):
    assert run("compress", source, "-o", tmp_path / "s").returncode == 0
    encoder = {"name": "colqwen2.5", "revision": "abc"}
    am.write_vectors(
        tmp_path / "other", [random_page(9, id=f"x{i}") for i in range(9)], encoder=encoder
    )
    result = run("compress", tmp_path / "other", "-o", tmp_path / "s")
    assert result.returncode == 1
    assert "of source" in result.stderr
    assert "cannot mix in" in result.stderr


def test_an_input_that_changed_is_not_taken_for_the_one_before(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        page = random_page(30, seed=len(name) if name == "x" else 5)
        np.savez(tmp_path / name / "page.npz", vectors=page.vectors, attention=page.attention)
    assert run("compress", tmp_path / "x" / "page.npz", "-o", tmp_path / "s").returncode == 0
    result = run("compress", tmp_path / "y" / "page.npz", "-o", tmp_path / "s")
    assert result.returncode == 1
    assert "cannot mix in" in result.stderr


def test_a_reader_that_has_seen_enough_is_no_error(source, tmp_path):
    command = f"{ADAMERGE} compress {source} -o {tmp_path / 's'} --json | head -1"
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True
    )
    assert result.returncode == 0
    assert result.stderr == ""
    assert len(result.stdout.splitlines()) == 1


def test_an_empty_folder_of_vectors_has_its_facts(tmp_path):
    am.write_vectors(tmp_path / "v", [])
    assert lines(run("info", tmp_path / "v", "--json"))[0]["pages"] == 0


def test_a_finished_run_may_be_run_again(source, tmp_path):
    once, again = (run("compress", source, "-o", tmp_path / "s") for _ in range(2))
    assert once.stdout == again.stdout


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many") / "v"
    rng = np.random.default_rng(0)
    am.write_vectors(
        folder,
        (
            am.MultiVector(rng.normal(size=(400, 128)), rng.random(400), id=f"p{i}")
            for i in range(1500)
        ),
    )
    return folder


@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_goes_on_and_ends_as_if_undisturbed(many, tmp_path, signal_):
    command = ["compress", many, "-o", tmp_path / "s", "--method", "sem-cluster:m=1.1", "--json"]
    process = subprocess.Popen(
        [ADAMERGE, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and not list((tmp_path / "s").glob("shard-00000.safetensors")):
        time.sleep(0.01)
    os.kill(process.pid, signal_)
    _, err = process.communicate(timeout=30)
    if signal_ == signal.SIGINT:
        assert process.returncode == 130, err
        assert err == "adamerge: stopped; the same command goes on from here\n"
    unfinished = run("info", tmp_path / "s")
    assert unfinished.returncode == 1
    assert "is not finished (1 shards)" in unfinished.stderr
    *pages, total = lines(run(*command))
    assert total["total"] == 1500
    assert [p["page"] for p in pages] == [f"p{i}" for i in range(1500)]
    whole = tmp_path / "whole"
    assert lines(run("compress", many, "-o", whole, *command[4:])) == [*pages, total]
    for file in whole.iterdir():
        assert file.read_bytes() == (tmp_path / "s" / file.name).read_bytes()


def watch(terminal, seen):
    try:
        while chunk := os.read(terminal, 65536):
            seen += chunk
    except OSError:  # the other end is closed
        pass


def test_a_terminal_sees_progress_and_a_pipe_does_not(many, tmp_path):
    leader, follower = pty.openpty()
    command = [
        ADAMERGE,
        "compress",
        many,
        "-o",
        tmp_path / "s",
        "--method",
        "sem-cluster:m=1.1",
        "--json",
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=follower, env=os.environ | {"TERM": "xterm"}
    )
    os.close(follower)
    seen = bytearray()
    watcher = threading.Thread(
        target=watch, args=(leader, seen)
    )  # a terminal that nobody reads stops who writes to it
    watcher.start()
    out = process.stdout.read()
    process.stdout.close()
    assert process.wait() == 0
    watcher.join()
    os.close(leader)
    assert b"pages/s" in seen
    assert b"1500/1500" in seen
    assert len(out.splitlines()) == 1501
