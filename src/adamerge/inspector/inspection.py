"""Page and method -> an inspection, which writes itself as HTML or as a figure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from adamerge import files
from adamerge.arrays import ArrayLike, Floats
from adamerge.codes import bytes_per_row
from adamerge.compress import Method, MethodInDtype
from adamerge.compress.merge import pooling_weights, rule_of, weigh
from adamerge.compress.names import as_method, split_dtype
from adamerge.errors import BadInput
from adamerge.html_file import in_frame, to_json
from adamerge.inspector import curve_svg, group_colours, missing_parts, page_html, page_json
from adamerge.inspector.k_sweep import Step, stop_rule, sweep_k
from adamerge.inspector.patch_positions import covering_patches, is_tiled, locate, words_on_patches
from adamerge.inspector.picture import as_image, data_uri
from adamerge.inspector.query_scores import Query, QueryScores, as_queries, score
from adamerge.types import Compressed, MultiVector, Word

PIXELS_OF_PATCH = 40  # of a grid that is drawn without a picture
SHEET = (1000, 1414)  # width and height of a page with boxes and without a picture: as A4
SQUARE = (1000, 1000)


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a method did to a page; shows itself in a notebook.

    page    with the importance that the method uses as its attention
    steps   the method at each k that a reader can choose
    own     which of the steps has the k that was asked for
    boxes   (n, 4)  where each patch is drawn
    placed  whether that is the patch's real place on the page
    """

    page: MultiVector
    steps: tuple[Step, ...]
    own: int
    boxes: Floats
    placed: bool
    image: Any = None
    words: tuple[Word, ...] = ()
    scores: tuple[QueryScores, ...] = ()

    @property
    def small(self) -> Compressed:
        """What is stored of the page."""
        return self.steps[self.own].small

    @cached_property
    def html(self) -> str:
        """The whole page as HTML, under 3 MB for a page of some thousand patches."""
        return self.to_html()

    def to_html(self, back: str = "") -> str:
        """The same HTML, with a link back to the address `back`."""
        data = to_json(self._data())
        picture = ""
        if self._picture is not None:
            picture = data_uri(self._picture, page_json.room_for_picture(data))
        return page_html.render(self._name, data, picture, back)

    def cliff_svg(self) -> str:
        """The merge-cosine curve and where it was cut, as SVG."""
        step = self.steps[self.own]
        if not len(step.sequence):
            reason = self._reasons().get("curve", missing_parts.TOO_FEW)
            raise BadInput(f"no curve: {reason}")
        return curve_svg.draw(step, self._name)

    def save(self, path: str | Path) -> Path:
        """Write the HTML to a file, under a temporary name until it is whole."""
        path = Path(path)
        files.write(path, self.html)
        return path

    def __repr__(self) -> str:
        """The page and the method, without what is shown of them."""
        return f"Inspection({self.small!r})"

    def _repr_html_(self) -> str:
        return in_frame(self.html, "What happened to a page")

    @property
    def _name(self) -> str:
        return self.page.id or "page"

    @property
    def _picture(self) -> Any:
        """The picture to draw on; None if there is none, or if nobody knows where the patches lie on it."""
        return self.image if self.placed else None

    def _reasons(self) -> dict[str, str]:
        return missing_parts.reasons(
            self.steps[self.own],
            self.page,
            placed=self.placed,
            has_picture=self.image is not None,
            has_queries=bool(self.scores),
        )

    def _data(self) -> dict[str, Any]:
        """Everything that the page in the browser reads."""
        near = group_colours.neighbours(self.boxes)
        steps = [page_json.step_data(step, self.page, near) for step in self.steps]
        queries = [page_json.query_data(scores) for scores in self.scores]

        data = page_json.leave_out(self._page_data(), steps, self.own, queries)

        left_out = len(queries) - len(data["queries"])
        missing = self._reasons() | missing_parts.queries_left_out(left_out)
        return data | {"missing": missing, "too_few": missing_parts.TOO_FEW}

    def _page_data(self) -> dict[str, Any]:
        step, page = self.steps[self.own], self.page
        width, height = _size(page) if self._picture is None else self._picture.size
        return {
            "id": page.id,
            "patches": len(page),
            "dimensions": page.vectors.shape[1],
            "vector_bytes": bytes_per_row(page.vectors.shape[1], step.small.dtype),
            "extra": 0 if page.extra is None else len(page.extra),
            "width": width,
            "height": height,
            "tiled": is_tiled(self.boxes),
            "covering": covering_patches(self.boxes),
            "boxes": page_json.pack(self.boxes, "f4"),
            "words": words_on_patches(self.boxes, self.words),
            "weighted": pooling_weights(page, rule_of(step.method)) is not None,
            "rule": stop_rule(step),
            "floors": page_json.floor_data(step.method),
            **page_json.attention_data(page.attention),
        }


def inspect(
    page: MultiVector,
    method: Method | MethodInDtype | str = "adamerge",
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
    named: Any = as_method(method)
    chosen: Any
    chosen, dtype = split_dtype(named)
    page = weigh(page, rule_of(chosen))
    steps = tuple(sweep_k(page, chosen, dtype))
    own = [str(step.method) for step in steps].index(str(chosen))

    small = steps[own].small
    browser_can_pool = stop_rule(steps[own]) != "own"
    scores = []
    for query in as_queries(queries):
        scores.append(score(query, page, small, browser_can_pool))

    boxes, placed = locate(page)
    picture, words = as_image(image)
    return Inspection(page, steps, own, boxes, placed, picture, words, tuple(scores))


def _size(page: MultiVector) -> tuple[int, int]:
    """Width and height to draw a page in that has no picture: square patches, or a sheet of paper."""
    if page.grid is not None:
        rows, columns = page.grid
        return PIXELS_OF_PATCH * columns, PIXELS_OF_PATCH * rows
    return SQUARE if page.boxes is None else SHEET
