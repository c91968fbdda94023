"""The recipes of docs/architecture.md work: their files are written and their commands run as they stand there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text()
RECIPES = PAGE.split("## How to add something\n")[1]
HEADINGS = re.findall(r"^### (.+)$", RECIPES, re.MULTILINE)


def recipe(heading):
    """The name and text of a recipe's file, and its commands."""
    text = RECIPES.split(f"### {heading}\n")[1].split("\n### ")[0]
    name, code = re.search(r"```python\n# (\S+\.py)\n(.*?)```", text, re.DOTALL).groups()
    commands = re.search(r"```sh\n(.*?)```", text.split(code)[1].removeprefix("```"), re.DOTALL)[1]
    return name, code, commands


@pytest.fixture
def follow(tmp_path):
    """Follows a recipe in an empty folder, and returns what its commands printed."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(heading):
        name, code, commands = recipe(heading)
        (tmp_path / name).write_text(code)
        done = subprocess.run(
            ["sh", "-e", "-c", commands],
            cwd=tmp_path,
            env=os.environ | {"PATH": path, "ADAMERGE_QUIET": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_every_recipe_is_followed_by_a_test():
    tests = Path(__file__).read_text()
    assert all(f'follow("{heading}")' in tests for heading in HEADINGS)


def test_the_method_of_the_recipe_compresses_pages_and_is_listed(follow):
    printed = follow("A method")
    assert printed.startswith("halves:unit=false, float16")
    assert "halves\n    Merge to half of the patches.\n    unit=true" in printed


def test_the_encoder_of_the_recipe_fills_a_store_and_finds_pages(follow):
    printed = follow("An encoder")
    assert "colours.store: 4 pages of 1 file, 4 vectors" in printed
    assert sorted(re.findall(r"sample\.pdf, page (\d)", printed)) == ["1", "2", "3", "4"]


def test_the_format_of_the_recipe_is_read(follow):
    printed = follow("A file format")
    assert re.search(r"^a +3 +2 ", printed, re.MULTILINE)


def test_the_store_of_the_recipe_finds_a_page_by_its_own_vectors(follow):
    printed = follow("A store")
    assert printed.startswith("Found(")
    assert "exact" in printed


def test_the_measure_of_the_recipe_is_that_of_its_two_queries(follow):
    assert follow("A measure") == ""
