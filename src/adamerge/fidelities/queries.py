"""Queries without people: strips of neighbouring patches, drawn from the pages themselves.

A query is some patches that lie side by side on a page, as those of a word do. It looks for the page that it was drawn
from. The patches come from a second encoding of the pages, or get noise as a second encoding has it: without noise they
would find themselves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from adamerge import arrays
from adamerge.arrays import ArrayLike, Floats, Longs, row_offsets
from adamerge.errors import BadInput, Mismatch
from adamerge.fidelities.noise import NOISE, add_noise
from adamerge.search import StackedQueries
from adamerge.types import MultiVector

NO_PAGE = -1


@dataclass(frozen=True)
class Drawing:
    """How queries are drawn.

    strip     rows and columns of patches in a query; where a page has no grid, as many patches in a row
    per_page  queries of a page at most
    most      queries of all pages together at most
    noise     length of the noise of the median patch, in lengths of the patch; 0 for none
    seed      of all that is random
    """

    strip: tuple[int, int] = (1, 4)
    per_page: int = 10
    most: int = 1000
    noise: float = NOISE
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse numbers that draw nothing."""
        counts = {"per_page": self.per_page, "most": self.most}
        counts |= {"rows of a strip": self.strip[0], "columns of a strip": self.strip[1]}
        for name, count in counts.items():
            if count < 1:
                raise BadInput(f"{name} must be at least 1, got {count}")
        if not 0 <= self.noise < np.inf:
            raise BadInput(f"noise must be 0 or more, got {self.noise}")


@dataclass(frozen=True, eq=False)
class Queries(StackedQueries):
    """Queries one after the other, and the page that each was drawn from.

    vectors  (rows, d)        offsets  (queries + 1,)   rows offsets[i] .. offsets[i+1] are query i's
    pages    (queries,)       number of the page that query i looks for; -1 where nobody knows
    page_ids                  the ids of all pages that queries were drawn from
    """

    pages: Longs
    page_ids: tuple[str, ...] = ()

    @property
    def know_their_page(self) -> bool:
        """Whether there is a page that each query looks for."""
        return bool((self.pages != NO_PAGE).all())


class Drawn(NamedTuple):
    """One query that was drawn."""

    vectors: Floats
    page: int
    number: int  # of the query on its page


def given_queries(queries: Iterable[ArrayLike | MultiVector]) -> Queries:
    """Queries (q, d) that people asked; nobody knows the page that they look for."""
    checked = []
    for query in queries:
        vectors = query
        if isinstance(query, MultiVector):
            vectors = query.vectors
        checked.append(arrays.directions(vectors, "query"))
    return _stack(checked, [NO_PAGE] * len(checked), page_ids=[])


def draw_queries(pages: Iterable[MultiVector], drawing: Drawing = Drawing()) -> Queries:  # noqa: B008 (frozen)
    """Queries of the patches of pages; query i looks for page `Queries.pages[i]`, counted from 0."""
    page_ids = []
    drawn: list[Drawn] = []
    for number, page in enumerate(pages):
        page_ids.append(page.id)
        drawn.extend(_draw_from_page(page, number, drawing))

    vectors, numbers = [], []
    for query in _choose(drawn, drawing):
        vectors.append(query.vectors)
        numbers.append(query.page)
    return _stack(vectors, numbers, page_ids)


def match_pages(queries: Queries, ids: Sequence[str]) -> Queries:
    """Queries that were drawn from a second encoding of pages, looking for the pages of these ids.

    A page of the second encoding is the page of the same id. Where no id is the same, or two pages share one, it is the
    page at the same place.
    """
    from_ids = queries.page_ids
    numbers = {id: number for number, id in enumerate(ids)}
    is_unique = len(numbers) == len(ids) and len(set(from_ids)) == len(from_ids)
    if not is_unique or numbers.keys().isdisjoint(from_ids):
        if len(from_ids) > len(ids):
            raise Mismatch(
                f"queries are drawn from {len(from_ids)} pages, and {len(ids)} others are compressed"
            )
        return queries

    place = []
    for id in from_ids:
        if id not in numbers:
            raise Mismatch(f"queries are drawn from page '{id}', and no such page is compressed")
        place.append(numbers[id])
    return replace(queries, pages=np.array(place, np.int64)[queries.pages])


def _draw_from_page(page: MultiVector, number: int, drawing: Drawing) -> list[Drawn]:
    """The queries of one page; what they are depends on the seed and on the number of the page only."""
    generator = np.random.default_rng((drawing.seed, number))
    drawn = []
    for query in range(drawing.per_page):
        patches = _strip(page, drawing.strip, generator)
        vectors = add_noise(page.vectors[patches], drawing.noise, generator)
        drawn.append(Drawn(vectors, number, query))
    return drawn


def _strip(page: MultiVector, strip: tuple[int, int], generator: "np.random.Generator") -> Longs:
    """Neighbouring patches of a page, by their numbers; fewer where the page is smaller."""
    grid, size = page.grid, strip
    if grid is None:  # one long row
        grid, size = (1, len(page)), (1, strip[0] * strip[1])
    height = min(size[0], grid[0])
    width = min(size[1], grid[1])

    top = generator.integers(grid[0] - height + 1)
    left = generator.integers(grid[1] - width + 1)
    rows = np.arange(top, top + height)
    columns = np.arange(left, left + width)
    patches = rows[:, None] * grid[1] + columns
    return patches.ravel()


def _choose(drawn: list[Drawn], drawing: Drawing) -> list[Drawn]:
    """At most so many of the queries: the first of every page, then the second ones, pages in random order."""
    if len(drawn) <= drawing.most:
        return drawn
    pages = 1 + max(one.page for one in drawn)
    turn = np.random.default_rng(drawing.seed).permutation(pages)
    in_turn = sorted(drawn, key=lambda one: (one.number, turn[one.page]))
    chosen = in_turn[: drawing.most]
    return sorted(chosen, key=lambda one: (one.page, one.number))


def _stack(vectors: Sequence[Floats], pages: Sequence[int], page_ids: Sequence[str]) -> Queries:
    if not vectors:
        raise BadInput("there is no query: give one, or pages to draw queries from")
    widths = {array.shape[1] for array in vectors}
    if len(widths) > 1:
        raise BadInput(f"queries must have one width, got {sorted(widths)}")
    return Queries(
        vectors=np.concatenate(vectors),
        offsets=row_offsets(vectors),
        pages=np.array(pages, np.int64),
        page_ids=tuple(page_ids),
    )
