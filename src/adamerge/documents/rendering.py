"""What the readers of files share: how fine pages are rendered, how large one may be, the libraries they need."""

from importlib import import_module
from typing import Any

from adamerge.errors import BadFile, missing_extra

DPI = 150
MAX_PIXELS = 64_000_000  # of one page: A4 at 700 dpi; beyond it, somebody wants our memory


def check_size(width: float, height: float) -> None:
    """Refuse a page of more pixels than we render."""
    if not 1 <= width * height <= MAX_PIXELS:
        raise BadFile(
            f"{width:.0f} x {height:.0f} pixels is beyond {MAX_PIXELS:,}: a lower resolution, or a bad file"
        )


def page_indices(pages: int, numbers: range | None) -> range:
    """The indices, from 0 on, of the pages of some numbers that a file has; of all its pages without numbers."""
    if numbers is None:
        return range(pages)
    return range(numbers.start - 1, min(numbers.stop - 1, pages))


def import_library(module: str) -> Any:
    """A library of the extra `pdf`."""
    try:
        return import_module(module)
    except ImportError:
        raise missing_extra("reading pages", "pdf") from None
