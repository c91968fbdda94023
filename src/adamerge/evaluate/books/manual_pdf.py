"""A PDF -> what a book is made of: the text of its pages, its index, and the numbers printed on its pages."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adamerge.errors import BadFile, missing_extra
from adamerge.evaluate.books.index_entries import IndexLine, share_of_entries

INDEX = re.compile(r"\bindex\b", re.IGNORECASE)
INDEX_OF_IDEAS = re.compile("concept|subject|general", re.IGNORECASE)
# indexes of names, not of ideas: their terms are no questions
INDEX_OF_NAMES = re.compile(
    r"function|variable|command|operator|option|propert|editor|style|keyword|symbol|class|macro",
    re.IGNORECASE,
)
LEAST_SHARE = 0.35  # of the lines of an index page look like entries


@dataclass(frozen=True)
class Body:
    """The pages of a book before its first index.

    pages  printed number -> physical page, counted from 0
    how    how the numbers were found
    """

    pages: Mapping[int, int]
    how: str


@dataclass(frozen=True)
class Index:
    """An index of the book: its title, and its physical pages counted from 0."""

    title: str
    pages: list[int]


@contextmanager
def open_pdf(path: Path) -> Iterator[Any]:
    """The PDF of a path, open; an error about it names the file."""
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


def page_text(document: Any, i: int) -> str:
    """The text of a page, line by line."""
    with closing(document[i]) as page, closing(page.get_textpage()) as layer:
        return str(layer.get_text_bounded())


def page_lines(document: Any, i: int) -> list[IndexLine]:
    """The lines of a page with their indents, column by column; a running head is left out."""
    with closing(document[i]) as page, closing(page.get_textpage()) as layer:
        middle = page.get_width() / 2
        found = list(_lines_of_layer(layer))

    left_margin = min((x for _, x in found if x <= middle), default=0.0)
    right_margin = min((x for _, x in found if x > middle), default=0.0)

    lines = []
    for number, (words, x) in enumerate(found):
        if number < 2 and _is_running_head(words):
            continue
        margin = right_margin if x > middle else left_margin
        lines.append(IndexLine(words, x - margin))
    return lines


def find_index(document: Any) -> tuple[list[int], int]:
    """The pages of the index of ideas, and the first page of any index: by the outline, else by how pages look."""
    indexes = _indexes_of_outline(document) or _indexes_by_look(document)
    if not indexes:
        raise BadFile(
            "the book has no back-of-book index: no outline names one, and no page looks like one"
        )

    of_ideas = [index for index in indexes if INDEX_OF_IDEAS.search(index.title)]
    not_of_names = [index for index in indexes if not INDEX_OF_NAMES.search(index.title)]
    pages: list[int] = []
    for index in of_ideas or not_of_names or indexes:
        pages += index.pages

    first = min(index.pages[0] for index in indexes)
    return pages, first


def number_pages(document: Any, end: int) -> Body:
    """The pages before `end` by their printed numbers: the PDF's labels, or the offset that most pages agree on."""
    return _numbers_of_labels(document, end) or _numbers_of_print(document, end)


def _numbers_of_labels(document: Any, end: int) -> Body | None:
    """The pages by the labels of the PDF, where more than half of its pages have a number for a label."""
    pages: dict[int, int] = {}
    labelled = 0
    for i in range(len(document)):
        label = document.get_page_label(i)
        if not label.isdecimal():
            continue
        labelled += 1
        number = int(label)
        if number > 0 and i < end:
            pages.setdefault(number, i)  # of two pages with one number the first
    if labelled <= len(document) / 2:
        return None
    return Body(dict(sorted(pages.items())), "labels")


def _numbers_of_print(document: Any, end: int) -> Body:
    """The pages by the most common difference between a page and the number printed on it."""
    votes: Counter[int] = Counter()
    for i in range(len(document)):
        for number in _printed_numbers(page_text(document, i)):
            votes[i - number] += 1

    offset, count = 0, 0
    if votes:
        offset, count = votes.most_common(1)[0]
    if count < len(document) / 4:
        raise BadFile(
            f"no page labels, and only {count} of {len(document)} pages agree on where numbers are printed"
        )

    pages = {i - offset: i for i in range(end) if i > offset}
    return Body(pages, f"offset {offset:+d}, {count} pages agree")


def _lines_of_layer(layer: Any) -> Iterator[tuple[str, float]]:
    """Text and left edge of each line of a text layer."""
    import pypdfium2.raw as raw

    line = ""
    left = 0.0
    for i in range(layer.count_chars()):
        letter = chr(raw.FPDFText_GetUnicode(layer, i))
        if letter in "\r\n":
            if line.strip():
                yield line.strip(), left
            line = ""
            continue
        if not line.strip():
            left = layer.get_charbox(i)[0]
        line += letter
    if line.strip():
        yield line.strip(), left


def _is_running_head(words: str) -> bool:
    """Whether a line names the index or the page: 'Concept Index 446', '1114 The Book'."""
    if ". ." in words:
        return False
    return bool(INDEX.search(words) or re.match(r"\d+(\s\D*)?$", words))


def _indexes_of_outline(document: Any) -> list[Index]:
    """Every chapter of the outline that calls itself an index."""
    titles: list[str] = []
    starts: list[int] = []
    for mark in document.get_toc():
        target = mark.get_dest()
        if mark.level == 0 and target is not None:
            titles.append(mark.get_title())
            starts.append(target.get_index())

    ends = [*starts[1:], len(document)]
    indexes = []
    for title, start, end in zip(titles, starts, ends, strict=False):
        if INDEX.search(title):
            indexes.append(Index(title, list(range(start, max(end, start + 1)))))
    return indexes


def _indexes_by_look(document: Any) -> list[Index]:
    """Runs of pages in the last third that look like an index, each with its title."""
    indexes: list[Index] = []
    for i in range(2 * len(document) // 3, len(document)):
        if share_of_entries(page_lines(document, i)) < LEAST_SHARE:
            continue
        title = _title_of_index(page_text(document, i))
        last = indexes[-1] if indexes else None
        if last and last.pages[-1] == i - 1 and title in ("", last.title):
            last.pages.append(i)
        else:
            indexes.append(Index(title, [i]))
    return indexes


def _title_of_index(text: str) -> str:
    """The first of the three upper lines that speaks of an index, without its numbers."""
    for line in text.splitlines()[:3]:
        if INDEX.search(line):
            return re.sub(r"\d+", "", line).strip()
    return ""


def _printed_numbers(text: str) -> list[int]:
    """Numbers that stand alone at an end of the first or last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    numbers = set()
    for line in {*lines[:1], *lines[-1:]}:
        for found in (re.match(r"(\d{1,4})\b", line), re.search(r"\b(\d{1,4})$", line)):
            if found:
                numbers.add(int(found[1]))
    return sorted(numbers)
