"""What a plan has to meet: bytes a page, a share of patches, a number of vectors, or a loss."""

from dataclasses import dataclass
from typing import Literal

from adamerge.errors import BadInput
from adamerge.store import parse_bytes

Kind = Literal["bytes_per_page", "compression", "max_vectors", "max_loss"]
WORDS = {
    "bytes_per_page": "{:,.0f} bytes a page",
    "compression": "a compression of {:.4g}",
    "max_vectors": "{:,.4g} vectors a page",
    "max_loss": "a loss of {:.4g} nDCG@5",
}


@dataclass(frozen=True)
class Target:
    """One number that a plan has to meet, as the mean over pages.

    bytes_per_page  at most so many bytes of vectors, with their scales and extra rows
    compression     at least this share of the patches is not stored
    max_vectors     at most so many stored rows, extra included
    max_loss        an expected loss of nDCG@5 of at most so much
    """

    kind: Kind
    value: float

    def __post_init__(self) -> None:
        """Refuse numbers that nothing can mean."""
        if self.kind == "compression":
            _require(0 <= self.value < 1, f"compression is a share, 0 <= c < 1, got {self.value}")
        elif self.kind == "max_loss":
            _require(0 <= self.value <= 1, f"a loss of nDCG@5 is 0 to 1, got {self.value}")
        else:
            what = self.kind.replace("_", " ")
            _require(0 < self.value < float("inf"), f"{what} must be above 0, got {self.value}")

    def __str__(self) -> str:
        """The target in words."""
        return WORDS[self.kind].format(self.value)


def target_of(
    *,
    total: str | float | None = None,
    corpus_pages: int | None = None,
    bytes_per_page: str | float | None = None,
    compression: float | None = None,
    max_vectors: float | None = None,
    max_loss: float | None = None,
) -> Target | None:
    """The one target that was given, or None; bytes are a number, or a text like 20kB.

    total  bytes of all pages together, of which there are `corpus_pages`
    """
    given: list[Target] = []
    if total is not None:
        if corpus_pages is None or corpus_pages < 1:
            raise BadInput(
                "a total needs the number of pages that share it: --pages, corpus_pages="
            )
        given.append(Target("bytes_per_page", _bytes(total) / corpus_pages))
    if bytes_per_page is not None:
        given.append(Target("bytes_per_page", _bytes(bytes_per_page)))
    if compression is not None:
        given.append(Target("compression", compression))
    if max_vectors is not None:
        given.append(Target("max_vectors", max_vectors))
    if max_loss is not None:
        given.append(Target("max_loss", max_loss))

    if len(given) > 1:
        words = [str(target) for target in given]
        raise BadInput(f"a plan has one target, got {' and '.join(words)}: leave out all but one")
    if not given:
        return None
    return given[0]


def _bytes(size: str | float) -> float:
    if isinstance(size, str):
        return parse_bytes(size)
    return size


def _require(true: bool, message: str) -> None:
    if not true:
        raise BadInput(message)
