"""Pages that many processes write into one collection, as a cluster does."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from adamerge.errors import Mismatch
from adamerge.store.about import About
from adamerge.store.entry import Entry
from adamerge.store.open import KEY, open_store


@dataclass(frozen=True)
class PointWriter:
    """What a process needs to write pages into a collection that is there, but for the key of the server.

    The key comes from the environment of each process (ADAMERGE_API_KEY), as that of a bucket does, so that it is never
    sent to another machine.
    """

    url: str
    about: About

    def write(self, entries: Sequence[Entry]) -> None:
        """Insert pages, each in place of that of its id, so that it does no harm to write a page twice."""
        with open_store(self.url, api_key=os.environ.get(KEY)) as store:
            if store.about is not None and store.about.made == self.about.made:
                store.add(entries)
                return
        raise Mismatch(f"{self.url} was removed or made anew while it was filled")
