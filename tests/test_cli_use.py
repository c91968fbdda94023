"""The command line in daily use: a dry run, less or more words, help, completion."""

import shutil

import click
import pytest
from cli import call, lines
from click.shell_completion import get_completion_class
from light import Light, write_pdf

import adamerge as am
from adamerge.cli import VERBS, main
from adamerge.encoders import spec


def test_the_help_says_of_each_verb_what_the_verb_says_of_itself():
    for name, verb in VERBS.items():
        command = main.get_command(click.Context(main), name)
        assert verb.does == command.get_short_help_str(limit=200), name


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder whose store is behind: a file is new, one has changed, one is gone, one is as it was."""
    monkeypatch.setitem(spec.KINDS, "light", spec.Kind("light:Light", "words", options=()))
    docs = tmp_path / "docs"
    for name in ("same.pdf", "changed.pdf", "gone.pdf"):
        write_pdf(docs / name, [f"alpha {name}", "beta"])
    with am.open_store(tmp_path / "store") as store:
        list(am.index_files([docs], store, am.Indexing(Light(), "identity")))
    write_pdf(docs / "changed.pdf", ["gamma"])
    write_pdf(docs / "new.pdf", ["delta", "epsilon", "zeta"])
    (docs / "gone.pdf").unlink()
    (docs / "notes.txt").write_text("no page")
    return tmp_path


def test_a_dry_run_says_what_would_be_done_and_does_nothing(place):
    before = sorted(place.rglob("*"))
    planned = lines(
        call("index", place / "docs", "--store", place / "store", "--dry-run", "--json")
    )
    assert {(file["source"], file["would"], file["pages"]) for file in planned} == {
        ("same.pdf", "keep", 2),
        ("changed.pdf", "replace", 1),
        ("gone.pdf", "remove", 2),
        ("new.pdf", "add", 3),
    }
    result = call("index", place / "docs", "--store", place / "store", "--dry-run")
    assert result.stdout.splitlines()[0].split() == ["file", "would", "pages"]
    assert result.stderr == "adamerge: passed over: 1 .txt\n"
    assert sorted(place.rglob("*")) == before


def test_a_dry_run_makes_no_store(place):
    result = call("index", place / "docs", "--store", place / "other", "--dry-run")
    assert result.returncode == 0
    assert not (place / "other").exists()
    refused = call(
        "index", place / "docs", "--store", place / "store", "--dry-run", "--method", "height"
    )
    assert (refused.returncode, "the store holds pages of" in refused.stderr) == (1, True)


def test_verbose_names_every_page_wherever_it_stands(place):
    shutil.rmtree(place / "store")
    asked = ["index", place / "docs", "--store", place / "store", "--encoder", "light"]
    result = call(*asked, "--method", "identity", "-v")
    assert "added new.pdf#3" in result.stderr.splitlines()
    again = call("-v", *asked)
    assert "unchanged new.pdf#3" in again.stderr.splitlines()
    assert "new.pdf" not in call(*asked, "-q").stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_verbs_options_and_paths_are_completed(shell):
    completion = get_completion_class(shell)(main, {}, "adamerge", "_ADAMERGE_COMPLETE")
    assert "_ADAMERGE_COMPLETE" in completion.source()
    verbs = [found.value for found in completion.get_completions([], "se")]
    assert verbs == ["search", "serve"]
    options = [found.value for found in completion.get_completions(["search"], "--gr")]
    assert options == ["--group"]
    (path,) = completion.get_completions(["search"], "rep")
    assert path.type == "file"
