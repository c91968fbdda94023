"""Lines of a back-of-book index -> entries: a term and the printed pages it names.

beams, by hand . . . . . . 28        a main entry
    automatic . . . . . 17, 30-32    a sub-entry: it keeps the words of its parent
ligatures, see beams                 a reference: it takes the pages of what it names
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

NUMBER = r"\d{1,4}(?:\s*[-–—]\s*\d{1,4})?(?:ff?\.?)?"  # 12, 12-14, 12f, 12ff.
NUMBERS = rf"(?P<numbers>{NUMBER}(?:\s*,\s*{NUMBER})*)\s*,?"
ENTRY = re.compile(rf"(?P<term>.*?\w.*?)(?:\s*(?:\.\s*){{2,}}|,\s*|\s{{2,}}){NUMBERS}$")
MORE = re.compile(
    rf"(?:\.\s*)*{NUMBERS}$"
)  # the rest of a long list of pages, on a line of its own
SEE = re.compile(
    r"(?P<before>.+?)[\s,;.(]+see\b(?P<also>\s+also)?:?\s+(?P<target>[^)]+)\)?\.?$", re.IGNORECASE
)
SAME = 2.0  # points: lines that begin this close have one indent


@dataclass(frozen=True)
class Line:
    """A line of print and how far it is indented, in points from the margin of its column."""

    text: str
    indent: float


@dataclass(frozen=True)
class Entry:
    """A term of the index and the printed numbers of its pages, in order."""

    term: str
    pages: tuple[int, ...]


def parse(lines: Iterable[Line]) -> list[Entry]:
    """The entries of an index; a term that stands in several places is one entry, a reference to nothing none.

    A line that is indented below another goes on with its words: a sub-entry of its parent, or the second line of a
    long term.
    """
    pages: dict[str, list[int]] = {}
    references: list[tuple[str, str]] = []
    parents: list[Line] = []
    term = ""
    for line in lines:
        text, target = _without_reference(line.text.strip())
        if more := MORE.match(text):
            pages.setdefault(term, []).extend(numbers(more["numbers"]))
        elif len(text) > 1:  # a single letter is a heading
            found = ENTRY.match(text)
            parents = [p for p in parents if p.indent < line.indent - SAME]
            parents.append(Line(_clean(found["term"] if found else text), line.indent))
            term = " ".join(p.text for p in parents)
            if found:
                pages.setdefault(term, []).extend(numbers(found["numbers"]))
            if target:
                references.append((term, _clean(target)))
    for term, target in references:
        pages.setdefault(term, []).extend(pages.get(target, []))
    return [Entry(term, tuple(sorted(set(some)))) for term, some in pages.items() if term and some]


def numbers(text: str) -> Iterator[int]:
    """The pages that '28, 30-32, 145-8, 9f' names: a range has all of its pages, and 'f' is the next page too."""
    for part in text.split(","):
        first, *last = (int(number) for number in re.findall(r"\d+", part))
        end = _whole(first, last[0]) if last else first + ("f" in part)
        yield from range(first, end + 1)


def is_entry(text: str) -> bool:
    """Whether a line looks like one of an index."""
    return bool(ENTRY.match(text.strip()))


def share(lines: Sequence[Line]) -> float:
    """Share of lines that look like entries: high on the pages of an index, low elsewhere."""
    return sum(is_entry(line.text) for line in lines) / max(len(lines), 1)


def _without_reference(text: str) -> tuple[str, str]:
    """The line without its 'see ...', and where that leads; 'see also' adds to an entry and leads nowhere."""
    found = None if is_entry(text) else SEE.match(text)
    if not found:
        return text, ""
    return found["before"], "" if found["also"] else found["target"]


def _whole(first: int, last: int) -> int:
    """The end of a range; 145-8 is 145-148."""
    digits = str(first)
    return last if last >= first else int(digits[: len(digits) - len(str(last))] + str(last))


def _clean(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip(" .,;")
