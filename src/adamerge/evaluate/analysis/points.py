"""A point of a method: its compression, and its measure there."""

from collections.abc import Iterable

Point = tuple[float, float]  # compression, measure


def envelope(points: Iterable[Point]) -> list[Point]:
    """The points that no other beats in both, by compression."""
    best: list[Point] = []
    for point in sorted(points, reverse=True):
        if not best or point[1] > best[-1][1]:
            best.append(point)
    return best[::-1]
