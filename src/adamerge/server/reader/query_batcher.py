"""Queries that wait are answered together: a lone one at once, many in one call while all threads are busy."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from adamerge.errors import Busy
from adamerge.server.reader.thread_slots import ThreadSlots

Q = TypeVar("Q")
A = TypeVar("A")
BATCH = 16  # answered in one call: more would make the first wait for the last


class QueryBatcher(Generic[Q, A]):
    """Gathers queries that come while others are being answered. An error of one query does not reach the others.

    A query whose caller is cancelled leaves the line and is not computed. All methods run in the event loop.
    """

    def __init__(
        self,
        answer_all: Callable[[list[Q]], Sequence[A]],
        threads: int,
        limit: int,
    ) -> None:
        """Answer many queries by `answer_all`, in so many threads; `limit` queries may wait."""
        self._answer_all = answer_all
        self._threads = threads
        self._limit = limit
        self._slots = ThreadSlots(threads)
        self._waiting: dict[asyncio.Future[A], Q] = {}  # in the order they came
        self._batches: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def running(self) -> int:
        """Batches that are being computed now."""
        return self._slots.running

    @property
    def waiting(self) -> int:
        """Queries in line."""
        return len(self._waiting)

    async def ask(self, query: Q) -> A:
        """The answer to a query, or its error; Busy at once if the line is full or the server stops."""
        if self._closed:
            raise Busy("the server is stopping: ask again in a moment")
        if len(self._waiting) >= self._limit:
            raise Busy("too many searches wait: ask again in a moment")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[A] = loop.create_future()
        self._waiting[answer] = query
        loop.call_soon(self._start_batches)  # after the queries that came in the same moment
        try:
            return await answer
        finally:
            self._waiting.pop(answer, None)  # who was cancelled leaves the line

    def close(self) -> None:
        """Refuse the queries in line; those that are being computed are still answered."""
        self._closed = True
        waiting = list(self._waiting)
        self._waiting.clear()
        for answer in waiting:
            if not answer.done():
                answer.set_exception(Busy("the server is stopping: ask again in a moment"))

    def _start_batches(self) -> None:
        while len(self._batches) < self._threads and (batch := self._take_batch()):
            task = asyncio.ensure_future(self._answer(batch))
            self._batches.add(task)  # asyncio itself keeps no task alive
            task.add_done_callback(self._end_batch)

    def _end_batch(self, task: "asyncio.Task[None]") -> None:
        self._batches.discard(task)
        self._start_batches()

    def _take_batch(self) -> list[tuple[Q, "asyncio.Future[A]"]]:
        """The next queries in line whose callers still wait."""
        batch: list[tuple[Q, asyncio.Future[A]]] = []
        while self._waiting and len(batch) < BATCH:
            answer = next(iter(self._waiting))
            query = self._waiting.pop(answer)
            if not answer.done():
                batch.append((query, answer))
        return batch

    async def _answer(self, batch: "list[tuple[Q, asyncio.Future[A]]]") -> None:
        queries = [query for query, _ in batch]
        try:
            answers = await self._slots.run(lambda: self._answer_all(queries))
        except Exception as error:  # the caller's to handle
            await self._answer_each(batch, error)
            return
        for (_, future), answer in zip(batch, answers, strict=True):
            if not future.done():
                future.set_result(answer)

    async def _answer_each(
        self, batch: "list[tuple[Q, asyncio.Future[A]]]", error: Exception
    ) -> None:
        """After an error of many: answer each alone, so that only those that cause one get one."""
        if len(batch) > 1:
            for one in batch:
                if not one[1].done():
                    await self._answer([one])
            return
        ((_, future),) = batch
        if not future.done():
            future.set_exception(error)
