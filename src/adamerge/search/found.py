"""What a search gives: the pages that it found, where each query vector matched on them, and what to read there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from adamerge.arrays import Floats
from adamerge.types import shortened, shown


@dataclass(frozen=True, eq=False)
class Match:
    """Where one vector of a query found its best match on a page.

    row          of the stored vectors of the page; those after the groups are `extra` rows, which have no place on it
    boxes        (p, 4) of the patches in that group, in parts of the page; words are those of the text layer inside
    word_places  which words of the page those are, from 0
    """

    similarity: float
    row: int
    boxes: Floats
    words: tuple[str, ...] = ()
    word_places: tuple[int, ...] = ()

    def __repr__(self) -> str:
        """The match in words, without its boxes."""
        facts = [
            f"similarity {self.similarity:.3f}",
            f"row {self.row}",
            f"{len(self.boxes)} boxes",
        ]
        if words := " ".join(self.words):
            facts.append(repr(shortened(words)))
        return shown("Match", "", *facts)


@dataclass(frozen=True)
class Snippet:
    """Some sentences of a page, to be read beside a hit.

    text   "" where the page has no words, or none of them was matched
    marks  (begin, end) of each piece of the text that the query matched, in letters: text[begin:end]
    """

    text: str = ""
    marks: tuple[tuple[int, int], ...] = ()

    def parts(self) -> Iterator[tuple[str, bool]]:
        """The text piece by piece, and whether each piece was matched."""
        last = 0
        for begin, end in self.marks:
            if begin > last:
                yield self.text[last:begin], False
            yield self.text[begin:end], True
            last = end
        if self.text[last:]:
            yield self.text[last:], False

    def marked(self, before: str = "**", after: str = "**") -> str:
        """The text with something before and after each piece that was matched: "the **storm** cost"."""
        pieces = []
        for text, is_matched in self.parts():
            if is_matched:
                text = f"{before}{text}{after}"
            pieces.append(text)
        return "".join(pieces)

    def __repr__(self) -> str:
        """The text in short, and how many marks it has."""
        return shown("Snippet", self.text, f"{len(self.marks)} marks")


@dataclass(frozen=True, eq=False)
class Hit:
    """A page that a search found.

    source, number  the file of the page, and which page of the file it is
    matches         one per query vector; their similarities sum to `score`. In a store of int8 or codes they do
                    so to its rounding: the score is of a rounded query, a match of the query itself
    rank            1 for the best page
    snippet         the sentences of the page around the best matches
    root            the folder in which the file was found, "" where it is not known
    equal_to        the id of a hit of better rank that holds the same page, as in a copy of the file; "" for none
    added_by_words  what the words of the page added to the score of its vectors, in a search by both; else 0
    """

    id: str
    score: float
    source: str = ""
    number: int = 1
    metadata: Mapping[str, Any] = field(default_factory=dict)
    matches: tuple[Match, ...] = ()
    rank: int = 1
    snippet: Snippet = Snippet()
    root: str = ""
    equal_to: str = ""
    added_by_words: float = 0.0

    @property
    def path(self) -> str:
        """Where the file of the page is, or was when it was indexed; its name where the folder is not known."""
        if "://" in self.root:  # in a bucket
            return f"{self.root}/{self.source}"
        return str(PurePath(self.root, self.source))

    def __repr__(self) -> str:
        """The hit in words, without its matches."""
        facts = [f"score {self.score:.3f}", f"{len(self.matches)} matches"]
        if self.metadata:
            facts.append(shortened(str(dict(self.metadata))))
        return shown("Hit", self.id, *facts)


@dataclass(frozen=True, eq=False)
class Found:
    """The hits of one search, best first, and how they were found.

    how         "exact": every page was compared; "settled": more candidates did not change the hits; "limit": the
                candidates were still changing the hits when there were as many as a search may take
    candidates  pages that were compared, of `pages` that passed the filter
    first_stage what proposed the candidates: "sign planes", or "mean vectors"; "" where every page was compared
    by_words    whether the words of the pages were compared too
    """

    hits: tuple[Hit, ...]
    how: str
    candidates: int
    pages: int
    first_stage: str = ""
    by_words: bool = False

    def __len__(self) -> int:
        """Hits found."""
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        """The hits, best first."""
        return iter(self.hits)

    def __getitem__(self, rank: int) -> Hit:
        """The hit of a rank, from 0."""
        return self.hits[rank]

    def distinct(self) -> list[Hit]:
        """The hits without those that hold the same page as a better one."""
        return [hit for hit in self.hits if not hit.equal_to]

    def copies_of(self, hit: Hit) -> list[Hit]:
        """The hits that hold the same page as a hit, and are not in `distinct` for that."""
        return [other for other in self.hits if other.equal_to == hit.id]

    def by_source(self) -> dict[str, list[Hit]]:
        """The distinct hits of each file; the file of the best hit comes first."""
        groups: dict[str, list[Hit]] = {}
        for hit in self.distinct():
            groups.setdefault(hit.source, []).append(hit)
        return groups

    def __repr__(self) -> str:
        """How much was found and how, and the best hit."""
        facts = [f"{len(self)} hits"]
        if self.hits:
            facts.append(f"best {shortened(self.hits[0].id)!r}")
        facts.append(self.how)
        facts.append(f"{self.candidates:,} of {self.pages:,} pages compared")
        if self.first_stage:
            facts.append(f"proposed by {self.first_stage}")
        if self.by_words:
            facts.append("by vectors and words")
        return shown("Found", "", *facts)
