"""Pages of a PDF: PDFium gives the words of each page, and draws it when somebody looks at its picture first.

PDFium may be called by one thread at a time, so each call here holds a lock.
"""

from collections.abc import Container, Iterator
from contextlib import closing, contextmanager
from ctypes import byref, c_int
from pathlib import Path
from threading import RLock
from typing import Any

from adamerge.buckets import AnyPath
from adamerge.documents.find import is_surrogate
from adamerge.documents.rendering import check_size, import_library, page_indices
from adamerge.errors import BadFile
from adamerge.geometry import Box
from adamerge.types import Page, Word

HYPHEN = "\ufffe"  # what PDFium has for a hyphen that ends a line
ONE_THREAD = RLock()  # that calls PDFium


def read_pdf(
    path: Path,
    source: str,
    dpi: int,
    done: Container[str] = (),
    numbers: range | None = None,
    password: str = "",
    name: AnyPath | None = None,
) -> Iterator[Page | BadFile]:
    """The pages of a PDF, each or its error.

    name  what errors call the file; None for its path
    """
    file = PdfFile(path, name or path, password)
    with file.opened() as pages:
        if not pages:
            raise BadFile(f"{file.name} has no pages")
        for i in page_indices(pages, numbers):
            if f"{source}#{i + 1}" in done:
                continue
            try:
                yield file.page(i, source, dpi)
            except BadFile as error:
                yield error


def count_pdf(path: Path, password: str = "") -> int:
    """How many pages a PDF has."""
    with PdfFile(path, path, password).opened() as pages:
        return pages


class PdfFile:
    """A PDF that is read page by page. Pictures of its pages may be drawn at any time, by any thread."""

    def __init__(self, path: Path, name: AnyPath, password: str) -> None:
        """Open nothing yet; `name` is what errors call the file."""
        self.path = path.absolute()  # pictures may be drawn after somebody went to another folder
        self.name, self._password = name, password
        self._document: Any = None  # while it is open

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Open as long as the block runs; gives the number of pages."""
        with ONE_THREAD:
            document = self._open()
            pages = len(document)
            self._document = document
        try:
            yield pages
        finally:
            with ONE_THREAD:
                self._document = None
                document.close()

    def _open(self) -> Any:
        pdfium = import_library("pypdfium2")
        try:
            return pdfium.PdfDocument(self.path, password=self._password or None)
        except (pdfium.PdfiumError, OSError) as error:
            if "password" not in str(error).lower():
                raise BadFile(f"{self.name} is damaged ({error})") from None
            if self._password:
                raise BadFile(
                    f"{self.name} is encrypted, and the password does not open it"
                ) from None
            raise BadFile(
                f"{self.name} is encrypted: remove its password, or give it by --password or ADAMERGE_PASSWORD"
            ) from None

    def page(self, i: int, source: str, dpi: int) -> Page:
        """A page with its words; the file must be open."""
        with ONE_THREAD, self._of_page(i), closing(self._document[i]) as page:
            width, height = page.get_size()
            check_size(width * dpi / 72, height * dpi / 72)
            with closing(page.get_textpage()) as text:
                words = tuple(_words(page, text))
        return Page(f"{source}#{i + 1}", Drawing(self, i, dpi), words, source, i + 1)

    def draw(self, i: int, dpi: int) -> Any:
        """The picture of a page; a file that was closed is opened once more."""
        with ONE_THREAD:
            if self._document is not None:
                return self._draw(i, dpi)
            if not self.path.exists():
                raise BadFile(f"{self.name} is gone, and nobody had looked at page {i + 1}")
            with self.opened():
                return self._draw(i, dpi)

    def _draw(self, i: int, dpi: int) -> Any:
        with (
            self._of_page(i),
            closing(self._document[i]) as page,
            closing(page.render(scale=dpi / 72)) as bitmap,
        ):
            return bitmap.to_pil().convert("RGB")

    @contextmanager
    def _of_page(self, i: int) -> Iterator[None]:
        """Turns errors into those of a page."""
        pdfium = import_library("pypdfium2")
        try:
            yield
        except (pdfium.PdfiumError, BadFile) as error:
            raise BadFile(f"{self.name}, page {i + 1}: {error}") from None


class Drawing:
    """Draws a page when it is called first; the same picture from then on."""

    def __init__(self, file: PdfFile, i: int, dpi: int) -> None:
        """Draw nothing yet."""
        self._file, self._i, self._dpi = file, i, dpi
        self._picture: Any = None

    def __call__(self) -> Any:
        """The picture, as a PIL image."""
        with ONE_THREAD:
            if self._picture is None:
                self._picture = self._file.draw(self._i, self._dpi)
            return self._picture


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
        elif letter.isprintable() or is_surrogate(letter):
            letters.append(letter)
            if not hyphenated:
                boxes.append(text.get_charbox(i))


def _letters(text: Any) -> Iterator[str]:
    """The characters of a page in the order of its text, and a space that ends the last word."""
    raw = import_library("pypdfium2.raw")
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
    raw = import_library("pypdfium2.raw")
    size = 20_000  # of a picture of the page, in whole pixels: that is how exact places are
    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page, 0, 0, size, size, 0, x, y, byref(across), byref(down))
    return _share(across.value / size), _share(down.value / size)


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
