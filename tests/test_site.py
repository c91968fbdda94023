"""The site of the documentation builds, strictly, and has what it promises."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import adamerge as am

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.xdist_group("site")  # built once


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    return folder


def build(config, folder):
    """A finished build of a site."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--config-file", config, "--site-dir", folder],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )


def test_a_link_that_leads_nowhere_fails(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[lost](nowhere.md)")
    changed = {"docs_dir": "docs", "nav": ["index.md"], "hooks": [], "plugins": []}
    config = tmp_path / "mkdocs.yml"
    config.write_text(json.dumps({"INHERIT": str(ROOT / "mkdocs.yml"), **changed}))
    done = build(config, tmp_path / "site")
    assert done.returncode == 1
    assert "'nowhere.md', but the target is not found" in done.stderr


def test_every_page_of_the_documentation_is_in_the_menu(site):
    home = (site / "index.html").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        name = name.replace("README.html", "index.html")
        assert f'href="{name}"' in home, f"{name}: enter it in mkdocs.yml"


def test_the_reference_has_every_public_name(site):
    written = (ROOT / "docs" / "reference.md").read_text()
    names = re.findall(r"^::: adamerge\.(?:[a-z.]+\.)?(\w+)$", written, re.MULTILINE)
    assert set(am.__all__) <= set(names)
    page = (site / "reference.html").read_text()
    for name in am.__all__:
        assert re.search(rf'<h3 id="adamerge\.[\w.]*{name}"', page), name
    assert "a row per patch, n &gt;= 1, no row of zeros\n" in page  # columns keep their lines


def test_a_link_to_a_file_of_the_repository_leads_to_a_page_that_shows_it(site):
    tour = (site / "tour.html").read_text()
    assert 'href="source/src/adamerge/store/open.py.html"' in tour
    shown = (site / "source/src/adamerge/store/open.py.html").read_text()
    assert "<h1" in shown
    assert "open_store" in shown
    assert (site / "source/CONTRIBUTING.html").exists()


def test_the_search_knows_the_pages_and_not_the_code(site):
    index = json.loads((site / "search" / "search_index.json").read_text())
    places = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {"tutorial.html", "recipes/qdrant.html", "reference.html"} <= places
    assert not any("source/src" in place for place in places)


def test_the_site_is_dark_where_the_reader_wants_it_and_fetches_nothing_from_elsewhere(site):
    home = (site / "index.html").read_text()
    assert 'data-md-color-scheme="slate"' in home
    fetched = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"', home)
    assert fetched
    assert [address for address in fetched if address.startswith(("http", "//"))] == []
