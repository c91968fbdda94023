"""Every choice of one point for each dataset -> the averages that no other choice beats.

With p points for each of D datasets there are p^D choices. A choice whose first datasets are beaten is beaten as a
whole, so the datasets are added one at a time, and only the envelope of the sums is kept.
"""

from collections.abc import Sequence

from adamerge.evaluate.analysis.points import Point, envelope


def average_choices(point_sets: Sequence[Sequence[Point]]) -> list[Point]:
    """The envelope of all averages of one point from each set."""
    sums: list[Point] = [(0.0, 0.0)]
    for points in point_sets:
        added = []
        for compression, measure in points:
            added += [(x + compression, y + measure) for x, y in sums]
        sums = envelope(added)
    count = len(point_sets)
    return [(compression / count, measure / count) for compression, measure in sums]
