"""The documentation runs: its Python and its help. test_docs_shell.py runs its commands."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import click
import manual
import pytest

from adamerge.cli import main
from adamerge.compress import DEFAULT_METHOD
from adamerge.compress.names import METHODS
from adamerge.evaluate.books import build_book, write_book

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RECIPES = sorted((ROOT / "docs" / "recipes").glob("*.md"))  # test_recipe_pages.py runs them
NOT_RUN = r"<!-- not run: (.+) -->\n"  # before a block of Python that cannot run here
ELSEWHERE = {
    "tutorial.md": "test_tutorial.py runs it from top to bottom",
}
BLOCKS = [
    (page, m)
    for page in PAGES
    if page.name not in ELSEWHERE
    for m in re.findall(r"(?<! -->\n)```python\n(.*?)```", page.read_text(), re.DOTALL)
]


@pytest.fixture
def here(tmp_path):
    """A folder with what the documentation takes for granted: the examples, and a book that needs no download."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    pdf = manual.make(tmp_path / "r-intro.pdf")
    write_book(build_book(pdf, "r-intro"), pdf, tmp_path / "data" / "r-intro")
    return tmp_path


@pytest.mark.parametrize(("page", "code"), BLOCKS, ids=[page.name for page, _ in BLOCKS])
def test_every_block_of_python_runs(page, code, here):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # adamerge is there
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=here,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    after = page.read_text().split(code)[1]
    if page.name == "README.md":
        assert run.stdout == re.match(r"```\s*```\n(.*?)```", after, re.DOTALL)[1]


def test_no_block_of_python_is_passed_over_in_silence():
    reasons = set()
    for page in [*PAGES, *RECIPES]:
        if page.name in ELSEWHERE:
            continue
        text = page.read_text()
        reasons |= {(page.name, reason) for reason in re.findall(NOT_RUN + "```python", text)}
        for kind, first in re.findall(r"^```([^\n`]*)\n(.+)", text, re.MULTILINE):
            is_python = re.match(r"import |from \w+ import|with |def |class ", first)
            assert kind == "python" or not is_python, f"{page.name}: say ```python before {first}"
    assert reasons == {
        ("evaluate.md", "needs the model hub, and a GPU"),
        ("scale.md", "needs a cluster with GPUs, and a package of your own"),
        ("scale.md", "needs a Qdrant server"),
        ("search.md", "needs a Qdrant server"),
    }


def test_the_default_method_of_the_documentation_is_the_one_that_is_stored():
    page = (ROOT / "docs" / "search.md").read_text()
    assert f"Without `--method`, `adamerge index` stores pages by `{DEFAULT_METHOD}`" in page


def test_the_readme_opens_with_the_two_commands():
    head = (ROOT / "README.md").read_text().splitlines()[:10]
    assert any(line.startswith("make demo") for line in head)
    assert any(line.startswith("make test") for line in head)


def test_the_command_line_is_documented_as_it_is():
    render = runpy.run_path(str(ROOT / "docs" / "write_cli.py"))["render"]
    assert (ROOT / "docs" / "cli.md").read_text() == render(), "run: make cli-page"
    context = click.Context(main)
    for name in main.list_commands(context):
        verb = main.get_command(context, name)
        assert f"## adamerge {name}\n" in render()
        assert verb.help
        assert all(
            getattr(option, "help", True)
            for option in verb.params
            if option.param_type_name == "option"
        )


def test_the_list_of_commands_says_in_whole_phrases_what_each_does():
    widths = {"max_content_width": 80, "terminal_width": 80}
    context = click.Context(main, **widths, **main.context_settings)
    verbs = [main.get_command(context, name) for name in ("evaluate", "dataset")]
    for group in (main, *verbs):
        listed = group.get_help(context).split("\nCommands:\n")[1]
        assert len(listed.splitlines()) == len(group.list_commands(context))
        assert "..." not in listed


def test_every_method_stands_in_the_tables():
    ours = [name for name, (cls, _) in METHODS.items() if cls.__module__.startswith("adamerge.")]
    assert "height" in ours  # and none that another test has brought
    for page in ("README.md", "docs/method.md"):
        text = (ROOT / page).read_text()
        assert all(f"| `{name}" in text for name in ours), page


def test_links_lead_somewhere():
    for page in [
        *PAGES,
        *RECIPES,
        ROOT / "benchmarks" / "README.md",
        ROOT / "examples" / "README.md",
    ]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_files_stay_small():
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("src/**/*.?pp"), *ROOT.glob("tests/*.py")]:
        assert len(path.read_text().splitlines()) <= 400, path.name


def test_every_promise_of_the_server_names_a_test_that_there_is():
    promises = re.findall(r"\b([dfhrsuw]) `(test_\w+)`", (ROOT / "docs" / "serve.md").read_text())
    files = {
        "d": "test_server_folder.py",
        "f": "test_server_files.py",
        "s": "test_server.py",
        "h": "test_server_hard.py",
        "r": "test_server_results.py",
        "u": "test_server_uploads.py",
        "w": "test_server_workers.py",
    }
    assert len(promises) > 20
    for file, name in promises:
        assert f"def {name}(" in (ROOT / "tests" / files[file]).read_text()
