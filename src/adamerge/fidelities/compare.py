"""pages, methods -> how much of the order of uncompressed pages each method keeps, and in how many bytes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adamerge.arrays import ArrayLike, Doubles, Floats
from adamerge.compress import Identity
from adamerge.compress.names import as_method
from adamerge.errors import BadInput
from adamerge.fidelities import measures
from adamerge.fidelities.bootstrap import UNKNOWN, Estimate, mean_by_page, ratio_of_sums
from adamerge.fidelities.queries import Drawing, Queries, draw_queries, given_queries, match_pages
from adamerge.fidelities.scores import Compress, Scored, score_methods
from adamerge.types import NAN, MultiVector

DEFAULT_METHODS = ("identity", "height", "sem-cluster:m=4", "adamerge:k=none", "random:keep=0.25")
TOP = 10
MEASURES = ("compression", "bytes_per_page", "agreement", "correlation", "mrr")


@dataclass(frozen=True)
class Fidelity:
    """What one method keeps of the order of uncompressed pages.

    compression     1 - stored patches / patches
    bytes_per_page  of vectors and extra in float16
    agreement       share of the uncompressed top ten that is kept
    correlation     Spearman's rank correlation over all pages
    mrr             mean of 1 / rank of the page that a query was drawn from; nan where nobody knows that page
    theta, theta_sd median and standard deviation of theta over pages; nan where the method has no cut
    """

    method: str
    pages: int
    queries: int
    compression: Estimate
    bytes_per_page: Estimate
    agreement: Estimate
    correlation: Estimate
    mrr: Estimate
    theta: float
    theta_sd: float

    def json(self) -> dict[str, Any]:
        """As JSON has it: every measure with its interval as NAME_low and NAME_high; nan becomes null."""
        values: dict[str, Any] = {"method": self.method}
        for name in MEASURES:
            estimate = getattr(self, name)
            values[name] = _or_none(estimate.value)
            values[f"{name}_low"] = _or_none(estimate.low)
            values[f"{name}_high"] = _or_none(estimate.high)
        values["theta"] = _or_none(self.theta)
        values["theta_sd"] = _or_none(self.theta_sd)
        values["pages"] = self.pages
        values["queries"] = self.queries
        return values


def fidelity(
    pages: Iterable[MultiVector],
    methods: Sequence[Compress | str] = DEFAULT_METHODS,
    queries: Iterable[ArrayLike | MultiVector] | None = None,
    *,
    drawn_from: Iterable[MultiVector] | None = None,
    drawing: Drawing = Drawing(),  # noqa: B008 (frozen)
    top: int = TOP,
    workers: int | None = None,
) -> list[Fidelity]:
    """What each method keeps of the order of uncompressed pages; no judgement is needed.

    A method is a name, or anything that takes a page and gives it compressed. `queries` are those that people asked,
    (q, d) each. Without them, queries are drawn from the pages, or from `drawn_from`: a second encoding of them.

    Pages are read twice where queries are drawn from them: once to draw, once to compress. An iterator, which can be
    read only once, is kept in memory. There must be more pages than `top`.
    """
    if isinstance(pages, Iterator):
        pages = list(pages)
    chosen = [as_method(method) for method in methods]
    if not chosen:
        raise BadInput("there is no method to compare: name at least one")

    asked = _queries(pages, queries, drawn_from, drawing)
    ids, (before, *after) = score_methods(pages, [Identity(), *chosen], asked, workers)
    _check_pages(ids, top)
    if drawn_from is not None:
        asked = match_pages(asked, ids)

    uncompressed = before.scores
    found = []
    for method, scored in zip(chosen, after, strict=True):
        found.append(_measure(str(method), uncompressed, scored, asked, top, drawing.seed))
    return found


def _queries(
    pages: Iterable[MultiVector],
    queries: Iterable[ArrayLike | MultiVector] | None,
    drawn_from: Iterable[MultiVector] | None,
    drawing: Drawing,
) -> Queries:
    """The queries that were given, or drawn from a second encoding, or drawn from the pages with noise."""
    if queries is not None and drawn_from is not None:
        raise BadInput("queries are given or drawn: leave out one of queries and drawn_from")
    if queries is not None:
        return given_queries(queries)
    if drawn_from is not None:
        return draw_queries(drawn_from, replace(drawing, noise=0.0))
    return draw_queries(pages, drawing)


def _measure(
    method: str, before: Floats, scored: Scored, queries: Queries, top: int, seed: int
) -> Fidelity:
    after = scored.scores
    patches = np.array(scored.patches)
    kept = ratio_of_sums(np.array(scored.vectors), patches, seed)
    ones = np.ones(len(patches))

    sources = queries.pages
    mrr = UNKNOWN
    if queries.know_their_page:
        ranks = measures.reciprocal_rank(after, sources)
        mrr = mean_by_page(ranks, sources, seed)
    else:
        sources = np.arange(len(queries))  # queries of people are drawn again one by one

    theta, theta_sd = _theta(np.array(scored.thetas))
    return Fidelity(
        method=method,
        pages=len(patches),
        queries=len(queries),
        compression=Estimate(1 - kept.value, 1 - kept.high, 1 - kept.low),
        bytes_per_page=ratio_of_sums(np.array(scored.bytes), ones, seed),
        agreement=mean_by_page(measures.agreement(before, after, top), sources, seed),
        correlation=mean_by_page(measures.correlation(before, after), sources, seed),
        mrr=mrr,
        theta=theta,
        theta_sd=theta_sd,
    )


def _theta(thetas: Doubles) -> tuple[float, float]:
    """Median and standard deviation over the pages that were cut."""
    known = thetas[np.isfinite(thetas)]
    if not len(known):
        return NAN, NAN
    return float(np.median(known)), float(known.std())


def _check_pages(ids: Sequence[str], top: int) -> None:
    if top < 1:
        raise BadInput(f"top must be at least 1, got {top}")
    if len(ids) <= top:
        raise BadInput(
            f"{len(ids)} pages are all among the best {top}, so nothing can be lost: "
            f"give more pages, or ask for a smaller top, as --top {max(1, len(ids) // 3)}"
        )


def _or_none(value: float) -> float | None:
    if np.isnan(value):
        return None
    return value
