"""A folder of page.html, page.css and main.js, and data -> one HTML file."""

import json
from base64 import b64encode
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from adamerge.html_file.javascript_bundle import bundle

SHARED = Path(__file__).parent / "web"
STYLES = ("theme/theme.css", "cards.css")
POLICY = (
    "default-src 'none'; img-src data:; style-src {style}; script-src {script}; "
    "base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class HtmlTemplate:
    """The parts of which a kind of file is made.

    folder  has page.html, what stands between <main> and </main>; page.css; main.js
    """

    folder: Path

    def render(self, kind: str, title: str, data: str, **parts: str) -> str:
        """The whole file: frame.html with page.html in it.

        kind   HTML for the name of the kind of file, above the title
        data   the JSON that the script reads, as `to_json` writes it
        parts  HTML for the places of page.html, $picture for `picture`
        """
        main = Template(_read(self.folder / "page.html")).substitute(parts)
        return Template(_read(SHARED / "frame.html")).substitute(
            kind=kind,
            title=escape(title, quote=True),
            policy=escape(self.policy, quote=True).replace("&#x27;", "'"),
            style=self._style,
            main=main,
            data=data,
            script=self._script,
        )

    @cached_property
    def policy(self) -> str:
        """The content security policy: a browser runs the script and the style of these hashes, and nothing else."""
        return POLICY.format(style=_hash(self._style), script=_hash(self._script))

    @cached_property
    def _style(self) -> str:
        files = [SHARED / name for name in STYLES]
        return "\n".join(_read(file) for file in [*files, self.folder / "page.css"])

    @cached_property
    def _script(self) -> str:
        return bundle(self.folder / "main.js")


def in_frame(page: str, title: str) -> str:
    """The file in a frame for a notebook: its script runs, and can reach nothing outside of the frame."""
    return (
        f'<iframe title="{escape(title, quote=True)}" sandbox="allow-scripts" width="100%" height="900" '
        f'style="border:0" srcdoc="{escape(page, quote=True)}"></iframe>'
    )


def to_json(data: Any) -> str:
    """JSON without '<', '>' and '&', so that no text in it can end the script element that holds it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
