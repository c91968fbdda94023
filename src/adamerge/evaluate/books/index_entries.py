"""Lines of a back-of-book index -> entries: a term and the printed pages it names.

beams, by hand . . . . . . 28        a main entry
    automatic . . . . . 17, 30-32    a sub-entry: it keeps the words of its parent
ligatures, see beams                 a reference: it takes the pages of the entry it names
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

NUMBER = r"\d{1,4}(?:\s*[-–—]\s*\d{1,4})?(?:ff?\.?)?"  # 12, 12-14, 12f, 12ff.
NUMBERS = rf"(?P<numbers>{NUMBER}(?:\s*,\s*{NUMBER})*)\s*,?"
ENTRY = re.compile(rf"(?P<term>.*?\w.*?)(?:\s*(?:\.\s*){{2,}}|,\s*|\s{{2,}}){NUMBERS}$")
# the rest of a long list of pages, on a line of its own
MORE_NUMBERS = re.compile(rf"(?:\.\s*)*{NUMBERS}$")
SEE = re.compile(
    r"(?P<before>.+?)[\s,;.(]+see\b(?P<also>\s+also)?:?\s+(?P<target>[^)]+)\)?\.?$", re.IGNORECASE
)
SAME_INDENT = 2.0  # points: lines that begin this close have one indent


@dataclass(frozen=True)
class IndexLine:
    """A line of print and how far it is indented, in points from the margin of its column."""

    text: str
    indent: float


@dataclass(frozen=True)
class IndexEntry:
    """A term of the index and the printed numbers of its pages, in order."""

    term: str
    pages: tuple[int, ...]


def parse_index(lines: Iterable[IndexLine]) -> list[IndexEntry]:
    """The entries of an index.

    A line that is indented below another goes on with its words: it is a sub-entry, or the second line of a long term.
    A term that stands in several places is one entry. A reference to a term that is not there is no entry.
    """
    pages: dict[str, list[int]] = {}
    references: list[tuple[str, str]] = []
    parents: list[IndexLine] = []
    term = ""

    for line in lines:
        text, target = _split_reference(line.text.strip())
        more = MORE_NUMBERS.match(text)
        if more:
            pages.setdefault(term, []).extend(page_numbers(more["numbers"]))
            continue
        if len(text) <= 1:  # a single letter is a heading
            continue

        entry = ENTRY.match(text)
        words = _clean(entry["term"]) if entry else _clean(text)
        parents = [parent for parent in parents if parent.indent < line.indent - SAME_INDENT]
        parents.append(IndexLine(words, line.indent))
        term = " ".join(parent.text for parent in parents)
        if entry:
            pages.setdefault(term, []).extend(page_numbers(entry["numbers"]))
        if target:
            references.append((term, _clean(target)))

    for source, target in references:
        pages.setdefault(source, []).extend(pages.get(target, []))

    entries = []
    for found, numbers in pages.items():
        if found and numbers:
            entries.append(IndexEntry(found, tuple(sorted(set(numbers)))))
    return entries


def page_numbers(text: str) -> Iterator[int]:
    """The pages that '28, 30-32, 145-8, 9f' names: a range has all of its pages, 'f' is the next page too."""
    for part in text.split(","):
        first, *last = map(int, re.findall(r"\d+", part))
        if last:
            end = _end_of_range(first, last[0])
        elif "f" in part:
            end = first + 1
        else:
            end = first
        yield from range(first, end + 1)


def share_of_entries(lines: Sequence[IndexLine]) -> float:
    """The share of lines that look like entries: high on the pages of an index, low elsewhere."""
    entries = [line for line in lines if _is_entry(line.text)]
    return len(entries) / max(len(lines), 1)


def _is_entry(text: str) -> bool:
    return bool(ENTRY.match(text.strip()))


def _split_reference(text: str) -> tuple[str, str]:
    """The line without its 'see ...', and the term it refers to; 'see also' adds nothing to an entry."""
    if _is_entry(text):
        return text, ""
    found = SEE.match(text)
    if not found:
        return text, ""
    if found["also"]:
        return found["before"], ""
    return found["before"], found["target"]


def _end_of_range(first: int, last: int) -> int:
    """The last page of a range; 145-8 is 145-148."""
    if last >= first:
        return last
    digits = str(first)
    kept = digits[: len(digits) - len(str(last))]
    return int(kept + str(last))


def _clean(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip(" .,;")
