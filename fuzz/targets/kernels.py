"""The kernels themselves, on float32 of any bits: what they do not refuse must be a tree of finite heights."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from adamerge import kernels
from fuzz.mutators import mutate_bytes
from fuzz.target import Target, Try

HEAD = 2  # bytes before the numbers: dimensions, and choices


@contextmanager
def session(folder: Path) -> Iterator[Try]:
    """Nothing is needed."""
    yield try_input


def try_input(data: bytes) -> None:
    """Link, group and pool the numbers of an input."""
    d, choices = (data[0] % 40 + 1, data[1]) if len(data) >= HEAD else (1, 0)
    numbers = np.frombuffer(data[HEAD : HEAD + (len(data) - HEAD) // (4 * d) * 4 * d], np.float32)
    vectors = np.ascontiguousarray(numbers.reshape(-1, d))
    unit, condensed = bool(choices & 1), choices & 3 == 3
    try:
        merges, heights, cosines = kernels.ward(vectors, unit=unit, condensed=condensed)
    except ValueError:
        assert not np.isfinite(vectors).all() or not vectors.any(axis=1).all(), (
            "refused for nothing"
        )
        return
    assert sorted(merges.ravel().tolist()) == list(range(2 * len(merges)))
    assert np.isfinite(heights).all()
    assert (np.abs(cosines) <= 1).all()
    groups = kernels.groups(merges, len(merges) // 2)
    if len(vectors):
        kernels.pool(vectors, groups, None, int(groups.max()) + 1, unit)


TARGET = Target("kernels", session, mutate_bytes, share=2, short_run=500)
