"""The data of a page -> one HTML file that needs nothing else: no network, no server, no other file."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template

from adamerge.inspector.javascript_bundle import bundle

WEB = Path(__file__).parent / "web"
STYLES = ("theme/theme.css", "page.css")
MAIN = "main.js"
POLICY = (
    "default-src 'none'; img-src data:; style-src {style}; script-src {script}; "
    "base-uri 'none'; form-action 'none'"
)


def render(title: str, data: str, picture: str, back: str = "") -> str:
    """The whole page.

    data     the JSON that the script reads
    picture  the data URI of the page's picture, empty if there is none
    back     the address of a link back, empty for no link
    """
    image = link = ""
    if picture:
        image = f'<img alt="Picture of the page" src="{escape(picture, quote=True)}">'
    if back:
        link = f' · <a href="{escape(back, quote=True)}">Back to the page</a>'
    return Template(_read("page.html")).substitute(
        title=escape(title, quote=True),
        policy=escape(policy(), quote=True).replace("&#x27;", "'"),
        style=_style(),
        script=_script(),
        data=data,
        picture=image,
        back=link,
    )


def policy() -> str:
    """The content security policy: a browser runs the script and the style of these hashes, and nothing else."""
    return POLICY.format(style=_hash(_style()), script=_hash(_script()))


def in_frame(page: str) -> str:
    """The page in a frame for a notebook: its script runs, and can reach nothing outside of the frame."""
    return (
        f'<iframe title="What happened to a page" sandbox="allow-scripts" width="100%" height="900" '
        f'style="border:0" srcdoc="{escape(page, quote=True)}"></iframe>'
    )


@cache
def _style() -> str:
    return "\n".join(_read(name) for name in STYLES)


@cache
def _script() -> str:
    return bundle(WEB / MAIN)


def _read(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
