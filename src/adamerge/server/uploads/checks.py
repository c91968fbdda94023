"""Which files are refused, and what an accepted file is called."""

import os
import re

from starlette.exceptions import HTTPException

from adamerge.documents import images, office

SUFFIXES = {  # how files begin -> the suffixes they may have
    b"%PDF-": (".pdf",),
    b"\x89PNG\r\n\x1a\n": (".png",),
    b"\xff\xd8\xff": (".jpg", ".jpeg"),
    b"II*\0": (".tif", ".tiff"),
    b"MM\0*": (".tif", ".tiff"),
}
HEAD_BYTES = 1024  # in which a PDF may begin
NAME_BYTES = 120


def accepted_suffixes() -> list[str]:
    """The suffixes of files that can be uploaded now."""
    accepted = images.SUFFIXES | {".pdf"}
    if office.is_installed():
        accepted |= office.PACKED
    return sorted(accepted)


def accepted_kinds() -> str:
    """The files that can be uploaded now, in words."""
    kinds = ["PDF", "PNG", "JPEG", "TIFF", "WebP"]
    if office.is_installed():
        kinds += [suffix[1:].upper() for suffix in sorted(office.PACKED)]
    return f"{', '.join(kinds[:-1])} and {kinds[-1]}"


def suffixes_of(head: bytes, name: str) -> tuple[str, ...]:
    """The suffixes that a file may have, by its first bytes; of an office file the one that its name has.

    HTML, RTF and the binary files of old are not taken from strangers: they can name files of this machine, and
    LibreOffice is not known to look away in all of them.
    """
    for start, suffixes in SUFFIXES.items():
        if head.startswith(start):
            return suffixes
    if b"%PDF-" in head:  # readers take one with something before it
        return SUFFIXES[b"%PDF-"]
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return (".webp",)
    suffix = os.path.splitext(name)[1].lower()
    if head.startswith(b"PK") and suffix in office.PACKED:
        if office.is_installed():
            return (suffix,)
        raise HTTPException(
            415, "office files need LibreOffice, and this server has none: save it as PDF"
        )
    raise HTTPException(415, f"this is none of {accepted_kinds()}, whatever its name says")


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
