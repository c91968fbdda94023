"""Files -> pages, one at a time: PDF, PNG, JPEG, TIFF with several frames, WebP.

A page is rendered when its turn comes and dropped when the next one is asked for, so that memory does not grow with the
number of pages. Needs the extra `pdf`.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import closing
from ctypes import byref, c_int
from glob import glob, has_magic
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from adamerge.errors import AdamergeError, BadFile, BadInput, NotFound, missing_extra
from adamerge.geometry import Box
from adamerge.types import Page, Word

IMAGES = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp"}
SUFFIXES = IMAGES | {".pdf"}
DPI = 150
MAX_PIXELS = 64_000_000  # of one page: A4 at 700 dpi; beyond it, somebody wants our memory

HYPHEN = "\ufffe"  # what PDFium has for a hyphen that ends a line

Report = Callable[[AdamergeError], None]


def read_pages(
    paths: Iterable[str | Path],
    dpi: int = DPI,
    skip_bad: Report | None = None,
    done: Container[str] = (),
) -> Iterator[Page]:
    """The pages of files, folders and globs, in order, rendered at `dpi`; those whose id is in `done` are passed over.

    A page that cannot be read ends the run with an error that names it; with `skip_bad`, the error is handed to that
    function and the run goes on.
    """
    for path, source in find_files(paths):
        yield from read_file(path, source, dpi, skip_bad, done)


def read_file(
    path: Path,
    source: str,
    dpi: int = DPI,
    skip_bad: Report | None = None,
    done: Container[str] = (),
    numbers: range | None = None,
) -> Iterator[Page]:
    """The pages of one file, which is to be called `source`; otherwise as `read_pages`.

    numbers  of the pages to read, counted from 1; None for all
    """
    if path.suffix.lower() == ".pdf":
        pages = _read_pdf(path, source, dpi, done, numbers)
    else:
        pages = _read_image(path, source, dpi, done, numbers)
    try:
        for page in pages:
            if isinstance(page, Page):
                yield page
            elif skip_bad is None:
                raise page
            else:
                skip_bad(page)
    except AdamergeError as error:
        if skip_bad is None:
            raise
        skip_bad(error)


def find_files(paths: Iterable[str | Path]) -> list[tuple[Path, str]]:
    """Every file that holds pages, and what to call it: its name, or its path below the folder that was given."""
    if isinstance(paths, str | Path):  # a string is a list of letters, "/" one of them
        raise BadInput(f"files come as a list: [{str(paths)!r}]")
    # a file that is given twice is one, by the name it was first given
    each: dict[Path, tuple[Path, str]] = {}
    for given in paths:
        if "://" in str(given):
            raise BadInput(f"pages are read from a disk; mount the bucket, or copy {given} first")
        for path, name in _find(str(given)):
            each.setdefault(path.absolute(), (path, name))
    found = list(each.values())
    _check_names(found)
    return found


def _check_names(files: list[tuple[Path, str]]) -> None:
    """Refuse a name that is not UTF-8, and one that two files would have."""
    for path, name in files:
        if not _is_utf8(name):
            raise BadFile(f"{str(path)!r}: its name is not UTF-8; rename it")
    counts = Counter(name for _, name in files)
    for name, count in counts.items():
        if count > 1:
            raise BadFile(
                f"{count} files would be called '{name}': give the folder that holds them all"
            )


def _is_utf8(name: str) -> bool:
    """Whether the bytes of a file's name are UTF-8: Python keeps others as surrogates."""
    return not any(_is_surrogate(letter) for letter in name)


def _is_surrogate(letter: str) -> bool:
    return "\ud800" <= letter <= "\udfff"


def other_files(paths: Iterable[str | Path], apart: Path | None = None) -> Counter[str]:
    """How many files in the folders and globs hold no pages, by their ending (".docx", or "" without one).

    Hidden files are not counted, nor those below the folder `apart`: the store itself may lie among the pages.
    """
    others: dict[Path, str] = {}
    for given in paths:
        root, files = _listed(str(given))
        for file in files:
            hidden = any(part.startswith(".") for part in file.relative_to(root).parts)
            below = apart is not None and apart.absolute() in file.absolute().parents
            suffix = file.suffix.lower()
            if not hidden and not below and suffix not in SUFFIXES and file.is_file():
                others[file.absolute()] = suffix
    return Counter(others.values())


def _find(given: str) -> list[tuple[Path, str]]:
    """The files of one path that hold pages, and what to call each."""
    path = Path(given)
    if path.is_file() and path.suffix.lower() not in SUFFIXES:
        raise BadFile(f"{path} is none of {', '.join(sorted(SUFFIXES))}")
    root, files = _listed(given)
    pages = [file for file in files if file.suffix.lower() in SUFFIXES and file.is_file()]
    if not pages:
        raise BadFile(f"{path} holds no pages: no file of {', '.join(sorted(SUFFIXES))}")
    return [(file, file.relative_to(root).as_posix()) for file in pages]


def _listed(given: str) -> tuple[Path, list[Path]]:
    """All that lies below a path or matches a glob, in order, and the folder that names are counted from."""
    path = Path(given)
    if path.is_dir():
        return path, sorted(path.rglob("*"))
    if path.exists():
        return path.parent, [path]
    if has_magic(given):
        fixed = takewhile(lambda part: not has_magic(part), path.parts)
        return Path(*fixed), sorted(map(Path, glob(given, recursive=True)))
    raise NotFound(f"{path} does not exist")


def count_pages(paths: Iterable[str | Path]) -> int:
    """How many pages there are to read; a file that cannot be opened counts as one."""
    return sum(_count_file(path) for path, _ in find_files(paths))


