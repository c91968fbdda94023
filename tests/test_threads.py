"""Threads: how many there are to use."""

import os

import pytest

from adamerge.threads import cores

bindable = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system binds no process to a core"
)


@bindable
def test_a_process_that_is_bound_to_one_core_has_one_thread_to_use():
    allowed = os.sched_getaffinity(0)
    assert cores() == len(allowed)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)
