"""The picture of a page -> a data URI that is small enough to send around."""

from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

from adamerge.errors import BadInput
from adamerge.inspector.page_address import read_page
from adamerge.types import Page, Word

SIDES = (1600, 1200, 800, 400)  # pixels of the longer side, tried in this order
QUALITIES = (85, 70, 55)  # of JPEG, tried at each side


def as_image(given: Any) -> tuple[Any, tuple[Word, ...]]:
    """The PIL image and the words of a PIL image, a Page, or a file (`scan.png`, `report.pdf#3`)."""
    if isinstance(given, str | Path):
        given = read_page(str(given))
    if isinstance(given, Page):
        return given.image, given.words
    if given is not None and not hasattr(given, "thumbnail"):
        raise BadInput(f"image must be a PIL image, a Page or a file, got {type(given).__name__}")
    return given, ()


def data_uri(image: Any, limit: int) -> str:
    """The data URI of a PIL image: the best of at most `limit` characters, or the smallest if none is."""
    picture = image.convert("RGB")
    for side in SIDES:
        for quality in QUALITIES:
            uri = f"data:image/jpeg;base64,{_jpeg(picture, side, quality)}"
            if len(uri) < limit:
                return uri
    return uri


def _jpeg(picture: Any, side: int, quality: int) -> str:
    smaller = picture.copy()
    smaller.thumbnail((side, side))
    out = BytesIO()
    smaller.save(out, "JPEG", quality=quality, optimize=True)
    return b64encode(out.getvalue()).decode()
