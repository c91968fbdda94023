"""What happened to a page: its patches, attention, groups, curve and queries, as one HTML file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from adamerge import files
from adamerge.arrays import ArrayLike, Floats
from adamerge.compress import Method
from adamerge.compress.merge import pooling_weights, rule_of, weigh
from adamerge.compress.names import as_method
from adamerge.errors import BadInput
from adamerge.inspector import colours, curve, data, layout, picture, reasons, render
from adamerge.inspector.queries import Found, Query, as_queries, find
from adamerge.inspector.steps import Step, over_k, rule
from adamerge.types import Compressed, MultiVector, Word

__all__ = ["Inspection", "Query", "inspect"]

LIMIT = 2_900_000  # characters of data and picture, which takes what the rest leaves
LEAST = 250_000  # of them for the picture, however large the rest is


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a method did to a page; shows itself in a notebook.

    page   as it came, with the importance that the method goes by
    steps  the method at each k a reader can choose, `own` the one that was asked for
    """

    page: MultiVector
    steps: tuple[Step, ...]
    own: int
    boxes: Floats
    placed: bool
    image: Any = None
    words: tuple[Word, ...] = ()
    found: tuple[Found, ...] = ()

    @property
    def small(self) -> Compressed:
        """What is stored of the page."""
        return self.steps[self.own].small

    @cached_property
    def html(self) -> str:
        """The whole page as HTML, under 3 MB for a page of some thousand patches."""
        return self.to_html()

    def to_html(self, back: str = "") -> str:
        """The same, with a link to where a reader came from."""
        text = data.as_json(self._data())
        shown = self.image if self.placed else None
        uri = picture.shrink(shown, max(LIMIT - len(text), LEAST)) if shown is not None else ""
        return render.html(self.page.id or "page", text, uri, back)

    def cliff_svg(self) -> str:
        """The merge-cosine curve and where it was cut, as SVG."""
        if not len(self.steps[self.own].sequence):
            raise BadInput(f"no curve: {self._why().get('curve', reasons.FEW)}")
        return curve.draw(self.steps[self.own], self.page.id or "page")

    def save(self, path: str | Path) -> Path:
        """Write the HTML to a file, under a temporary name until it is whole."""
        return write(Path(path), self.html)

    def __repr__(self) -> str:
        """The page and the method, without what is shown of them."""
        return f"Inspection({self.small!r})"

    def _repr_html_(self) -> str:
        return render.framed(self.html)

    def _why(self) -> dict[str, str]:
        return reasons.absent(
            self.steps[self.own], self.page, self.placed, self.image is not None, bool(self.found)
        )

    def _data(self) -> dict[str, Any]:
        near = colours.neighbours(self.boxes)
        steps = [data.of_step(step, self.page, near) for step in self.steps]
        queries = [data.of_query(found) for found in self.found]
        about, own = self._about(), len(data.as_json(steps[self.own]))
        room = LIMIT - LEAST - len(data.as_json(about)) - own
        asked = [queries[i] for i in data.fitting(queries, room)]
        kept = data.fitting(steps, own + max(0, room - len(data.as_json(asked))), self.own)
        about |= {"steps": [steps[i] for i in kept], "own": kept.index(self.own), "queries": asked}
        return about | {
            "why": self._why() | reasons.left_out(len(queries) - len(asked)),
            "few": reasons.FEW,
        }

    def _about(self) -> dict[str, Any]:
        step, page = self.steps[self.own], self.page
        width, height = self.image.size if self.image is not None and self.placed else _shape(page)
        return {
            "id": page.id,
            "patches": len(page),
            "dimensions": page.vectors.shape[1],
            "extra": 0 if page.extra is None else len(page.extra),
            "width": width,
            "height": height,
            "tiled": layout.tiled(self.boxes),
            "covering": layout.covering(self.boxes),
            "boxes": data.packed(self.boxes, "f4"),
            "words": layout.texts(self.boxes, self.words),
            "attention": "" if page.attention is None else data.packed(page.attention, "f4"),
            "heat": data.heat_top(page.attention),
            "weighted": pooling_weights(page, rule_of(step.method)) is not None,
            "rule": rule(step),
            "floors": data.of_floors(step.method),
        }


def inspect(
    page: MultiVector,
    method: Method | str = "adamerge",
    image: Any = None,
    queries: Mapping[str, ArrayLike] | Iterable[Query] | None = None,
) -> Inspection:
    """What a method does to a page, to look at: in a notebook, or as a file by `save`.

    image    a PIL image, a file (`scan.png`, `report.pdf#3`), or a Page, which brings its words too
    queries  texts and their vectors (q, d), or Query objects, which name each token
    """
    if not isinstance(page, MultiVector):
        raise BadInput(
            f"inspect wants a MultiVector, got {type(page).__name__}: MultiVector(vectors, attention)"
        )
    chosen: Any = as_method(method)
    page = weigh(page, rule_of(chosen))
    steps = tuple(over_k(page, chosen))
    own = [str(step.method) for step in steps].index(str(chosen))
    shown, words = picture.look(image)
    known = rule(steps[own]) != "own"
    found = tuple(find(query, page, steps[own].small, known) for query in as_queries(queries))
    return Inspection(page, steps, own, *layout.place(page), image=shown, words=words, found=found)


def write(path: Path, text: str) -> Path:
    """Write a text file and return its path."""
    files.write(path, text)
    return path


def _shape(page: MultiVector) -> tuple[int, int]:
    """Width and height to draw a page in that has no picture: square patches, or a sheet of paper."""
    if page.grid is not None:
        return 40 * page.grid[1], 40 * page.grid[0]
    return (1000, 1414) if page.boxes is not None else (1000, 1000)
