"""To wait until something is so, on a machine of any speed."""

import time

LONG = 300  # seconds: what has not happened by then never will
FIRST_PAUSE = 0.01  # seconds between two looks
LONGEST_PAUSE = 0.1  # a look may be a request, which costs the server time too


def until(condition, what, process=None, seconds=LONG):
    """What a condition gives once that is true; of a process that has ended, it never will be.

    `what` tells in words what was waited for, where it does not come.
    """
    end = time.monotonic() + seconds
    pause = FIRST_PAUSE
    while not (found := condition()):
        assert process is None or process.poll() is None, (
            f"{what}: the process ended first ({process.returncode})"
        )
        assert time.monotonic() < end, f"{what}: not in {seconds} s"
        time.sleep(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE)
    return found
