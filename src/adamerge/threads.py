"""How many threads there are to use."""

import os


def cores() -> int:
    """Threads that this process may run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
