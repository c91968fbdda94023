"""Agreement -> the loss of nDCG@5 to expect, with an interval.

loss_map.json was fitted on the judged books by experiments/plan.py; docs/plan.md says how, and how far it holds. It has
two maps: of queries that were drawn from the pages, and of queries that people asked.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from adamerge.arrays import Doubles

VERSION = 2
JUDGED_ENCODERS = ("minilm",)  # others have no judgements here: their loss is an extrapolation


@dataclass(frozen=True)
class Loss:
    """The loss to expect, and an interval that is wide enough for most books: docs/plan.md says how wide, and why."""

    expected: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LossMap:
    """Knots (agreement, loss), lines between them, agreement rising: (knots,) each."""

    agreement: Doubles
    expected: Doubles
    low: Doubles
    high: Doubles

    def loss(self, agreement: float) -> Loss:
        """The loss at an agreement; below the lowest knot it is that of the lowest knot."""
        return Loss(
            float(np.interp(agreement, self.agreement, self.expected)),
            float(np.interp(agreement, self.agreement, self.low)),
            float(np.interp(agreement, self.agreement, self.high)),
        )


def is_judged(encoder: str) -> bool:
    """Whether the map was fitted on pages of this encoder."""
    return encoder in JUDGED_ENCODERS


@lru_cache
def load_loss_map(kind: str) -> LossMap:
    """The map of queries that were "drawn" or "asked"."""
    return _from_json(_read()[kind])


def _read() -> dict[str, Any]:
    text = files("adamerge.plans").joinpath("loss_map.json").read_text()
    found: dict[str, Any] = json.loads(text)
    if found["version"] != VERSION:
        raise ValueError(f"loss_map.json is of version {found['version']}, not {VERSION}")
    return found


def _from_json(knots: dict[str, list[float]]) -> LossMap:
    return LossMap(
        agreement=np.array(knots["agreement"]),
        expected=np.array(knots["expected"]),
        low=np.array(knots["low"]),
        high=np.array(knots["high"]),
    )
