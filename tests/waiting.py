"""To wait until something is so, on a machine of any speed."""

import time

LONG = 300  # seconds: what has not happened by then never will


def until(condition, what, process=None, seconds=LONG):
    """What a condition gives once that is true; of a process that has ended, it never will be.

    `what` tells in words what was waited for, where it does not come.
    """
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert process is None or process.poll() is None, (
            f"{what}: the process ended first ({process.returncode})"
        )
        assert time.monotonic() < end, f"{what}: not in {seconds} s"
        time.sleep(0.01)
    return found
