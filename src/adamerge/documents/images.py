"""Pages of an image: one, or one for each frame of a TIFF."""

from collections.abc import Container, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from adamerge.buckets import AnyPath
from adamerge.documents.rendering import check_size, import_library, page_indices
from adamerge.errors import BadFile
from adamerge.types import Page

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp"})


def read_image(
    path: Path,
    source: str,
    dpi: int,
    done: Container[str],
    numbers: range | None,
    name: AnyPath,
) -> Iterator[Page | BadFile]:
    """The frames of an image, each as a page or its error, which calls the file `name`."""
    pil = import_library("PIL.Image")
    try:
        file = pil.open(path)
        frames = getattr(file, "n_frames", 1)
    except Exception as error:  # Pillow's readers fail in ways of their own on damaged files
        raise BadFile(f"{name} cannot be read as an image ({error})") from None
    with closing(file):
        for i in page_indices(frames, numbers):
            id = source
            if frames > 1:
                id = f"{source}#{i + 1}"
            if id in done:
                continue
            try:
                file.seek(i)
                check_size(*file.size)
                yield Page(id, _rgb(file), (), source, i + 1)
            except Exception as error:
                yield BadFile(f"{name}, page {i + 1}, cannot be read as an image ({error})")


def count_frames(path: Path) -> int:
    """How many frames an image has."""
    with closing(import_library("PIL.Image").open(path)) as file:
        return int(getattr(file, "n_frames", 1))


def _rgb(picture: Any) -> Any:
    """A picture as a person sees it: turned as its camera says, on white where it is transparent."""
    pil = import_library("PIL.Image")
    picture = import_library("PIL.ImageOps").exif_transpose(picture)
    if picture.mode.startswith("I;16"):
        upper_bytes = np.asarray(picture) >> 8
        picture = pil.fromarray(upper_bytes.astype(np.uint8))
    if picture.mode in ("I", "F"):
        raise BadFile(
            f"its numbers (mode {picture.mode}) have no range that makes them colours: save 8 or 16 bits"
        )
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        white = pil.new("RGBA", picture.size, "white")
        picture = pil.alpha_composite(white, picture)
    return picture.convert("RGB")
