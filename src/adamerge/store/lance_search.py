"""Search of one version of a table: exact in memory while the vectors fit, else in two stages from disk."""

import numpy as np

from adamerge.arrays import Floats
from adamerge.search import Memory, best, maxsim, rank_until_stable
from adamerge.store.base import Ranking
from adamerge.store.lance_read import Snapshot, ids_filter
from adamerge.store.schema import flat_vectors, stored_vectors, vector_bytes, vector_columns

WRITES_AT_ONCE = 256  # that a filter names; where more are new, all vectors are read


class ResidentVectors:
    """The vectors of a table in memory; of a newer version, only the pages that were written since are read."""

    def __init__(self, budget: int) -> None:
        """Hold at most so many bytes of vectors."""
        self.budget = budget
        self._memory: Memory | None = None
        self._written: dict[str, int] = {}  # id -> the write that the held vectors are of
        self._made = ""
        self._version = -1

    def update(self, snapshot: Snapshot) -> Memory | None:
        """The vectors of a version; None if they do not fit.

        A page is known by the write it is of, not by when that was: a writer that took its clock first may commit last.
        """
        if snapshot.about.made != self._made:
            self._forget(snapshot.about.made)
        if snapshot.version == self._version:
            return self._memory
        listed = snapshot.read(["id", "rows", "written"])
        rows = int(listed["rows"].to_numpy().sum())
        if rows * vector_bytes(snapshot.about) > self.budget:
            self._forget(snapshot.about.made)
            self._version = snapshot.version
            return None
        written = dict(zip(listed["id"].to_pylist(), listed["written"].to_pylist(), strict=True))
        self._memory = self._take(snapshot, written, rows)
        self._version = snapshot.version
        return self._memory

    def _take(self, snapshot: Snapshot, written: dict[str, int], rows: int) -> Memory:
        """Drop the pages that are gone, and read those that are new."""
        about = snapshot.about
        if self._memory is None:
            self._memory = Memory(about.dimension, about.dtype, rows)
        memory = self._memory
        for id in memory.ids - set(written):
            memory.drop(id)
            self._written.pop(id, None)
        new_writes = {write for id, write in written.items() if self._written.get(id) != write}
        if not new_writes:
            return memory
        columns = vector_columns(about)
        for batch in snapshot.scan(columns, self._filter(new_writes)):
            for page in stored_vectors(batch):
                if self._written.get(page.id) == written[page.id]:
                    continue
                memory.put(page.id, page.vectors, page.scales)
                self._written[page.id] = written[page.id]
        return memory

    def _filter(self, new_writes: set[int]) -> str:
        if not self._written or len(new_writes) > WRITES_AT_ONCE:
            return ""
        return f"written IN ({', '.join(map(str, sorted(new_writes)))})"

    def _forget(self, made: str) -> None:
        self._memory = None
        self._written = {}
        self._made, self._version = made, -1


def rank_resident(
    memory: Memory, queries: list[Floats], k: int, only: list[str] | None
) -> list[Ranking]:
    """The best k of all pages in memory, or of some, for each query."""
    ids, scores = memory.scores(queries, only)
    return [Ranking(best(ids, row, k), "exact", len(ids), len(ids)) for row in scores]


def rank_on_disk(
    snapshot: Snapshot, query: Floats, k: int, where: str, pages: int, exact: bool
) -> Ranking:
    """The best k of `pages` pages that pass a filter, read from disk: all of them, or some that are proposed."""
    if exact:
        ids, scores = scores_on_disk(snapshot, query, where)
        return Ranking(best(ids, scores, k), "exact", len(ids), len(ids))
    mean = query.mean(0)

    def propose(n: int) -> list[str]:
        return snapshot.nearest(mean, n, where)

    def score(ids: list[str]) -> tuple[list[str], Floats]:
        if not ids:
            return [], np.zeros(0, np.float32)
        return scores_on_disk(snapshot, query, ids_filter(ids))

    found, how, candidates = rank_until_stable(k, pages, propose, score)
    return Ranking(found, how, candidates, pages)


def scores_on_disk(snapshot: Snapshot, query: Floats, where: str) -> tuple[list[str], Floats]:
    """MaxSim of the pages that pass a filter, read a batch at a time."""
    ids: list[str] = []
    scores: list[Floats] = [np.zeros(0, np.float32)]
    for batch in snapshot.scan(vector_columns(snapshot.about), where):
        ids += [page.id for page in stored_vectors(batch)]  # which checks them
        scores.append(maxsim(query, *flat_vectors(batch)))
    return ids, np.concatenate(scores)
