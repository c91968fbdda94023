"""Who is told how far a run is."""

from typing import Protocol


class Watcher(Protocol):
    """Is told how far a run is, while it goes on."""

    def begin(self, current: str) -> None:
        """The file whose pages are worked on next."""

    def advance(self, count: int = 1) -> None:
        """So many more pages are done."""

    def pass_over(self, count: int = 1) -> None:
        """So many more pages needed no work: an earlier run has done them."""
