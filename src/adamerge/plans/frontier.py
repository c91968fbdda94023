"""What was measured -> the rows that nothing beats, and the one to take for a target."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adamerge.plans.loss_map import LossMap
from adamerge.plans.measured import Measured
from adamerge.plans.target import Target

STEP = 0.9  # a row of the table has at most this share of the bytes of the row above it
CLOSE = 0.97  # of the rows that a target allows: who asks for a number of vectors wants to use them
SAME_LOSS = 0.005  # of nDCG@5: losses that are closer are taken for equal where a target leaves the dtype open
ROUNDING = 1e-9


@dataclass(frozen=True)
class PlanRow:
    """One method in one dtype: its size, and what it is expected to lose.

    rows_per_page, most_rows  stored vectors and extra rows: the mean, and the most of any page of the sample
    agreement, agreement_low, agreement_high   with its 95 % interval over pages
    expected_loss, low, high  loss of nDCG@5, with the interval that docs/plan.md describes
    """

    method: str
    dtype: str
    bytes_per_page: float
    rows_per_page: float
    most_rows: int
    compression: float
    agreement: float
    agreement_low: float
    agreement_high: float
    expected_loss: float
    low: float
    high: float
    chosen: bool = False

    def json(self) -> dict[str, Any]:
        """The row as `adamerge plan --json` prints it."""
        return {
            "method": self.method,
            "bytes_per_page": round(self.bytes_per_page, 1),
            "vectors_per_page": round(self.rows_per_page, 1),
            "most_vectors": self.most_rows,
            "compression": round(self.compression, 4),
            "agreement": round(self.agreement, 4),
            "expected_loss": round(self.expected_loss, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
            "chosen": self.chosen,
        }


def to_row(measured: Measured, loss_map: LossMap) -> PlanRow:
    """What was measured of a method, with the loss that its agreement stands for."""
    agreement = measured.agreement
    loss = loss_map.loss(agreement.value)
    return PlanRow(
        method=measured.method,
        dtype=measured.dtype,
        bytes_per_page=measured.bytes_per_page,
        rows_per_page=measured.rows_per_page,
        most_rows=measured.most_rows,
        compression=measured.compression,
        agreement=agreement.value,
        agreement_low=agreement.low,
        agreement_high=agreement.high,
        expected_loss=loss.expected,
        low=loss.low,
        high=loss.high,
    )


def frontier(rows: Iterable[PlanRow], chosen: PlanRow | None) -> list[PlanRow]:
    """The rows that no other row beats in bytes and agreement, largest first, with the chosen one marked.

    Rows that are nearly as large as the one above them are left out, so that the table stays short.
    """
    smallest_first = sorted(rows, key=lambda row: (row.bytes_per_page, -row.agreement))
    unbeaten: list[PlanRow] = []
    for row in smallest_first:
        if not unbeaten or row.agreement > unbeaten[-1].agreement:
            unbeaten.append(row)

    shown: list[PlanRow] = []
    for row in reversed(unbeaten):
        is_smaller = not shown or row.bytes_per_page <= STEP * shown[-1].bytes_per_page
        if is_smaller and row != chosen:
            shown.append(row)
    if chosen is not None:
        shown.append(replace(chosen, chosen=True))
    return sorted(shown, key=lambda row: -row.bytes_per_page)


def choose(rows: Sequence[PlanRow], target: Target) -> PlanRow | None:
    """The row to take for a target; None where no row meets it.

    bytes_per_page            the highest agreement among the rows that fit
    max_loss                  the fewest bytes among the rows that lose no more
    compression, max_vectors  of the rows that compress enough and keep most patches, the fewest bytes at nearly no more
                              loss than the best of them
    """
    fitting = [row for row in rows if meets(row, target)]
    if not fitting:
        return None
    if target.kind == "bytes_per_page":
        return max(fitting, key=lambda row: (row.agreement, -row.bytes_per_page))
    if target.kind == "max_loss":
        return min(fitting, key=lambda row: (row.bytes_per_page, -row.agreement))

    most_rows = max(row.rows_per_page for row in fitting)
    close = [row for row in fitting if row.rows_per_page >= CLOSE * most_rows]
    least_loss = min(row.expected_loss for row in close)
    good = [row for row in close if row.expected_loss <= least_loss + SAME_LOSS]
    return min(good, key=lambda row: (row.bytes_per_page, -row.agreement))


def meets(row: PlanRow, target: Target) -> bool:
    """Whether a row is within a target."""
    if target.kind == "bytes_per_page":
        return row.bytes_per_page <= target.value * (1 + ROUNDING)
    if target.kind == "compression":
        return row.compression >= target.value - ROUNDING
    if target.kind == "max_vectors":
        return row.rows_per_page <= target.value * (1 + ROUNDING)
    return row.expected_loss <= target.value + ROUNDING


def nearest(rows: Sequence[PlanRow], target: Target) -> PlanRow:
    """The row that comes closest to a target that no row meets."""
    if target.kind == "max_loss":
        return min(rows, key=lambda row: (row.expected_loss, row.bytes_per_page))
    if target.kind == "compression":
        return max(rows, key=lambda row: (row.compression, row.agreement))
    if target.kind == "max_vectors":
        return min(rows, key=lambda row: (row.rows_per_page, -row.agreement))
    return min(rows, key=lambda row: (row.bytes_per_page, -row.agreement))
