"""pages -> compressed pages, one after the other, on several threads.

The kernels release the interpreter's lock and use no BLAS, so threads are all the parallelism there is to have.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from adamerge.arrays import ArrayLike
from adamerge.compress.mistaken_input import check_is_attention, check_is_one_page
from adamerge.compress.names import Method, MethodInDtype, as_method
from adamerge.errors import AdamergeError, BadInput, PageFailed
from adamerge.threads import cores
from adamerge.types import Compressed, MultiVector

CHUNK = 4  # pages of one task: handing a page to a thread and back costs as much as half its work
AHEAD = 4  # tasks held per worker: enough that none waits while a shard is written, few enough for memory


def compress(
    vectors: ArrayLike | MultiVector,
    attention: ArrayLike | None = None,
    method: Method | MethodInDtype | str = "adamerge",
) -> Compressed:
    """Compress one page: its vectors (n, d) and attention (n,), or a MultiVector that holds both."""
    check_is_one_page(vectors)
    check_is_attention(attention)
    if isinstance(vectors, MultiVector):
        if attention is not None:
            raise BadInput(
                "a MultiVector brings its own attention: MultiVector(vectors, attention)"
            )
        return as_method(method)(vectors)
    return as_method(method)(MultiVector(vectors, attention))


def compress_pages(
    pages: Iterable[MultiVector | ArrayLike | Callable[[], MultiVector]],
    method: Callable[[MultiVector], Compressed] | str = "adamerge",
    workers: int | None = None,
) -> Iterator[Compressed]:
    """Compress pages lazily and in order, on `workers` threads (default: one per core).

    A page is a MultiVector, its vectors, a pair of vectors and attention, or a function that a thread calls to get one.

    Any iterable goes, also one without end: at most 16 pages per worker are held. An error names its page, comes
    after the pages before it, and ends the run.
    """
    if workers is None:
        workers = cores()
    if not isinstance(workers, int) or workers < 1:
        raise BadInput(f"workers must be a whole number, at least 1, got {workers!r}")
    return _in_order(enumerate(pages), as_method(method), workers)


def _in_order(
    pages: Iterator[tuple[int, Any]], method: Callable[[MultiVector], Compressed], workers: int
) -> Iterator[Compressed]:
    pool = ThreadPoolExecutor(workers, thread_name_prefix="adamerge")
    pending: deque[Future[list[Compressed | AdamergeError]]] = deque()
    end: Exception | None = None
    try:
        while end is None or pending:
            while end is None and len(pending) < AHEAD * workers:
                chunk, end = _take(pages)
                pending.append(pool.submit(_work, method, chunk))
            for outcome in pending.popleft().result():
                if isinstance(outcome, AdamergeError):
                    raise outcome
                yield outcome
        if not isinstance(end, StopIteration):
            raise end
    finally:  # also when the consumer stops, or presses Ctrl-C
        pool.shutdown(wait=True, cancel_futures=True)


def _take(pages: Iterator[tuple[int, Any]]) -> tuple[list[tuple[int, Any]], Exception | None]:
    """The next pages, and why there are no more: an error of the source must wait for the pages before it."""
    chunk: list[tuple[int, Any]] = []
    try:
        while len(chunk) < CHUNK:
            chunk.append(next(pages))
    except Exception as end:
        return chunk, end
    return chunk, None


def _work(
    method: Callable[[MultiVector], Compressed], chunk: list[tuple[int, Any]]
) -> list[Compressed | AdamergeError]:
    """Each page compressed, up to the first that fails, which leaves an error with its name or number."""
    outcomes: list[Compressed | AdamergeError] = []
    for number, page in chunk:
        if callable(page):
            try:
                page = page()
            except AdamergeError as error:  # it names the page itself
                return [*outcomes, error]
        name = f"page '{getattr(page, 'id', '') or number}'"
        try:
            outcomes.append(method(_page(page)))
        except AdamergeError as error:
            return [*outcomes, type(error)(f"{name}: {error}")]
        except Exception as error:
            failed = PageFailed(f"{name}: {type(error).__name__}: {error}")
            failed.__cause__ = error
            return [*outcomes, failed]
    return outcomes


def _page(given: Any) -> MultiVector:
    if isinstance(given, MultiVector):
        return given
    if isinstance(given, tuple):
        return MultiVector(*given)
    return MultiVector(given)
