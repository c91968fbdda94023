"""Which files are refused, and what an accepted file is called."""

import os
import re

from starlette.exceptions import HTTPException

SUFFIXES = {  # how files begin -> the suffixes they may have
    b"%PDF-": (".pdf",),
    b"\x89PNG\r\n\x1a\n": (".png",),
    b"\xff\xd8\xff": (".jpg", ".jpeg"),
    b"II*\0": (".tif", ".tiff"),
    b"MM\0*": (".tif", ".tiff"),
}
HEAD_BYTES = 1024  # in which a PDF may begin
NAME_BYTES = 120


def suffixes_of(head: bytes) -> tuple[str, ...]:
    """The suffixes that a file may have, by its first bytes."""
    for start, suffixes in SUFFIXES.items():
        if head.startswith(start):
            return suffixes
    if b"%PDF-" in head:  # readers take one with something before it
        return SUFFIXES[b"%PDF-"]
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return (".webp",)
    raise HTTPException(
        415, "this is none of PDF, PNG, JPEG, TIFF and WebP, whatever its name says"
    )


def clean_name(name: str, suffixes: tuple[str, ...]) -> str:
    """A name that is only a name: no folder, no control letters, no dot in front, and a suffix that fits."""
    last = re.split(r"[/\\]", name)[-1]
    printable = "".join(letter for letter in last if letter.isprintable())
    bare = printable.strip().lstrip(".")
    stem, suffix = os.path.splitext(bare)
    if suffix.lower() not in suffixes:
        stem, suffix = bare, suffixes[0]
    while len((stem + suffix).encode()) > NAME_BYTES:
        stem = stem[:-1]
    return (stem or "file") + suffix
