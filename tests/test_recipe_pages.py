"""Every page of docs/recipes/ runs: its blocks of Python are one program, from top to bottom."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "recipes").glob("*.md"))
pytestmark = pytest.mark.xdist_group("agents")  # they share a store, and what they import


@pytest.fixture
def here(report_store, tmp_path, monkeypatch):
    """The folder in which a person follows a recipe: the examples, and a store of the report."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(report_store, tmp_path / "reports.store")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(name):
    """The Python of a page."""
    page = (ROOT / "docs" / "recipes" / name).read_text()
    return "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))


def follow(name):
    """Run a page in this process, and return the names that it defined."""
    names = {"__name__": "__main__"}
    exec(compile(program(name), name, "exec"), names)
    return names


def test_every_page_of_recipes_is_followed_by_a_test():
    tests = Path(__file__).read_text()
    assert [page.name for page in PAGES if f'follow("{page.name}")' not in tests] == []


def test_each_framework_finds_the_page_of_the_recipe(here, capsys):
    follow("frameworks.md")
    printed = capsys.readouterr().out
    assert printed.count("The **storm** alone **cost** **410,000** crowns.") == 4
    assert printed.splitlines()[0].startswith("report.pdf 5 ")
    assert printed.count("image/jpeg") == 6