def page_id(path: Path, name: str, number: int) -> str:
    """The id of the page of a number, from 1 on, of a file that is called `name`."""
    is_pdf = path.suffix.lower() == ".pdf"
    if is_pdf or _count_file(path) > 1:
        return f"{name}#{number}"
    return name


def _count_file(path: Path) -> int:
    is_pdf = path.suffix.lower() == ".pdf"
    if is_pdf:
        opener = _import("pypdfium2").PdfDocument
    else:
        opener = _import("PIL.Image").open
    try:
        with closing(opener(path)) as file:
            if is_pdf:
                return len(file)
            return int(getattr(file, "n_frames", 1))
    except Exception:  # whatever it is, reading the file will say it
        return 1


def _read_pdf(
    path: Path, source: str, dpi: int, done: Container[str], numbers: range | None
) -> Iterator[Page | BadFile]:
    pdfium = _import("pypdfium2")
    try:
        document = pdfium.PdfDocument(path)
    except (pdfium.PdfiumError, OSError) as error:
        if "password" in str(error).lower():
            raise BadFile(f"{path} is encrypted: remove its password first") from None
        raise BadFile(f"{path} is damaged ({error})") from None
    with closing(document):
        if not len(document):
            raise BadFile(f"{path} has no pages")
        for i in _indices(len(document), numbers):
            if f"{source}#{i + 1}" in done:
                continue
            try:
                yield _pdf_page(document, i, source, dpi)
            except (pdfium.PdfiumError, BadFile) as error:
                yield BadFile(f"{path}, page {i + 1}: {error}")


def _indices(pages: int, numbers: range | None) -> range:
    """The indices, from 0 on, of the pages of some numbers that a file has; of all its pages without numbers."""
    if numbers is None:
        return range(pages)
    return range(numbers.start - 1, min(numbers.stop - 1, pages))


def _pdf_page(document: Any, i: int, source: str, dpi: int) -> Page:
    with closing(document[i]) as page:
        width, height = page.get_size()
        _check_size(width * dpi / 72, height * dpi / 72)
        with closing(page.render(scale=dpi / 72)) as bitmap:
            image = bitmap.to_pil().convert("RGB")
        with closing(page.get_textpage()) as text:
            words = tuple(_words(page, text))
    return Page(f"{source}#{i + 1}", image, words, source, i + 1)


def _words(page: Any, text: Any) -> Iterator[Word]:
    """Runs of characters between white space, each with the box around them.

    A word that is hyphenated at the end of a line is one word, and its box that of its first part.
    """
    letters: list[str] = []
    boxes: list[Box] = []
    hyphenated = False
    for i, letter in enumerate(_letters(text)):
        if letter == HYPHEN:
            hyphenated = True
        elif letter.isspace():
            goes_on = hyphenated and letter in "\r\n"
            if not letters or goes_on:
                continue
            if boxes:
                yield Word(_joined(letters), _on_page(page, boxes))
            letters, boxes, hyphenated = [], [], False
        elif letter.isprintable() or _is_surrogate(letter):
            letters.append(letter)
            if not hyphenated:
                boxes.append(text.get_charbox(i))


def _letters(text: Any) -> Iterator[str]:
    """The characters of a page in the order of its text, and a space that ends the last word."""
    raw = _import("pypdfium2.raw")
    for i in range(text.count_chars()):
        yield chr(raw.FPDFText_GetUnicode(text, i))
    yield " "


def _joined(letters: list[str]) -> str:
    """Text from UTF-16 units: what is beyond the first plane comes as two."""
    return "".join(letters).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _on_page(page: Any, boxes: list[tuple[float, float, float, float]]) -> Box:
    """The box around PDF boxes (left, bottom, right, top) in parts of the page as it is seen, turned and cropped."""
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    x0, y0 = _as_seen(page, min(lefts), max(tops))
    x1, y1 = _as_seen(page, max(rights), min(bottoms))
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _as_seen(page: Any, x: float, y: float) -> tuple[float, float]:
    """A place of a PDF page, in its units, as parts of the page as it is seen: from the left and from the top."""
    raw = _import("pypdfium2.raw")
    size = 20_000  # of a picture of the page, in whole pixels: that is how exact places are
    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page, 0, 0, size, size, 0, x, y, byref(across), byref(down))
    return _share(across.value / size), _share(down.value / size)


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _read_image(
    path: Path, source: str, dpi: int, done: Container[str], numbers: range | None
) -> Iterator[Page | BadFile]:
    pil = _import("PIL.Image")
    try:
        file = pil.open(path)
        frames = getattr(file, "n_frames", 1)
    except Exception as error:  # Pillow's readers fail in ways of their own on damaged files
        raise BadFile(f"{path} cannot be read as an image ({error})") from None
    with closing(file):
        for i in _indices(frames, numbers):
            id = source
            if frames > 1:
                id = f"{source}#{i + 1}"
            if id in done:
                continue
            try:
                file.seek(i)
                _check_size(*file.size)
                yield Page(id, _rgb(file), (), source, i + 1)
            except Exception as error:
                yield BadFile(f"{path}, page {i + 1}, cannot be read as an image ({error})")


def _rgb(picture: Any) -> Any:
    """A picture as a person sees it: turned as its camera says, on white where it is transparent."""
    pil = _import("PIL.Image")
    picture = _import("PIL.ImageOps").exif_transpose(picture)
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


def _check_size(width: float, height: float) -> None:
    if not 1 <= width * height <= MAX_PIXELS:
        raise BadFile(
            f"{width:.0f} x {height:.0f} pixels is beyond {MAX_PIXELS:,}: a lower resolution, or a bad file"
        )


def _import(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise missing_extra("reading pages", "pdf") from None
