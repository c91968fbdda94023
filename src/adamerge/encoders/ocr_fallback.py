"""Pages without a text layer -> the same pages with words that OCR reads, for encoders of text."""

from dataclasses import replace
from typing import Any

from adamerge.errors import BadInput, missing_extra
from adamerge.types import Page


def prepare_page(encoder: Any, page: Page) -> Page:
    """The page for an encoder: with words if it is an encoder of text (`reads_words = True`), else as it is."""
    if getattr(encoder, "reads_words", False):
        return with_words(page)
    return page


def with_words(page: Page) -> Page:
    """The page with words: those of its text layer, or else those that OCR reads in its picture (extra `ocr`).

    A page without words in its text layer and in its picture is refused by its id.
    """
    if page.words:
        return page
    if page.image is None:
        raise BadInput(f"page '{page.id}' has no words, and no picture to read them from")
    try:
        from adamerge.encoders import ocr
    except ImportError:
        raise missing_extra(
            f"page '{page.id}' has no text layer, and reading it from its picture", "ocr"
        ) from None
    try:
        words = ocr.words(page.image)
    except Exception as error:  # it refuses some shapes, with errors that may say nothing
        size = "{} x {} pixels".format(*page.image.size)
        raise BadInput(
            f"page '{page.id}' has no text layer, and OCR cannot read its picture of {size}"
        ) from error
    if not words:
        raise BadInput(f"page '{page.id}' has no words: no text layer, and OCR finds none")
    return replace(page, words=words)
