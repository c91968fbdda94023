"""A hook of mkdocs: every file of the repository that a page links to has a page in the site.

A file of code becomes a page that shows it, a Markdown file a page, a folder a list of its files; others are copied.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\((?![a-z]+:)([^)\s#]+)(#[^)\s]*)?\)")
LANGUAGES = {".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".js": "javascript", ".toml": "toml"}
NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside of docs/ that pages link to, and those that these link to."""
    seen: set[Path] = set()
    waiting = [DOCS / file.src_uri for file in files.documentation_pages()]
    while waiting:
        page = waiting.pop()
        for target in linked_files(page):
            if target in seen or target.is_relative_to(DOCS):
                continue
            seen.add(target)
            files.append(file_of(target, config))
            if target.suffix == ".md":
                waiting.append(target)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead the links of a page to pages of the site."""
    path = repository_path(page.file.src_uri)

    def lead(link: re.Match[str]) -> str:
        target = (path.parent / link[1]).resolve()
        if not target.exists():
            return link[0]  # mkdocs tells that it leads nowhere
        uri = relpath(site_uri(target), Path(page.file.src_uri).parent.as_posix())
        return f"]({uri}{link[2] or ''})"

    return LINK.sub(lead, markdown)


def linked_files(page: Path) -> Iterator[Path]:
    """The files and folders of the repository that a Markdown file links to."""
    for link in LINK.finditer(page.read_text()):
        target = (page.parent / link[1]).resolve()
        if target.exists() and target.is_relative_to(ROOT):
            yield target


def file_of(path: Path, config: MkDocsConfig) -> File:
    """A file or folder of the repository as a file of the site."""
    uri = site_uri(path)
    name = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        names = sorted(
            child.name for child in path.iterdir() if not child.name.startswith(("_", "."))
        )
        lines = [f"- `{child}`" for child in names]
        return File.generated(config, uri, content=f"{NOT_SEARCHED}# {name}\n\n" + "\n".join(lines))
    if path.suffix in LANGUAGES:
        language = LANGUAGES[path.suffix]
        code = f"``````{language}\n{path.read_text()}\n``````\n"
        return File.generated(config, uri, content=f"{NOT_SEARCHED}# {name}\n\n{code}")
    return File.generated(config, uri, abs_src_path=str(path))


def site_uri(path: Path) -> str:
    """Where a file or folder of the repository is in the site, as mkdocs names its sources."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    uri = f"source/{path.relative_to(ROOT).as_posix()}"
    if path.is_dir():
        return f"{uri}/index.md"
    if path.suffix in LANGUAGES:
        return f"{uri}.md"
    return uri


def repository_path(uri: str) -> Path:
    """The file that a page of the site was made from; for a page that shows code, beside that file."""
    if uri.startswith("source/"):
        return ROOT / uri.removeprefix("source/")
    return DOCS / uri
