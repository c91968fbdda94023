"""The blocks of shell commands on the pages of the documentation."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "recipes").glob("*.md")),
]
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?^```(?P<kind>[^\n`]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
COMMENT = re.compile(r"\s+#\s.*")  # the # of report.pdf#3 begins none


@dataclass(frozen=True)
class ShellBlock:
    """A block of commands: its page, why it is not run, and each command with what it prints by the page."""

    page: Path
    reason: str | None
    commands: tuple[tuple[str, str | None], ...]


def shell_blocks(page):
    """The blocks of a page that hold commands: `sh` has a command a line, `console` a session."""
    for block in BLOCK.finditer(page.read_text()):
        if block["kind"] == "sh":
            yield ShellBlock(page, block["reason"], tuple(script_commands(block["text"])))
        if block["kind"] == "console":
            yield ShellBlock(page, block["reason"], tuple(session_commands(block["text"])))


def script_commands(text):
    """The lines of a script without comments."""
    for line in text.replace("\\\n", " ").splitlines():
        command = COMMENT.sub("", line)
        if command:
            yield command, None


def session_commands(text):
    """The commands after each `$ `, with the lines that they print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, printed = part.split("\n", 1)
        yield command, printed


def other_blocks(page):
    """The texts of the blocks that have no language, or are marked as text."""
    for block in BLOCK.finditer(page.read_text()):
        if block["kind"] in ("", "text"):
            yield block["text"]
