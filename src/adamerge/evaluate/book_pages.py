"""A PDF -> what a book needs to become a dataset: its index, the numbers printed on its pages, its text."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from adamerge.errors import BadFile, missing_extra
from adamerge.evaluate.book_index import Line, share

# indexes of names, not of ideas: their terms are no questions
NAMES = re.compile(
    r"function|variable|command|operator|option|propert|editor|style|keyword|symbol|class|macro",
    re.I,
)
SHAPE = 0.35  # of its lines, at least this share looks like entries on a page of an index


@dataclass(frozen=True)
class Body:
    """The pages of a book before its first index: printed number -> physical page from 0, and how that was found."""

    pages: Mapping[int, int]
    how: str


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The PDF of a path, open; what is wrong with it is said with its name."""
    try:
        import pypdfium2
    except ImportError:
        raise missing_extra("reading books", "pdf") from None
    try:
        document = pypdfium2.PdfDocument(path)
    except (pypdfium2.PdfiumError, OSError) as error:
        raise BadFile(f"{path} cannot be read as a PDF ({error})") from None
    with closing(document):
        try:
            yield document
        except BadFile as error:
            raise BadFile(f"{path}: {error}") from None


def text(document: Any, i: int) -> str:
    """The text of a page, line by line."""
    with closing(document[i]) as page, closing(page.get_textpage()) as layer:
        return str(layer.get_text_bounded())


def lines(document: Any, i: int) -> list[Line]:
    """The lines of a page with their indents, column by column as they were set; a running head is left out."""
    with closing(document[i]) as page, closing(page.get_textpage()) as layer:
        middle = page.get_width() / 2
        found = list(_lines(layer))
    margins = [
        min((x for _, x in found if (x > middle) == right), default=0.0) for right in (False, True)
    ]
    return [
        Line(words, x - margins[x > middle])
        for n, (words, x) in enumerate(found)
        if not (n < 2 and _head(words))
    ]


def find_index(document: Any) -> tuple[list[int], int]:
    """The pages of the index of ideas, and the first page of any index: by the outline, else by how pages look."""
    indexes = _by_outline(document) or _by_shape(document)
    if not indexes:
        raise BadFile(
            "the book has no back-of-book index: no outline names one, and no page looks like one"
        )
    chosen = [p for title, p in indexes if re.search("concept|subject|general", title, re.I)]
    chosen = (
        chosen or [p for title, p in indexes if not NAMES.search(title)] or [p for _, p in indexes]
    )
    return [i for pages in chosen for i in pages], min(pages[0] for _, pages in indexes)


def number_pages(document: Any, end: int) -> Body:
    """The pages before `end` by their printed numbers: the PDF's labels, or the offset that most pages agree on."""
    labels = [document.get_page_label(i) for i in range(len(document))]
    digits = [(int(label), i) for i, label in enumerate(labels) if label.isdecimal()]
    if len(digits) > len(document) / 2:
        numbered = {number: i for number, i in reversed(digits) if i < end and number > 0}
        return Body(dict(sorted(numbered.items())), "labels")
    votes = Counter(
        i - number for i in range(len(document)) for number in _printed(text(document, i))
    )
    (offset, count), *_ = [*votes.most_common(1), (0, 0)]
    if count < len(document) / 4:
        raise BadFile(
            f"no page labels, and only {count} of {len(document)} pages agree on where numbers are printed"
        )
    return Body(
        {i - offset: i for i in range(end) if i > offset},
        f"offset {offset:+d}, {count} pages agree",
    )


def _lines(layer: Any) -> Iterator[tuple[str, float]]:
    """Text and left edge of each line."""
    import pypdfium2.raw as raw

    letters: list[str] = []
    left = 0.0
    for i in range(layer.count_chars() + 1):
        letter = chr(raw.FPDFText_GetUnicode(layer, i)) if i < layer.count_chars() else "\n"
        if letter in "\r\n":
            if words := "".join(letters).strip():
                yield words, left
            letters = []
        else:
            if not "".join(letters).strip():
                left = layer.get_charbox(i)[0]
            letters.append(letter)


def _head(words: str) -> bool:
    """A running head names the index or the page: 'Concept Index 446', '1114 The Book'."""
    return (
        bool(re.search(r"\bindex\b", words, re.I) or re.match(r"\d+(\s\D*)?$", words))
        and ". ." not in words
    )


def _by_outline(document: Any) -> list[tuple[str, list[int]]]:
    """Title and pages of every chapter that calls itself an index."""
    marks = [(m.get_title(), m.get_dest()) for m in document.get_toc() if m.level == 0]
    starts = [(title, dest.get_index()) for title, dest in marks if dest is not None]
    pages = [range(a, max(b, a + 1)) for (_, a), (_, b) in pairwise([*starts, ("", len(document))])]
    chapters = zip((title for title, _ in starts), pages, strict=True)
    return [(title, list(some)) for title, some in chapters if re.search(r"\bindex\b", title, re.I)]


def _by_shape(document: Any) -> list[tuple[str, list[int]]]:
    """Runs of pages in the last third that look like an index, each with its title."""
    found: list[tuple[str, list[int]]] = []
    for i in range(2 * len(document) // 3, len(document)):
        if share(lines(document, i)) < SHAPE:
            continue
        title = next(
            (t for t in text(document, i).splitlines()[:3] if re.search(r"\bindex\b", t, re.I)), ""
        )
        title = re.sub(r"\d+", "", title).strip()
        if found and found[-1][1][-1] == i - 1 and title in ("", found[-1][0]):
            found[-1][1].append(i)
        else:
            found.append((title, [i]))
    return found


def _printed(words: str) -> list[int]:
    """Numbers that stand alone at an end of the first or last line."""
    rows = [row.strip() for row in words.splitlines() if row.strip()]
    found = (
        m
        for row in {*rows[:1], *rows[-1:]}
        for m in (re.match(r"(\d{1,4})\b", row), re.search(r"\b(\d{1,4})$", row))
    )
    return sorted({int(m[1]) for m in found if m})
