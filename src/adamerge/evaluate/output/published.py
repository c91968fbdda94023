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
    value, drift       the number, and how far another run may be from it
    encoder, datasets  of which it is
    ask                how to get ours: its "kind" is a key of compare.KINDS, the rest are its arguments
    """

    what: str
    source: str
    value: float
    drift: float
    encoder: str
    datasets: tuple[str, ...]
    ask: Mapping[str, Any]


@dataclass(frozen=True)
class Published:
    """All published numbers, and what is known of them as a whole."""

    numbers: tuple[PublishedNumber, ...]
    sources: Mapping[str, str]
    drift: str
    left_out: str


@cache
def read_published() -> Published:
    """The published numbers that come with the package."""
    text = files("adamerge.evaluate.output").joinpath("published.json").read_text()
    raw = json.loads(text)
    numbers = []
    for claim in raw["claims"]:
        claim["datasets"] = tuple(claim["datasets"])
        numbers.append(PublishedNumber(**claim))
    return Published(tuple(numbers), raw["sources"], raw["drift"], raw["left_out"])
