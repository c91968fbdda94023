"""The vectors of the newest version in memory, brought up to date by reading only what has changed."""

from adamerge.search import VectorsInMemory
from adamerge.store.lance.schema import rows_of_pages, vector_columns
from adamerge.store.lance.snapshot import Snapshot

MOST_WRITES = 256  # that a filter lists; where more writes are new, all vectors are read


class LoadedVectors:
    """The vectors of a table in memory, if they fit."""

    def __init__(self, budget: int) -> None:
        """Hold at most `budget` bytes of vectors."""
        self.budget = budget
        self._snapshot: Snapshot | None = None  # whose vectors are held; None while they change
        self._made = ""  # which store they are of
        self._vectors: VectorsInMemory | None = None
        self._written: dict[str, int] = {}  # id -> the write that its vectors are of

    def update(self, snapshot: Snapshot) -> VectorsInMemory | None:
        """The vectors of a version; None if they do not fit."""
        if snapshot is self._snapshot:
            return self._vectors
        if snapshot.about.made != self._made:
            self._forget()
            self._made = snapshot.about.made

        listed = snapshot.read(["id", "rows", "written"])
        rows = int(listed["rows"].to_numpy().sum())
        if rows * snapshot.about.vector_bytes > self.budget:
            self._forget()
        else:
            ids, writes = listed["id"].to_pylist(), listed["written"].to_pylist()
            self._bring_up_to_date(snapshot, dict(zip(ids, writes, strict=True)), rows)
        self._snapshot = snapshot
        return self._vectors

    def _bring_up_to_date(self, snapshot: Snapshot, written: dict[str, int], rows: int) -> None:
        """Drop the pages that are not in the version, and read those that are new or replaced.

        A page is new if it is of another write, not if that write is later: of two writers of a bucket, the one that
        took its time first may commit last.
        """
        about = snapshot.about
        self._snapshot = (
            None  # a failure from here on leaves a mixture, which the next call finishes
        )
        if self._vectors is None:
            self._vectors = VectorsInMemory(about.dimension, about.dtype, rows)
        vectors = self._vectors
        for id in vectors.ids - set(written):
            vectors.drop(id)
            self._written.pop(id, None)

        new_writes = {write for id, write in written.items() if self._written.get(id) != write}
        if not new_writes:
            return
        for batch in snapshot.scan(vector_columns(about), self._filter(new_writes)):
            for page in rows_of_pages(batch):
                if self._written.get(page.id) != written[page.id]:
                    vectors.put(page.id, page.rows)
                    self._written[page.id] = written[page.id]

    def _filter(self, new_writes: set[int]) -> str:
        """The filter that passes the pages of some writes; "" for all pages."""
        if not self._written or len(new_writes) > MOST_WRITES:
            return ""
        return f"written IN ({', '.join(map(str, sorted(new_writes)))})"

    def _forget(self) -> None:
        self._snapshot = None
        self._vectors = None
        self._written = {}
