"""Threads: how many there are to use, and one that reads ahead."""

import os
import threading

import pytest
from waiting import until

from adamerge.threads import cores, read_ahead

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


def test_the_next_item_is_made_while_the_caller_works_on_this_one():
    made = []

    def items():
        for i in range(3):
            made.append((i, threading.current_thread()))
            yield i

    ahead = read_ahead(items())
    assert next(ahead) == 0
    until(lambda: len(made) == 2, "the second item")
    assert list(ahead) == [1, 2]
    assert [i for i, _ in made] == [0, 1, 2]
    assert threading.current_thread() not in {thread for _, thread in made}


def test_an_error_comes_in_the_place_of_its_item():
    def items():
        yield 1
        raise ValueError("the second is bad")

    ahead = read_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="the second is bad"):
        next(ahead)


@pytest.mark.parametrize("taken", [1, 2])
def test_who_needs_no_more_leaves_nothing_open(taken):
    closed = []

    def items():
        try:
            yield from range(5)
        finally:
            closed.append(True)

    ahead = read_ahead(items())
    assert [next(ahead) for _ in range(taken)] == list(range(taken))
    ahead.close()
    assert closed == [True]
