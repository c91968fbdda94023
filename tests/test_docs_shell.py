"""The commands of the documentation run, in a folder that holds what the pages speak of."""

import re
import shlex
import shutil
import tomllib

import click
import manual
import pytest
from cli import call
from shell_blocks import PAGES, ROOT, other_blocks, shell_blocks

from adamerge.cli import main
from adamerge.cli.common import ANYWHERE
from adamerge.evaluate.books import build_book, write_book

ELSEWHERE = {
    "architecture.md": "test_recipes.py follows its recipes",
    "tutorial.md": "test_tutorial.py runs it from top to bottom",
}
RUN = []
for page in PAGES:
    to_run = [block for block in shell_blocks(page) if block.reason is None]
    if to_run and page.name not in ELSEWHERE:
        RUN.append(page)
PROGRAM = re.compile(
    r"(\$ |\w+=\S+ )?(adamerge|pip|make|python|curl|git|export|ollama|vespa|claude|zcat) "
)
pytestmark = pytest.mark.xdist_group("docs")  # they share a folder that takes a second to make


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder of reports, with its vectors and its store; the demo's store; a book, and results of it."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "experiments", folder / "experiments")

    manual.make(folder / "report.pdf", pages=17)  # 21 in all: a plan compares 20 or more
    (folder / "reports").mkdir()
    shutil.copy(folder / "report.pdf", folder / "reports")
    (folder / "labels.csv").write_text("source,year,language\nreport.pdf,2026,en\n")

    book = manual.make(folder / "r-intro.pdf", pages=8)
    write_book(build_book(book, "r-intro"), book, folder / "data" / "r-intro")

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run("adamerge encode report.pdf -o vectors")
        run("adamerge index reports/ --store reports.store")
        run("adamerge index examples/report.pdf --store build/demo/small")
        run("adamerge evaluate run experiments/one_book.toml -o runs/one_book")
    shutil.copytree(folder / "runs" / "one_book", folder / "runs" / "paper")
    shutil.copytree(folder / "runs" / "one_book", folder / "results" / "books")
    shutil.copytree(folder / "runs" / "one_book", folder / "results" / "one_book")
    return folder


@pytest.fixture
def follow(prepared, tmp_path, monkeypatch):
    """Runs a command in a copy of the prepared folder."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)

    def run_as_if_prepared_here(command):
        return run(command).replace(f"{prepared}/", "")  # a store knows where its files are

    return run_as_if_prepared_here


def run(command):
    """What a command of ours prints; an exit code other than 0 fails the test."""
    program, *words = shlex.split(command)
    assert program == "adamerge", f"mark this block as not run, with the reason: {command}"
    done = call(*words, COLUMNS="100")  # snippets are broken at this width
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.mark.parametrize("page", RUN, ids=[page.name for page in RUN])
def test_every_block_of_commands_runs(page, follow):
    for block in shell_blocks(page):
        if block.reason is not None:
            continue
        for command, printed in block.commands:
            if command.startswith("pip install "):
                continue  # the packages are installed; their names are looked at below
            shown = follow(command)
            assert printed in (None, shown)


def test_no_command_stands_in_a_block_that_does_not_say_that_it_is_shell():
    for page in PAGES:
        for text in other_blocks(page):
            command = PROGRAM.match(text)
            assert command is None, f"{page.name}: say ```sh before {command[0]}"


def test_every_command_of_the_documentation_has_a_verb_and_options_that_there_are():
    found = list(words_of_ours())
    assert len(found) > 50
    for words in found:
        context = click.Context(main)
        verb = main
        while isinstance(verb, click.Group):
            name = words.pop(0)
            verb = verb.get_command(context, name)
            assert verb is not None, f"there is no verb '{name}'"
        # click keeps the first help option that it makes: it must be the one that runs
        context = click.Context(verb, **main.context_settings)
        verb.make_parser(context).parse_args(words)


def words_of_ours():
    """The words of every command of ours, also of those that are not run."""
    for command in all_commands():
        begun = re.match(r"(?:\w+=.* )?adamerge ([a-z].*)", command)
        if begun:
            yield [word for word in shlex.split(begun[1]) if word not in ANYWHERE]


def all_commands():
    for page in PAGES:
        for block in shell_blocks(page):
            for command, _ in block.commands:
                yield command


def test_every_extra_and_every_target_of_make_that_a_command_names_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for command in all_commands():
        for extras in re.findall(r"(?:adamerge|\.)\[([\w,-]+)\]", command):
            assert set(extras.split(",")) <= set(project["optional-dependencies"]), command
        for target in re.findall(r"^make ([a-z-]+)", command):
            assert target in targets, command
