"""The data of a page -> the HTML file of its inspection."""

from html import escape
from pathlib import Path

from adamerge.html_file import HtmlTemplate

TEMPLATE = HtmlTemplate(Path(__file__).parent / "web")


def render(title: str, data: str, picture: str, back: str = "") -> str:
    """The whole page.

    data     the JSON that the script reads
    picture  the data URI of the page's picture, empty if there is none
    back     the address of a link back, empty for no link
    """
    kind, image = "inspector", ""
    if picture:
        image = f'<img alt="Picture of the page" src="{escape(picture, quote=True)}">'
    if back:
        kind += f' · <a href="{escape(back, quote=True)}">Back to the page</a>'
    return TEMPLATE.render(kind, title, data, picture=image)
