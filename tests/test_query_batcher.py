"""Queries that wait are answered together, and those that nobody waits for are not computed."""

import asyncio
import threading

import pytest

from adamerge.errors import Busy
from adamerge.server.reader.query_batcher import BATCH, QueryBatcher


class Doubling:
    """Answers 2x to x; 0 is an error. Waits for `go`, so that a test decides when an answer is there."""

    def __init__(self, is_held=False):
        self.calls = []
        self.go = threading.Event()
        if not is_held:
            self.go.set()

    def __call__(self, queries):
        self.calls.append(list(queries))
        self.go.wait()
        if 0 in queries:
            raise ZeroDivisionError
        return [2 * query for query in queries]


def ask_all(queries, answer, threads=1, limit=1000):
    """What becomes of queries that come at once."""

    async def main():
        batcher = QueryBatcher(answer, threads, limit)
        asked = (batcher.ask(query) for query in queries)
        return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(main())


async def until_called(answer, times):
    while len(answer.calls) < times:
        await asyncio.sleep(0.001)


def test_a_lone_query_is_answered_alone():
    answer = Doubling()
    assert ask_all([3], answer) == [6]
    assert answer.calls == [[3]]


@pytest.mark.parametrize("threads", [1, 4])
def test_each_gets_its_own_answer_and_few_calls_answer_many(threads):
    answer = Doubling()
    assert ask_all(range(1, 101), answer, threads) == [2 * query for query in range(1, 101)]
    sizes = [len(call) for call in answer.calls]
    assert sum(sizes) == 100
    assert max(sizes) == BATCH
    assert len(sizes) == 7


def test_one_that_cannot_be_answered_spoils_no_other():
    *good, bad = ask_all([1, 2, 3, 0], Doubling())
    assert good == [2, 4, 6]
    assert isinstance(bad, ZeroDivisionError)


def test_queries_that_come_while_others_are_computed_are_gathered():
    async def main():
        answer = Doubling(is_held=True)
        batcher = QueryBatcher(answer, 1, 1000)
        first = asyncio.ensure_future(batcher.ask(1))
        await until_called(answer, 1)
        others = [asyncio.ensure_future(batcher.ask(query)) for query in range(2, 10)]
        await asyncio.sleep(0)
        answer.go.set()
        assert await asyncio.gather(first, *others) == [2 * query for query in range(1, 10)]
        assert answer.calls == [[1], list(range(2, 10))]

    asyncio.run(main())


def test_who_is_cancelled_in_line_is_not_computed_and_frees_its_place():
    async def main():
        answer = Doubling(is_held=True)
        batcher = QueryBatcher(answer, 1, limit=2)
        first = asyncio.ensure_future(batcher.ask(1))
        await until_called(answer, 1)
        stays, leaves = (asyncio.ensure_future(batcher.ask(query)) for query in (2, 3))
        await asyncio.sleep(0)
        assert batcher.waiting == 2
        leaves.cancel()
        await asyncio.wait({leaves})
        assert batcher.waiting == 1
        answer.go.set()
        assert await asyncio.gather(first, stays) == [2, 4]
        assert answer.calls == [[1], [2]]

    asyncio.run(main())


def test_who_is_cancelled_while_computed_breaks_no_other_of_its_batch():
    async def main():
        answer = Doubling(is_held=True)
        batcher = QueryBatcher(answer, 1, 1000)
        leaves, *stay = (asyncio.ensure_future(batcher.ask(query)) for query in (1, 2, 3))
        await until_called(answer, 1)
        leaves.cancel()
        answer.go.set()
        assert await asyncio.gather(*stay) == [4, 6]
        assert await batcher.ask(4) == 8

    asyncio.run(main())


def test_a_full_line_refuses_at_once():
    async def main():
        answer = Doubling(is_held=True)
        batcher = QueryBatcher(answer, 1, limit=3)
        first = asyncio.ensure_future(batcher.ask(1))
        await until_called(answer, 1)
        line = [asyncio.ensure_future(batcher.ask(query)) for query in (2, 3, 4)]
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="too many searches wait"):
            await batcher.ask(5)
        answer.go.set()
        assert await asyncio.gather(first, *line) == [2, 4, 6, 8]

    asyncio.run(main())


def test_who_stops_refuses_the_line_and_answers_what_is_computed():
    async def main():
        answer = Doubling(is_held=True)
        batcher = QueryBatcher(answer, 1, 1000)
        computed = asyncio.ensure_future(batcher.ask(1))
        await until_called(answer, 1)
        waiting = asyncio.ensure_future(batcher.ask(2))
        await asyncio.sleep(0)
        batcher.close()
        for refused in (waiting, batcher.ask(3)):
            with pytest.raises(Busy, match="the server is stopping"):
                await refused
        answer.go.set()
        assert await computed == 2
        assert answer.calls == [[1]]

    asyncio.run(main())
