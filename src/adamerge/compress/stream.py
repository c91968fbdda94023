"""pages -> compressed pages, one after the other, on several threads.

The kernels release the interpreter's lock and use no BLAS, so threads are all the parallelism there is to have.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from adamerge.arrays import ArrayLike
from adamerge.compress.names import Method, as_method
from adamerge.errors import AdamergeError, BadInput, PageFailed
from adamerge.types import Compressed, MultiVector

AHEAD = 4  # pages held per worker: enough that none waits, few enough that memory stays flat


def compress(
    vectors: ArrayLike | MultiVector, attention: ArrayLike | None = None, method: Method | str = "adamerge"
) -> Compressed:
    """Compress one page: its vectors (n, d) and attention (n,), or a MultiVector that holds both."""
    if isinstance(vectors, MultiVector):
        if attention is not None:
            raise BadInput("a MultiVector brings its own attention: MultiVector(vectors, attention)")
        return as_method(method)(vectors)
    return as_method(method)(MultiVector(vectors, attention))


def compress_pages(
    pages: Iterable[MultiVector], method: Method | str = "adamerge", workers: int | None = None
) -> Iterator[Compressed]:
    """Compress pages lazily and in order, on `workers` threads (default: one per core).

    Any iterable goes, also one without end: at most 4 pages per worker are held. An error names its page, comes
    after the pages before it, and ends the run.
    """
    workers = workers if workers is not None else _cores()
    if workers < 1:
        raise BadInput(f"workers must be at least 1, got {workers}")
    return _in_order(iter(pages), as_method(method), workers)


def _in_order(
    pages: Iterator[MultiVector], method: Callable[[MultiVector], Compressed], workers: int
) -> Iterator[Compressed]:
    pool = ThreadPoolExecutor(workers, thread_name_prefix="adamerge")
    pending: deque[tuple[str, Future[Compressed]]] = deque()
    failure: Exception | None = None
    try:
        while failure is None or pending:
            while failure is None and len(pending) < AHEAD * workers:
                try:
                    page = next(pages)
                except Exception as error:  # the end, or trouble that must wait for the pages before it
                    failure = error
                else:
                    pending.append((page.id, pool.submit(method, page)))
            if pending:
                yield _result(*pending.popleft())
        if not isinstance(failure, StopIteration):
            raise failure
    finally:  # also when the consumer stops, or presses Ctrl-C
        pool.shutdown(wait=True, cancel_futures=True)


def _result(id: str, future: Future[Compressed]) -> Compressed:
    try:
        return future.result()
    except AdamergeError as error:
        raise type(error)(f"page '{id}': {error}") from error
    except Exception as error:
        raise PageFailed(f"page '{id}': {type(error).__name__}: {error}") from error


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
