"""An inspection -> one HTML file that needs nothing else: no network, no server, no other file."""

from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template

HERE = Path(__file__).parent
STYLES = ("theme/theme.css", "page.css")
SCRIPTS = (
    "theme/theme.js",
    "cut.js",
    "draw.js",
    "curve.js",
    "patches.js",
    "queries.js",
    "page.js",
)  # in this order
POLICY = (
    "default-src 'none'; img-src data:; style-src {style}; script-src {script}; "
    "base-uri 'none'; form-action 'none'"
)


def html(title: str, data: str, uri: str, back: str = "") -> str:
    """The whole page: its title, its JSON, the data URI of its picture, and where a link leads back to, if anywhere.

    A browser runs the script and the style whose hashes stand in the policy, and nothing else.
    """
    return Template(_read("page.html")).substitute(
        title=escape(title, quote=True),
        policy=escape(policy(), quote=True).replace("&#x27;", "'"),
        style=_style(),
        script=_script(),
        data=data,
        picture=f'<img alt="Picture of the page" src="{escape(uri, quote=True)}">' if uri else "",
        back=f' · <a href="{escape(back, quote=True)}">Back to the page</a>' if back else "",
    )


def policy() -> str:
    """What a browser may do with the page: its own script and style, and nothing else."""
    return POLICY.format(style=_hash(_style()), script=_hash(_script()))


def framed(page: str) -> str:
    """The page in a frame for a notebook: scripts run, and reach nothing outside of it."""
    return (
        f'<iframe title="What happened to a page" sandbox="allow-scripts" width="100%" height="900" style="border:0" '
        f'srcdoc="{escape(page, quote=True)}"></iframe>'
    )


def _style() -> str:
    return "\n".join(_read(name) for name in STYLES)


def _script() -> str:
    return "\n".join(_read(name) for name in SCRIPTS)


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
