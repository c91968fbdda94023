import gc
import signal
import subprocess
import threading

import numpy as np
import pytest
from conftest import random_page
from processes import ended, start_python
from waiting import LONG

import adamerge as am
from adamerge.errors import BadInput, Damaged, PageFailed


@pytest.mark.parametrize("workers", [None, 1, 2, 7])
def test_pages_come_back_in_order_and_equal_to_those_compressed_alone(workers):
    pages = [random_page(10 + i % 37, id=f"p{i}") for i in range(60)]
    method = am.AdaMerge(k=-0.5)
    for page, small in zip(pages, am.compress_pages(pages, method, workers=workers), strict=True):
        assert small.id == page.id
        np.testing.assert_array_equal(small.vectors, method(page).vectors)


def test_an_endless_stream_is_read_only_as_far_as_needed():
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield random_page(8, id=str(taken))

    stream = am.compress_pages(endless(), "identity", workers=2)
    assert [next(stream).id for _ in range(20)] == [str(i + 1) for i in range(20)]
    assert taken <= 20 + 16 * 2
    stream.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("adamerge")]


def test_an_error_names_its_page_and_comes_after_the_pages_before_it():
    pages = [
        random_page(9, id="good"),
        am.MultiVector(np.eye(4), id="bare"),
        random_page(9, id="after"),
    ]
    stream = am.compress_pages(pages, "adamerge", workers=2)
    assert next(stream).id == "good"
    with pytest.raises(BadInput, match=r"page 'bare': pruning at k=-0\.25 needs the attention"):
        next(stream)
    assert list(stream) == []


def test_a_failing_source_comes_after_the_pages_before_it():
    def source():
        yield random_page(9, id="a")
        yield random_page(9, id="b")
        raise OSError("disk on fire")

    stream = am.compress_pages(source(), "identity", workers=2)
    assert [next(stream).id, next(stream).id] == ["a", "b"]
    with pytest.raises(OSError, match="disk on fire"):
        next(stream)


def test_somebody_elses_method_that_fails_is_named_with_its_page():
    def broken(page):
        raise KeyError("oops")

    with pytest.raises(PageFailed, match="page 'x': KeyError: 'oops'"):
        list(am.compress_pages([random_page(4, id="x")], broken))


def test_a_bad_call_is_refused_before_the_first_page():
    with pytest.raises(BadInput, match="workers must be a whole number, at least 1, got 0"):
        am.compress_pages([], workers=0)
    with pytest.raises(LookupError, match="no method"):
        am.compress_pages([], "nonsense")


def test_arrays_and_pairs_are_pages_too_and_are_named_by_their_number():
    page = random_page(9)
    pages = [page.vectors, (page.vectors, page.attention), page]
    small = list(am.compress_pages(pages, "sem-cluster:m=3"))
    for one in small:
        np.testing.assert_array_equal(one.vectors, small[0].vectors)
    with pytest.raises(BadInput, match="page '1': vectors must be finite"):
        list(am.compress_pages([page.vectors, np.full((2, 2), np.nan)], "identity"))
    with pytest.raises(BadInput, match=r"whole number, at least 1, got 1\.5"):
        am.compress_pages([], workers=1.5)


def test_no_pages_are_no_pages():
    assert list(am.compress_pages([])) == []


def test_memory_is_bounded_by_the_workers():
    alive = 0

    class Tracked(am.MultiVector):
        def __del__(self):
            nonlocal alive
            alive -= 1

    def pages():
        nonlocal alive
        for i in range(300):
            alive += 1
            yield Tracked(np.eye(4), id=str(i))

    most = 0
    for _ in am.compress_pages(pages(), "sem-cluster", workers=2):
        gc.collect(0)
        most = max(most, alive)
    assert most <= 16 * 2 + 4


def test_ctrl_c_ends_a_run_that_has_no_end():
    code = """
import itertools, numpy as np, adamerge as am
page = am.MultiVector(np.random.default_rng(0).normal(size=(400, 64)), np.ones(400))
for _ in am.compress_pages(itertools.repeat(page), "sem-cluster", workers=2):
    print("a page", flush=True)
"""
    run = start_python("-c", code, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with ended(run):
        assert run.stdout.readline() == "a page\n"
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=LONG)
        assert run.returncode != 0
        assert err.rstrip().endswith("KeyboardInterrupt")


def test_a_page_may_be_a_function_that_a_worker_calls(make_page):
    pages = [make_page(20, seed=i, id=f"p{i}") for i in range(11)]
    makers = [lambda page=page: page for page in pages]
    made = am.compress_pages(makers, "sem-cluster:m=4", workers=2)
    expected = am.compress_pages(pages, "sem-cluster:m=4", workers=2)
    for small, want in zip(made, expected, strict=True):
        assert small.id == want.id
        np.testing.assert_array_equal(small.vectors, want.vectors)


def test_an_error_of_such_a_function_comes_after_the_pages_before_it_and_as_it_is(make_page):
    def fail():
        raise Damaged("shard 3, page 'p2': it is not finite")

    pages = [lambda: make_page(20, id="p0"), lambda: make_page(20, id="p1"), fail]
    found = am.compress_pages(pages, "sem-cluster:m=4", workers=2)
    assert [next(found).id, next(found).id] == ["p0", "p1"]
    with pytest.raises(Damaged, match=r"^shard 3, page 'p2': it is not finite$"):
        next(found)
