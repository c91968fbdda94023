"""A picture -> a data URI small enough to send around."""

from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

from adamerge.errors import BadInput
from adamerge.inspector.source import read_page
from adamerge.types import Page, Word

TRIES = [
    (side, quality) for side in (1600, 1200, 800, 400) for quality in (85, 70, 55)
]  # pixels, JPEG quality


def shrink(image: Any, limit: int) -> str:
    """The data URI of a PIL image, recompressed until it takes at most `limit` characters, or as small as it gets."""
    picture = image.convert("RGB")
    for side, quality in TRIES:
        smaller = picture.copy()
        smaller.thumbnail((side, side))
        out = BytesIO()
        smaller.save(out, "JPEG", quality=quality, optimize=True)
        if len(out.getvalue()) * 4 / 3 < limit:
            break
    return f"data:image/jpeg;base64,{b64encode(out.getvalue()).decode()}"


def look(image: Any) -> tuple[Any, tuple[Word, ...]]:
    """The PIL image and the words of what was given: a PIL image, a Page, or a file (`scan.png`, `report.pdf#3`)."""
    if isinstance(image, str | Path):
        image = read_page(str(image))
    if isinstance(image, Page):
        return image.image, image.words
    if image is not None and not hasattr(image, "thumbnail"):
        raise BadInput(f"image must be a PIL image, a Page or a file, got {type(image).__name__}")
    return image, ()
