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

from adamerge.errors import AdamergeError, BadFile, BadInput, NotFound, missing_extra
from adamerge.types import Box, Page, Word

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
) -> Iterator[Page]:
    """The pages of one file, which is to be called `source`; otherwise as `read_pages`."""
    reader = _read_pdf if path.suffix.lower() == ".pdf" else _read_image
    try:
        for page in reader(path, source, dpi, done):
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
    if isinstance(paths, str | Path):
        raise BadInput(
            f"files come as a list: [{str(paths)!r}]"
        )  # a string is a list of letters, "/" one of them
    each: dict[
        Path, tuple[Path, str]
    ] = {}  # a file that is given twice is one, by the name it was first given
    for given in paths:
        for path, name in _find(str(given)):
            each.setdefault(path.absolute(), (path, name))
    found = list(each.values())
    for path, name in found:
        if not name.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise BadFile(f"{str(path)!r}: its name is not UTF-8; rename it")
    names = Counter(name for _, name in found)
    if twice := [name for name, count in names.items() if count > 1]:
        raise BadFile(
            f"{names[twice[0]]} files would be called '{twice[0]}': give the folder that holds them all"
        )
    return found


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
    count = 0
    for path, _ in find_files(paths):
        pdf = path.suffix.lower() == ".pdf"
        opener = _import("pypdfium2").PdfDocument if pdf else _import("PIL.Image").open
        try:
            with closing(opener(path)) as file:
                count += len(file) if pdf else getattr(file, "n_frames", 1)
        except Exception:  # whatever it is, reading will say it
            count += 1
    return count


def _read_pdf(path: Path, source: str, dpi: int, done: Container[str]) -> Iterator[Page | BadFile]:
    pdfium = _import("pypdfium2")
    try:
        document = pdfium.PdfDocument(path)
    except (pdfium.PdfiumError, OSError) as error:
        why = (
            "is encrypted: remove its password first"
            if "password" in str(error).lower()
            else f"is damaged ({error})"
        )
        raise BadFile(f"{path} {why}") from None
    with closing(document):
        if not len(document):
            raise BadFile(f"{path} has no pages")
        for i in range(len(document)):
            if f"{source}#{i + 1}" in done:
                continue
            try:
                yield _pdf_page(document, i, source, dpi)
            except (pdfium.PdfiumError, BadFile) as error:
                yield BadFile(f"{path}, page {i + 1}: {error}")


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
    raw = _import("pypdfium2.raw")
    letters: list[str] = []
    boxes: list[Box] = []
    broken = False
    for i in range(text.count_chars() + 1):
        letter = chr(raw.FPDFText_GetUnicode(text, i)) if i < text.count_chars() else " "
        if letter == HYPHEN:
            broken = True
        elif not letter.isspace() and letter.isprintable() | ("\ud800" <= letter <= "\udfff"):
            letters.append(letter)
            boxes += [] if broken else [text.get_charbox(i)]
        elif letter.isspace() and letters and not (broken and letter in "\r\n"):
            if boxes:
                yield Word(_joined(letters), _on_page(page, boxes))
            letters, boxes, broken = [], [], False


def _joined(letters: list[str]) -> str:
    """Text from UTF-16 units: what is beyond the first plane comes as two."""
    return "".join(letters).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _on_page(page: Any, boxes: list[tuple[float, float, float, float]]) -> Box:
    """The box around PDF boxes (left, bottom, right, top) in parts of the page as it is seen, turned and cropped."""
    left, bottom, right, top = (f(b[k] for b in boxes) for k, f in enumerate((min, min, max, max)))
    corners = [_device(page, x, y) for x, y in ((left, top), (right, bottom))]
    (x0, x1), (y0, y1) = (sorted(values) for values in zip(*corners, strict=True))
    return x0, y0, x1, y1


def _device(page: Any, x: float, y: float) -> tuple[float, float]:
    raw, across, down, parts = _import("pypdfium2.raw"), c_int(), c_int(), 20_000
    raw.FPDF_PageToDevice(page, 0, 0, parts, parts, 0, x, y, byref(across), byref(down))
    return min(max(across.value / parts, 0.0), 1.0), min(max(down.value / parts, 0.0), 1.0)


def _read_image(
    path: Path, source: str, dpi: int, done: Container[str]
) -> Iterator[Page | BadFile]:
    pil = _import("PIL.Image")
    try:
        file = pil.open(path)
        frames = getattr(file, "n_frames", 1)
    except (
        Exception
    ) as error:  # Pillow's readers fail in ways of their own on what is damaged or a bomb
        raise BadFile(f"{path} cannot be read as an image ({error})") from None
    with closing(file):
        for i in range(frames):
            id = f"{source}#{i + 1}" if frames > 1 else source
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
    picture = _import("PIL.ImageOps").exif_transpose(picture)
    if picture.mode.startswith("I;16"):
        picture = _import("PIL.Image").fromarray(
            (_import("numpy").asarray(picture) >> 8).astype("uint8")
        )
    if picture.mode in ("I", "F"):
        raise BadFile(
            f"its numbers (mode {picture.mode}) have no range that makes them colours: save 8 or 16 bits"
        )
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        white = _import("PIL.Image").new("RGBA", picture.size, "white")
        picture = _import("PIL.Image").alpha_composite(white, picture)
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
