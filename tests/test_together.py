"""Questions that wait are answered together."""

import asyncio
import time

import anyio
import pytest
from anyio.to_thread import run_sync

from adamerge.server.together import MOST, Together


def asked_at_once(questions, answer, threads=1):
    """What becomes of questions that come at once, to a server of so many threads."""

    async def main():
        free = anyio.CapacityLimiter(threads)
        together = Together(answer, lambda work: run_sync(work, limiter=free))
        return await asyncio.gather(
            *(together.ask(question) for question in questions), return_exceptions=True
        )

    return asyncio.run(main())


def test_a_lone_question_is_answered_alone():
    seen = []
    assert asked_at_once([3], lambda many: [seen.append(many) or 2 * one for one in many]) == [6]
    assert seen == [[3]]


@pytest.mark.parametrize("threads", [1, 4])
def test_each_gets_its_own_answer_and_few_calls_answer_many(threads):
    calls = []
    found = asked_at_once(
        range(100), lambda many: calls.append(len(many)) or [2 * one for one in many], threads
    )
    assert found == [2 * one for one in range(100)]
    assert sum(calls) == 100
    assert max(calls) <= MOST
    assert len(calls) <= 7 * threads


def test_one_that_cannot_be_answered_spoils_no_other():
    def answer(many):
        return [12 // one for one in many]

    *good, bad = asked_at_once([1, 2, 3, 0], answer)
    assert good == [12, 6, 4]
    assert isinstance(bad, ZeroDivisionError)


def test_who_asks_again_at_once_is_gathered_too():
    """An answer that is there waits for no thread: else those who wait keep threads busy with nothing to do."""
    calls = []

    def answer(many):
        calls.append(len(many))
        time.sleep(0.01)
        return many

    async def main():
        free = anyio.CapacityLimiter(2)
        together = Together(answer, lambda work: run_sync(work, limiter=free))

        async def client(number):
            for turn in range(10):
                assert await together.ask((number, turn)) == (number, turn)

        await asyncio.gather(*map(client, range(32)))

    asyncio.run(main())
    assert sum(calls) == 320
    assert len(calls) < 80
