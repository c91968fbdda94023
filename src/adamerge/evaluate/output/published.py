"""The numbers that were published, with their sources: published.json."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

# whose theta is compared: the paper's floor, and our reading of its k
CLIFF_METHOD = "adamerge:k=-0.25,c_min=0.7"


@dataclass(frozen=True)
class PublishedNumber:
    """A published number.

    what, source       what was measured, and who published it
    where              the element of the paper that prints it, or what else it is from
    value, drift       the number, and how far another run may be from it
    encoder, datasets  of which it is; "pooled" of both encoders of the paper
    ask                how to get ours: its "kind" is a key of our_numbers.KINDS, the rest are its arguments
    relation           "equal", or "at most" of a bound
    printed            how it was printed, where not as a plain number
    """

    what: str
    source: str
    where: str
    value: float
    drift: float
    encoder: str
    datasets: tuple[str, ...]
    ask: Mapping[str, Any]
    relation: str = "equal"
    printed: str = ""

    @property
    def text(self) -> str:
        """The number as it was printed."""
        number = self.printed or f"{self.value:g}"
        if self.relation == "at most" and not self.printed:
            return f"at most {number}"
        return number


@dataclass(frozen=True)
class Published:
    """All published numbers, and what is known of them as a whole."""

    numbers: tuple[PublishedNumber, ...]
    encoders: tuple[str, ...]  # of the paper
    sources: Mapping[str, str]
    drift: str
    table_1: str


@cache
def read_published() -> Published:
    """The published numbers that come with the package."""
    text = files("adamerge.evaluate.output").joinpath("published.json").read_text()
    raw = json.loads(text)
    numbers = []
    for claim in raw["claims"]:
        claim["datasets"] = tuple(claim["datasets"])
        numbers.append(PublishedNumber(**claim))
    encoders = tuple(raw["encoders"])
    return Published(tuple(numbers), encoders, raw["sources"], raw["drift"], raw["table_1"])
