"""Pages without a text layer -> the same with the words of their picture, for encoders that read words."""

from dataclasses import replace
from typing import Any

from adamerge.errors import BadInput, missing_extra
from adamerge.types import Page


def prepare_page(encoder: Any, page: Page) -> Page:
    """A page as an encoder reads it: with words, if it says that it reads them (`reads_words = True`)."""
    return with_words(page) if getattr(encoder, "reads_words", False) else page


def with_words(page: Page) -> Page:
    """A page with words: those of its text layer, or else what OCR reads in its picture (extra `ocr`).

    A page that has none is refused by its id.
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
