"""One version, and what is held of it -> the best pages for a query."""

from collections.abc import Callable, Sequence

import numpy as np

from adamerge.arrays import Floats
from adamerge.search import (
    Ranking,
    best,
    candidates_of_each,
    maxsim_of_batches,
    most_candidates,
    nearest_by_signs,
    rank_by_both,
    rank_in_two_stages,
)
from adamerge.store.lance.loaded_vectors import Loaded
from adamerge.store.lance.loaded_words import LoadedWords
from adamerge.store.lance.row_columns import stored_columns
from adamerge.store.lance.snapshot import Snapshot
from adamerge.store.limits import SIGNS_FROM

# what is read, what is held of it, and a filter of Lance -> the best pages for each query
RankPages = Callable[[Snapshot, Loaded, str], list[Ranking]]


def rank_pages(
    snapshot: Snapshot,
    loaded: Loaded,
    passing: str,
    queries: Sequence[Floats],
    k: int,
    exact: bool,
) -> list[Ranking]:
    """The best k of the pages that pass a filter of Lance, for each query.

    Every page is compared if all are in memory and not many, or if `exact` says so. Else sign planes or mean
    vectors propose candidates.
    """
    only = snapshot.ids(passing) if passing else None
    pages = len(snapshot.listing.ids) if only is None else len(only)
    are_few = loaded.signs is None or pages < SIGNS_FROM
    if loaded.vectors is not None and (exact or are_few):
        return loaded.vectors.rank(queries, k, only)
    if exact:
        return [_rank_all_on_disk(snapshot, query, k, passing) for query in queries]
    if loaded.signs is not None:
        return [_rank_by_signs(snapshot, loaded, query, k, only) for query in queries]
    return [_rank_by_means(snapshot, query, k, passing, pages) for query in queries]


def rank_pages_by_both(
    snapshot: Snapshot,
    loaded: Loaded,
    passing: str,
    words: LoadedWords,
    queries: Sequence[Floats],
    texts: Sequence[str],
    k: int,
    exact: bool,
) -> list[Ranking]:
    """What `rank_pages` gives, by the vectors of each query and the words of its text."""
    in_memory = words.update(snapshot)
    by_vectors = rank_pages(snapshot, loaded, passing, queries, candidates_of_each(k), exact)
    only = set(snapshot.ids(passing)) if passing else None

    rankings = []
    for query, text, ranking in zip(queries, texts, by_vectors, strict=True):
        ids, by_words = in_memory.scores(text)
        if only is not None:
            passes = np.array([id in only for id in ids], bool)
            ids = [id for id in ids if id in only]
            by_words = by_words[passes]

        def score(proposed: list[str], query: Floats = query) -> tuple[list[str], Floats]:
            return _scores(snapshot, loaded, query, proposed)

        rankings.append(rank_by_both(ranking, ids, by_words, score, k))
    return rankings


def found_ids(rankings: Sequence[Ranking]) -> list[str]:
    """The ids of the pages of some rankings, each once, in order."""
    ids: dict[str, None] = {}
    for ranking in rankings:
        ids |= dict.fromkeys(id for id, _ in ranking.best)
    return list(ids)


def _rank_all_on_disk(snapshot: Snapshot, query: Floats, k: int, passing: str) -> Ranking:
    """The best k of all pages that pass a filter, read a batch at a time."""
    batches = snapshot.vectors(stored_columns(snapshot.about), passing)
    ids, scores = maxsim_of_batches(query, batches)
    return Ranking(best(ids, scores, k), "exact", len(ids), len(ids))


def _rank_by_signs(
    snapshot: Snapshot, loaded: Loaded, query: Floats, k: int, only: list[str] | None
) -> Ranking:
    """The best k of all pages, or of those in `only`: the sign planes propose, the stored codes decide."""
    assert loaded.signs is not None
    signs = loaded.signs.pages(only)
    pages = len(signs.ids)
    proposed = nearest_by_signs(query, signs, most_candidates(k, pages))

    def propose(n: int) -> list[str]:
        return proposed[:n]

    def score(ids: list[str]) -> tuple[list[str], Floats]:
        return _scores(snapshot, loaded, query, ids)

    return rank_in_two_stages(k, pages, propose, score, "sign planes")


def _rank_by_means(snapshot: Snapshot, query: Floats, k: int, passing: str, pages: int) -> Ranking:
    """The best k of the pages that pass a filter: the index of the means proposes, MaxSim decides."""
    mean = query.mean(0)

    def propose(n: int) -> list[str]:
        return snapshot.nearest_means(mean, n, passing)

    def score(ids: list[str]) -> tuple[list[str], Floats]:
        return _scores_on_disk(snapshot, query, ids)

    return rank_in_two_stages(k, pages, propose, score, "mean vectors")


def _scores(
    snapshot: Snapshot, loaded: Loaded, query: Floats, ids: list[str]
) -> tuple[list[str], Floats]:
    """The scores of some pages: by what is held in memory, else read where they lie."""
    if loaded.vectors is None:
        return _scores_on_disk(snapshot, query, ids)
    found, scores = loaded.vectors.scores([query], ids)
    return found, scores[0]


def _scores_on_disk(snapshot: Snapshot, query: Floats, ids: list[str]) -> tuple[list[str], Floats]:
    """The scores of some pages, read where they lie."""
    return maxsim_of_batches(query, snapshot.vectors_of(stored_columns(snapshot.about), ids))
