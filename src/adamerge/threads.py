"""How many threads there are to use, and one that reads ahead."""

import os
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def cores() -> int:
    """Threads that this process may run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_ahead(items: Generator[T, None, None]) -> Iterator[T]:
    """The same items; a thread makes the next one while the caller works on this one.

    An error comes in the place of its item. A caller that needs no more waits for the item that is being made.
    """
    thread = ThreadPoolExecutor(1, thread_name_prefix="adamerge-read")

    def following() -> list[T]:
        """The next item in a list; an empty one at the end."""
        return list(islice(items, 1))

    try:
        coming = thread.submit(following)
        while found := coming.result():
            coming = thread.submit(following)
            yield found[0]
    finally:
        thread.shutdown()
        items.close()
