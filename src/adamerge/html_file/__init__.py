"""One HTML file that needs nothing else: no network, no server, no other file. The inspector and plans are such files.

javascript_bundle.py   JavaScript modules -> one script
template.py            a folder of page.html, page.css and main.js, and data -> the file
web/                   what such files share: frame.html, theme/ (also of the server), cards.css, two JavaScript modules
"""

from adamerge.html_file.template import HtmlTemplate, in_frame, to_json

__all__ = ["HtmlTemplate", "in_frame", "to_json"]
