"""For the reference of the site: paragraphs of docstrings that stand in columns, or draw a tree, keep their lines."""

import re
from typing import Any

import griffe

COLUMNS = re.compile(r"\S {2,}\S|[├└]", re.MULTILINE)


class Columns(griffe.Extension):
    """Makes a block of text of every such paragraph."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object."""
        if obj.docstring is None:
            return
        paragraphs = []
        for paragraph in obj.docstring.value.split("\n\n"):
            if COLUMNS.search(paragraph):
                paragraph = f"```text\n{paragraph}\n```"
            paragraphs.append(paragraph)
        obj.docstring.value = "\n\n".join(paragraphs)
