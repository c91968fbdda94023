"""Entries of pages that were found lately: often they are found again, or looked at."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from adamerge.store.entry import Entry

WORD_BYTES = 400  # of a word with its box, and of what a search keeps of it


class RememberedEntries:
    """The entries that were asked for last, of so many bytes at most. Any number of threads may ask."""

    def __init__(self, most_bytes: int) -> None:
        """Remember nothing yet."""
        self._most_bytes = most_bytes
        self._entries: OrderedDict[str, Entry] = OrderedDict()  # the one asked for last is the last
        self._bytes = 0
        self._lock = Lock()

    def get(self, ids: Sequence[str]) -> dict[str, Entry]:
        """The entries of those ids that are remembered."""
        found = {}
        with self._lock:
            for id in ids:
                if id in self._entries:
                    self._entries.move_to_end(id)
                    found[id] = self._entries[id]
        return found

    def put(self, entry: Entry) -> None:
        """Remember an entry, and forget those that were not asked for the longest time."""
        with self._lock:
            if entry.id in self._entries:
                return
            self._entries[entry.id] = entry
            self._bytes += bytes_of(entry)
            while self._bytes > self._most_bytes:
                _, oldest = self._entries.popitem(last=False)
                self._bytes -= bytes_of(oldest)


def bytes_of(entry: Entry) -> int:
    """What an entry takes in memory, more or less."""
    page = entry.page
    total = len(entry.thumbnail) + WORD_BYTES * len(entry.words)
    total += page.vectors.nbytes + page.groups.nbytes
    if page.boxes is not None:
        total += page.boxes.nbytes
    return total
