"""The nouns: a page, its vectors, their merge tree, where it was cut, what is stored of it, and what a search finds."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from adamerge import arrays, kernels
from adamerge.arrays import ArrayLike, Doubles, Floats, Ints
from adamerge.codes import StoredRows, bytes_per_row, to_rows
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
    """One page of a document: its picture and the words of its text layer, if it has one.

    picture  a PIL image, or a function that draws it when somebody looks; None where there is none
    """

    id: str
    picture: Any
    words: tuple[Word, ...] = ()
    source: str = ""
    number: int = 1

    @property
    def image(self) -> Any:
        """The picture as a PIL image; None where there is none."""
        if callable(self.picture):
            return self.picture()
        return self.picture

    def draw(self) -> None:
        """Draw the picture now, while its file is there."""
        if callable(self.picture):
            self.picture()

    def __repr__(self) -> str:
        """The page in words, without its picture."""
        picture = "no image"
        if callable(self.picture):
            picture = "an image that is drawn when it is looked at"
        elif size := getattr(self.picture, "size", None):
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
        self._set("vectors", arrays.directions(_without_float16(self.vectors), "vectors"))
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
    rows             `stored` in int8 or in codes, where the method's name says so (`+int4`) or the page was read
                     from such a store; `vectors` and `extra` are then what these rows stand for. Else None.
    """

    vectors: Floats
    groups: Ints
    extra: Floats | None = None
    cut: Cut = Cut()
    method: str = ""
    grid: tuple[int, int] | None = None
    boxes: Floats | None = None
    id: str = ""
    rows: StoredRows | None = None

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

    @property
    def dtype(self) -> str:
        """The dtype in which it is kept; float16 where nothing says another."""
        if self.rows is None:
            return "float16"
        return self.rows.dtype

    def bytes(self, dtype: str | None = None) -> int:
        """Bytes of `stored` in a dtype (float32 ... int1), or in its own; the scales of int8 and of codes count."""
        stored = len(self) + self.extra_rows
        return stored * bytes_per_row(self.vectors.shape[1], dtype or self.dtype)

    def rows_in(self, dtype: str) -> StoredRows:
        """`stored` in a dtype: `rows` themselves if they are in it, else rounded."""
        if self.rows is not None and self.rows.dtype == dtype:
            return self.rows
        return to_rows(self.stored, dtype, f"page '{self.id}'")


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


def _without_float16(values: ArrayLike) -> ArrayLike:
    """A float16 matrix as float32, in a tenth of the time that NumPy takes; all else as it came."""
    if isinstance(values, np.ndarray) and values.dtype == np.float16 and values.ndim == 2:
        return kernels.widen(np.ascontiguousarray(values))
    return values


def _attention(values: ArrayLike, n: int) -> Floats:
    attention = arrays.weights(values, "attention")
    if len(attention) != n:
        raise BadShape(
            f"attention must have one value per patch: {n} patches, attention of shape {attention.shape}"
        )
    return attention


def _extra(values: ArrayLike, vectors: Floats) -> Floats:
    extra = arrays.floats(_without_float16(values), "extra", rank=2)
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
