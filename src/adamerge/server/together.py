"""Questions that wait are answered together: a lone one at once, many in one go while all threads are busy."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")
MOST = 16  # answered in one go: more would make the first wait for the last


class Together(Generic[Q, A]):
    """Gathers what is asked while others are being answered; one question's error is not another's."""

    def __init__(
        self,
        answer: Callable[[list[Q]], list[A]],
        aside: Callable[[Callable[[], None]], Awaitable[None]],
    ) -> None:
        """Answer many questions by `answer`; `aside` runs something in a thread, once one is free."""
        self._answer, self._aside = answer, aside
        self._waiting: deque[tuple[Q, Future[A]]] = deque()
        self._works: set[asyncio.Future[None]] = set()  # asyncio itself forgets what nobody holds

    async def ask(self, question: Q) -> A:
        """The answer to a question, or its error."""
        answer: Future[A] = Future()
        self._waiting.append((question, answer))
        work = asyncio.ensure_future(self._aside(self._work))
        self._works.add(work)
        work.add_done_callback(self._works.discard)
        return await asyncio.wrap_future(
            answer
        )  # which the thread of another may have found before ours is free

    def _work(self) -> None:
        """Answer what waits, if anything still does."""
        taken: list[tuple[Q, Future[A]]] = []
        with suppress(IndexError):  # until nothing is left
            while len(taken) < MOST:
                taken.append(self._waiting.popleft())
        if taken:
            self._settle(taken)

    def _settle(self, taken: list[tuple[Q, Future[A]]]) -> None:
        try:
            answers = self._answer([question for question, _ in taken])
        except Exception as error:  # the asker's to handle
            if len(taken) == 1:
                taken[0][1].set_exception(error)
            else:
                for one in taken:
                    self._settle([one])
            return
        for (_, future), answer in zip(taken, answers, strict=True):
            future.set_result(answer)
