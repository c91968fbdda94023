"""pages, a target -> a plan: the frontier of bytes against loss, and the method to take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adamerge import files
from adamerge.arrays import ArrayLike
from adamerge.codes import check_dtype
from adamerge.errors import BadInput, BadShape
from adamerge.fidelities import Drawing, Queries, draw_queries
from adamerge.fidelities.queries import given_queries
from adamerge.html_file import in_frame
from adamerge.plans import plan_html
from adamerge.plans.candidates import DTYPES, PRUNE_AT, Candidate, for_target, on_grid
from adamerge.plans.frontier import PlanRow, choose, frontier, nearest, to_row
from adamerge.plans.loss_map import is_judged, load_loss_map
from adamerge.plans.measured import SampleTrial
from adamerge.plans.sample import SAMPLE, draw_sample
from adamerge.plans.store_needs import MILLION, Corpus, StoreNeeds, needs_of
from adamerge.plans.target import Target, target_of
from adamerge.threads import cores
from adamerge.types import MultiVector

QUERIES = 200  # drawn from the sample: as many as the map to losses was fitted with
TOP = 10
FEWEST_PAGES = 20  # below it, the top ten is most of the sample


@dataclass(frozen=True)
class Plan:
    """What to store for a target, and what else there is.

    rows       the frontier, largest first; the chosen row is among them
    tried      every method that was tried
    chosen     the row to take; None without a target, or where nothing meets it
    nearest    the row that comes closest to a target that nothing meets; else None
    corpus     the pages that are to be stored: a million, unless `corpus_pages` said how many
    is_judged  whether the map from agreement to loss was fitted on this encoder; else losses are extrapolated
    pages, queries   of the sample
    """

    target: Target | None
    rows: tuple[PlanRow, ...]
    tried: tuple[PlanRow, ...]
    chosen: PlanRow | None
    nearest: PlanRow | None
    corpus: Corpus
    is_judged: bool
    pages: int
    patches: float
    queries: int
    are_drawn: bool

    @property
    def encoder(self) -> str:
        """The name of what made the pages; empty where nobody knows."""
        return self.corpus.encoder

    @property
    def d(self) -> int:
        """Dimensions of a vector."""
        return self.corpus.d

    def needs(self, row: PlanRow) -> StoreNeeds:
        """What the corpus needs in a store if it is kept as a row says."""
        return needs_of(row, self.corpus)

    def json_rows(self) -> list[dict[str, Any]]:
        """The rows as `adamerge plan --json` prints them: each with what it needs in a store."""
        return [row.json() | self.needs(row).json() for row in self.rows]

    def __str__(self) -> str:
        """The choice in one sentence."""
        if self.target is None:
            return f"{len(self.rows)} choices from {self.pages} pages; name a target to choose"
        if self.chosen is None:
            return f"nothing meets {self.target}{_closest(self.nearest)}"
        return f"{self.chosen.method} for {self.target}: {_size(self.chosen)}, {_loss(self.chosen)}"

    @property
    def html(self) -> str:
        """The plan as one HTML file, with the frontier as a plot."""
        return plan_html.render(self)

    def save(self, path: str | Path) -> Path:
        """Write the HTML to a file, under a temporary name until it is whole."""
        path = Path(path)
        files.write(path, self.html)
        return path

    def _repr_html_(self) -> str:
        return in_frame(self.html, "What to store")


def plan(
    pages: Iterable[MultiVector],
    *,
    total: str | float | None = None,
    corpus_pages: int | None = None,
    bytes_per_page: str | float | None = None,
    compression: float | None = None,
    max_vectors: float | None = None,
    max_loss: float | None = None,
    queries: Iterable[ArrayLike | MultiVector] | None = None,
    dtypes: Sequence[str] = DTYPES,
    encoder: str = "",
    sample: int = SAMPLE,
    seed: int = 0,
    workers: int | None = None,
) -> Plan:
    """What to store of pages like these, and what that is expected to lose.

    One target at most: `total` bytes of `corpus_pages` pages, or `bytes_per_page` (a number, or "20kB"); `compression`;
    `max_vectors` a page; `max_loss` of nDCG@5. All are means over pages: dense pages get more.

    queries  (q, d) each, that people asked; without them, strips of patches are drawn from the sample
    dtypes   in which vectors may be kept
    encoder  the name of what made the pages; the loss of an encoder without judgements is extrapolated
    sample   pages to try methods on, drawn from all of them
    """
    target = target_of(
        total=total,
        corpus_pages=corpus_pages,
        bytes_per_page=bytes_per_page,
        compression=compression,
        max_vectors=max_vectors,
        max_loss=max_loss,
    )
    _check_dtypes(dtypes)
    drawn = draw_sample(pages, sample, seed)
    _check_pages(drawn)
    asked = _queries(drawn, queries, seed)

    trial = SampleTrial(drawn, asked, TOP, workers or cores(), seed)
    tried = _try_all(trial, target, tuple(dtypes))
    corpus = Corpus(corpus_pages or MILLION, trial.d, _mean_squared_patches(drawn), encoder)
    return _choose(tried, target, trial, corpus)


def _choose(
    tried: Sequence[PlanRow], target: Target | None, trial: SampleTrial, corpus: Corpus
) -> Plan:
    """The plan of what was tried: its frontier, and the row that meets the target or comes nearest to it."""
    chosen = None
    closest = None
    if target is not None:
        chosen = choose(tried, target)
        if chosen is None:
            closest = nearest(tried, target)
    return Plan(
        target=target,
        rows=tuple(frontier(tried, chosen)),
        tried=tuple(tried),
        chosen=chosen,
        nearest=closest,
        corpus=corpus,
        is_judged=is_judged(corpus.encoder),
        pages=len(trial.pages),
        patches=_mean_patches(trial.pages),
        queries=len(trial.queries),
        are_drawn=trial.queries.know_their_page,
    )


def _try_all(trial: SampleTrial, target: Target | None, dtypes: tuple[str, ...]) -> list[PlanRow]:
    """Every candidate with its bytes, agreement and loss; of two with one name the first stays."""
    kind = "drawn" if trial.queries.know_their_page else "asked"
    loss_map = load_loss_map(kind)
    rows: dict[str, PlanRow] = {}
    for candidate in _candidates(trial, target, dtypes):
        for measured in trial.measure(candidate.h, candidate.k, candidate.dtypes):
            rows.setdefault(measured.method, to_row(measured, loss_map))
    return list(rows.values())


def _candidates(
    trial: SampleTrial, target: Target | None, dtypes: tuple[str, ...]
) -> Iterable[Candidate]:
    whole = trial.linked(None)
    ks: list[float | None] = [None]
    if trial.has_attention:
        ks.append(PRUNE_AT)
    for k in ks:
        linked = trial.linked(k)
        yield from on_grid(linked, whole.most_rows, dtypes)
        if target is not None:
            yield from for_target(linked, target, trial.d, _mean_patches(trial.pages), dtypes)


def _queries(
    pages: Sequence[MultiVector], queries: Iterable[ArrayLike | MultiVector] | None, seed: int
) -> Queries:
    if queries is None:
        return draw_queries(pages, Drawing(most=QUERIES, seed=seed))
    asked = given_queries(queries)
    width = asked.vectors.shape[1]
    d = pages[0].vectors.shape[1]
    if width != d:
        raise BadShape(f"queries have {width} dimensions, and the pages have {d}")
    return asked


def _check_pages(pages: Sequence[MultiVector]) -> None:
    if len(pages) < FEWEST_PAGES:
        raise BadInput(
            f"a plan needs at least {FEWEST_PAGES} pages to compare their order, got {len(pages)}"
        )
    widths = {page.vectors.shape[1] for page in pages}
    if len(widths) > 1:
        raise BadShape(f"pages must have one dimension, got {sorted(widths)}")


def _check_dtypes(dtypes: Sequence[str]) -> None:
    for dtype in dtypes:
        check_dtype(dtype)
    if not dtypes:
        raise BadInput(f"name at least one dtype of {', '.join(DTYPES)}")


def _mean_squared_patches(pages: Sequence[MultiVector]) -> float:
    return float(np.mean([len(page) ** 2 for page in pages]))


def _mean_patches(pages: Sequence[MultiVector]) -> float:
    return float(np.mean([len(page) for page in pages]))


def _closest(row: PlanRow | None) -> str:
    if row is None:
        return ""
    return f"; nearest is {row.method}: {_size(row)}, {_loss(row)}"


def _size(row: PlanRow) -> str:
    return f"{row.rows_per_page:,.0f} vectors and {row.bytes_per_page:,.0f} bytes a page"


def _loss(row: PlanRow) -> str:
    return f"expected loss {row.expected_loss:.3f} ({row.low:.3f} to {row.high:.3f}) nDCG@5"
