"""What the pages on the code say of it is true: every file that they link is there, and defines what they name."""

import ast
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ["architecture.md", "internals.md", "tour.md"]
LINK = re.compile(r"\[`([\w.]+)`\]\(([^)]+\.(?:py|js))\)")


def links():
    """Page, name and file of every link to something that is defined in a file."""
    for page in PAGES:
        for name, target in LINK.findall((DOCS / page).read_text()):
            yield page, name, target


def defined(path):
    """What a file defines: functions, classes, constants, and Class.method."""
    text = path.read_text()
    if path.suffix == ".js":
        return set(re.findall(r"^export (?:async )?(?:function|const) (\w+)", text, re.MULTILINE))
    names = set()
    for node in ast.parse(text).body:
        names |= set(names_of(node))
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{name}" for part in node.body for name in names_of(part)}
            names |= {name for part in node.body for name in names_of(part)}
    return names


def names_of(node):
    """The names that one statement defines."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign():
            return [target.id for target in node.targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name()):
            return [node.target.id]
    return []


@pytest.mark.parametrize(("page", "name", "target"), list(links()))
def test_what_a_page_names_is_defined_in_the_file_that_it_links(page, name, target):
    assert name in defined(DOCS / target)


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_in_code_letters_are_there(page):
    source = DOCS.parent / "src" / "adamerge"
    for path in re.findall(r"`((?:\w+/)+[\w.]*)`", (DOCS / page).read_text()):
        places = [DOCS.parent, source, *source.iterdir()]
        assert any((place / path).exists() for place in places), path
