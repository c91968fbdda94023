"""Blocking work in a bounded number of daemon threads."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from adamerge.errors import Busy

T = TypeVar("T")


class ThreadSlots:
    """At most `count` threads at a time.

    Work whose caller is cancelled before it began is never done. Work that has begun goes on to its end and keeps its
    slot until then; its result is dropped. The threads do not hold up the end of the process.
    """

    def __init__(self, count: int) -> None:
        """Start no thread yet."""
        self._free = asyncio.Semaphore(count)
        self.running = 0

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()

        def run_work() -> None:
            outcome: Future[T] = Future()
            try:
                outcome.set_result(work())
            except BaseException as error:  # the caller's to handle
                outcome.set_exception(error)
            with suppress(RuntimeError):  # the loop has ended, and nobody waits any more
                loop.call_soon_threadsafe(self._end, result, outcome)

        try:
            threading.Thread(target=run_work, name="adamerge", daemon=True).start()
        except RuntimeError:  # the system has no thread left
            self._free.release()
            raise Busy("the server has no thread left: ask again in a moment") from None
        self.running += 1
        return await result

    def _end(self, result: "asyncio.Future[T]", outcome: "Future[T]") -> None:
        self.running -= 1
        self._free.release()
        if result.done():  # the caller was cancelled
            return
        if error := outcome.exception():
            result.set_exception(error)
        else:
            result.set_result(outcome.result())
