"""The nouns: a page, its vectors, their merge tree, where it was cut, what is stored of it, and what a search finds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from adamerge import arrays
from adamerge.arrays import ArrayLike, Doubles, Floats, Ints
from adamerge.errors import BadShape
from adamerge.geometry import Box

NAN = float("nan")
SHOWN = 60  # letters of an id, or of metadata, in what repr() shows: two lines hold all of it


class Word(NamedTuple):
    """A word of a page, of its text layer or read from its picture, and where it stands."""

    text: str
    box: Box


@dataclass(frozen=True, eq=False)
class Page:
    """One page of a document: its picture (a PIL image) and the words of its text layer, if it has one."""

    id: str
    image: Any
    words: tuple[Word, ...] = ()
    source: str = ""
    number: int = 1

    def __repr__(self) -> str:
        """The page in words, without its picture."""
        picture = "no image"
        if size := getattr(self.image, "size", None):
            picture = "image of {} x {}".format(*size)
        return shown("Page", self.id, picture, f"{len(self.words):,} words")


@dataclass(frozen=True, eq=False)
class MultiVector:
    """One page as its encoder gave it; whatever comes in is checked and becomes read-only float32.

    vectors    (n, d)  a row per patch, n >= 1, no row of zeros
    attention  (n,)    importance of each patch, >= 0
    extra      (e, d)  rows that are not patches (prompt and end tokens); stored untouched
    grid       (rows, columns) of the patches, row by row
    boxes      (n, 4)  left, top, right, bottom of each patch on the page
    """

    vectors: Floats
    attention: Floats | None = None
    extra: Floats | None = None
    grid: tuple[int, int] | None = None
    boxes: Floats | None = None
    id: str = ""

    def __post_init__(self) -> None:
        """Check and convert every field."""
        self._set("vectors", arrays.directions(self.vectors, "vectors"))
        self._set("id", str(self.id))
        n = len(self.vectors)
        if self.attention is not None:
            self._set("attention", _attention(self.attention, n))
        if self.extra is not None:
            self._set("extra", _extra(self.extra, self.vectors))
        if self.grid is not None:
            self._set("grid", _grid(self.grid, n))
        if self.boxes is not None:
            self._set("boxes", _boxes(self.boxes, n))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __len__(self) -> int:
        """Patches of the page, n."""
        return len(self.vectors)

    def __repr__(self) -> str:
        """Which arrays the page has and their sizes, without the numbers."""
        facts = ["{:,} patches of {}".format(*self.vectors.shape)]
        if self.attention is None:
            facts.append("no attention")
        else:
            facts.append("attention")
        if self.extra is not None:
            facts.append(f"{len(self.extra)} extra")
        if self.grid is not None:
            facts.append("grid {} x {}".format(*self.grid))
        if self.boxes is not None:
            facts.append("boxes")
        return shown("MultiVector", self.id, *facts)


@dataclass(frozen=True, eq=False)
class Tree:
    """The merge tree of n patches, sorted by height.

    merges   (n-1, 2)  the two nodes joined; patch i is node i, merge t makes node n + t (SciPy's numbering)
    heights  (n-1,)    Ward distance of the two, non-decreasing
    cosines  (n-1,)    cosine of their unweighted centroids; not monotone
    """

    merges: Ints
    heights: Doubles
    cosines: Doubles

    def __len__(self) -> int:
        """Patches of the tree, n."""
        return len(self.heights) + 1

    def __repr__(self) -> str:
        """The size of the tree, without the numbers."""
        facts = [f"{len(self):,} patches"]
        if len(self.heights):
            facts.append(f"up to height {self.heights[-1]:.3f}")
        return shown("Tree", "", *facts)


@dataclass(frozen=True)
class Cut:
    """Where merging stopped: after `merges` merges, with similarity `theta` at the last and a drop of `gap` after it.

    Both are nan where there is nothing to say: no merge made, or none left.
    """

    merges: int = 0
    theta: float = NAN
    gap: float = NAN


@dataclass(frozen=True, eq=False)
class Compressed:
    """A page after compression, and where each of its patches went.

    vectors  (m, d)  what is stored, 1 <= m <= n
    groups   (n,)    row of `vectors` that holds patch i; -1 where patch i was pruned
    extra    (e, d)  stored beside them, untouched
    cut              where merging stopped, and why there
    method           the name of the method, which parse_method reads back
    grid, boxes, id  those of the page
    """

    vectors: Floats
    groups: Ints
    extra: Floats | None = None
    cut: Cut = Cut()
    method: str = ""
    grid: tuple[int, int] | None = None
    boxes: Floats | None = None
    id: str = ""

    def __len__(self) -> int:
        """Groups stored, m."""
        return len(self.vectors)

    def __repr__(self) -> str:
        """What became of the page, without the numbers."""
        shape = " x ".join(map(str, self.vectors.shape))
        facts = [f"{len(self.groups):,} patches in vectors of {shape}"]
        if self.extra is not None:
            facts.append(f"{len(self.extra)} extra")
        if self.method:
            facts.append(self.method)
        if not np.isnan(self.cut.theta):
            facts.append(f"theta {self.cut.theta:.3f}")
        return shown("Compressed", self.id, *facts)

    @property
    def compression(self) -> float:
        """Share of patches that are not stored any more, 1 - m/n; `extra` does not count."""
        return 1 - len(self.vectors) / len(self.groups)

    @property
    def extra_rows(self) -> int:
        """Rows of `extra`, e; 0 where there is none."""
        if self.extra is None:
            return 0
        return len(self.extra)

    @property
    def stored(self) -> Floats:
        """All rows to store, vectors and then extra: (m + e, d)."""
        if self.extra is None:
            return self.vectors
        return np.concatenate([self.vectors, self.extra])

    def bytes(self, dtype: DTypeLike = np.float16) -> int:
        """Bytes of `stored` in a dtype."""
        numbers = self.vectors.size
        if self.extra is not None:
            numbers += self.extra.size
        return numbers * np.dtype(dtype).itemsize


@dataclass(frozen=True, eq=False)
class Match:
    """Where one vector of a query found its best match on a page.

    row    of the stored vectors of the page; those after the groups are `extra` rows, which have no place on the page
    boxes  (p, 4) of the patches in that group, in parts of the page; words are those of the text layer inside them
    """

    similarity: float
    row: int
    boxes: Floats
    words: tuple[str, ...] = ()

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
    matches         one per query vector; their similarities sum to `score`. In a store of int8 they do so to its
                    rounding: the score is of the query in int8 too, a match of the query itself
    rank            1 for the best page
    snippet         the sentences of the page around the best matches
    root            the folder in which the file was found, "" where it is not known
    equal_to        the id of a hit of better rank that holds the same page, as in a copy of the file; "" for none
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

    @property
    def path(self) -> str:
        """Where the file of the page is, or was when it was indexed; its name where the folder is not known."""
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
    """

    hits: tuple[Hit, ...]
    how: str
    candidates: int
    pages: int

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
        return shown("Found", "", *facts)


def shown(name: str, id: str, *facts: str) -> str:
    """What repr() says of an object: its class, its id and its facts; those that are empty are left out."""
    parts = [fact for fact in facts if fact]
    if id:
        parts.insert(0, repr(shortened(id)))
    return f"{name}({', '.join(parts)})"


def shortened(text: str) -> str:
    """A text that fits in a line; its middle is left out where it is long."""
    if len(text) <= SHOWN:
        return text
    half = SHOWN // 2
    return f"{text[: half - 1]}…{text[-half:]}"


def _attention(values: ArrayLike, n: int) -> Floats:
    attention = arrays.weights(values, "attention")
    if len(attention) != n:
        raise BadShape(
            f"attention must have one value per patch: {n} patches, attention of shape {attention.shape}"
        )
    return attention


def _extra(values: ArrayLike, vectors: Floats) -> Floats:
    extra = arrays.floats(values, "extra", rank=2)
    if extra.shape[1] != vectors.shape[1]:
        raise BadShape(f"extra must be as wide as vectors: {extra.shape} beside {vectors.shape}")
    return extra


def _boxes(values: ArrayLike, n: int) -> Floats:
    boxes = arrays.floats(values, "boxes", rank=2)
    if boxes.shape != (n, 4):
        raise BadShape(f"boxes must have shape ({n}, 4), one per patch, got {boxes.shape}")
    return boxes


def _grid(values: tuple[int, int], n: int) -> tuple[int, int]:
    try:
        sizes = tuple(int(v) for v in values)
    except (TypeError, ValueError):
        raise BadShape(f"grid must be (rows, columns), got {values!r}") from None
    if len(sizes) != 2 or sizes[0] * sizes[1] != n or sizes[0] < 1:
        raise BadShape(
            f"grid must be (rows, columns), one cell per patch: {n} patches, grid {sizes}"
        )
    return sizes[0], sizes[1]
