"""The words of the newest version that a search holds, brought up to date by reading only what has changed."""

from adamerge.errors import BadInput
from adamerge.search import WordsInMemory
from adamerge.store.lance.loaded_vectors import filter_of_writes
from adamerge.store.lance.snapshot import Snapshot


class LoadedWords:
    """How often each word stands on each page of a table: about a kilobyte a page, read by the first search."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._snapshot: Snapshot | None = None  # whose words are held; None while they change
        self._made = ""  # which store they are of
        self._held = WordsInMemory()
        self._written: dict[str, int] = {}  # id -> the write that its words are of

    def update(self, snapshot: Snapshot) -> WordsInMemory:
        """The words of a version; a store without any is refused."""
        if snapshot.about.made != self._made:
            self._made = snapshot.about.made
            self._snapshot = None
            self._held = WordsInMemory()
            self._written = {}
        if snapshot is not self._snapshot:
            self._bring_up_to_date(snapshot)
            self._snapshot = snapshot
        if self._held.are_empty:
            raise BadInput(
                "no page of the store has words, so it can be searched by vectors alone: "
                "leave out --hybrid (in Python: words=)"
            )
        return self._held

    def _bring_up_to_date(self, snapshot: Snapshot) -> None:
        """Drop the pages that are not in the version, and read those that are new or replaced."""
        listing = snapshot.listing
        written = dict(zip(listing.ids, listing.written, strict=True))
        for id in self._held.ids - set(written):
            self._held.drop(id)
            self._written.pop(id, None)

        new_writes = {write for id, write in written.items() if self._written.get(id) != write}
        if not new_writes:
            return
        passing = filter_of_writes(new_writes) if self._written else ""
        for id, words in snapshot.words(passing):
            if self._written.get(id) != written[id]:
                self._held.put(id, words)
                self._written[id] = written[id]
