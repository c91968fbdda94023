"""What a server has done, in the text format of Prometheus."""

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
HELP = {
    "adamerge_requests_total": ("counter", "Requests answered."),
    "adamerge_request_seconds": ("histogram", "Seconds from a request to the end of its answer."),
    "adamerge_searches_total": ("counter", "Searches answered."),
    "adamerge_search_seconds": (
        "histogram",
        "Seconds of a search, encoding of the query included.",
    ),
    "adamerge_uploads_total": ("counter", "Files that were indexed or failed."),
    "adamerge_worker_starts_total": ("counter", "Starts of worker processes."),
    "adamerge_pages": ("gauge", "Pages in the store."),
    "adamerge_vectors": ("gauge", "Vectors in the store."),
    "adamerge_store_bytes": ("gauge", "Bytes of the store."),
}
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters and histograms that any thread may add to."""

    def __init__(self) -> None:
        """Start at nothing."""
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._times: dict[tuple[str, Labels], list[float]] = defaultdict(
            lambda: [0.0] * (len(BOUNDS) + 2)
        )

    def count(self, name: str, **labels: str) -> None:
        """One more."""
        with self._lock:
            self._counts[name, tuple(labels.items())] += 1

    def time(self, name: str, seconds: float, **labels: str) -> None:
        """One more that took so long."""
        with self._lock:
            row = self._times[name, tuple(labels.items())]
            row[bisect_left(BOUNDS, seconds)] += 1
            row[-1] += seconds

    def text(self, now: Mapping[str, float]) -> str:
        """Everything so far, and values of the moment by name."""
        with self._lock:
            counts, times = dict(self._counts), {key: list(row) for key, row in self._times.items()}
        lines = []
        for name, (kind, about) in HELP.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
            lines += [f"{name} {now[name]}"] if name in now else []
            lines += [
                f"{name}{_labels(labels)} {n}"
                for (known, labels), n in sorted(counts.items())
                if known == name
            ]
            for (known, labels), row in sorted(times.items()):
                lines += _histogram(name, labels, row) if known == name else []
        return "\n".join(lines) + "\n"


def _histogram(name: str, labels: Labels, row: list[float]) -> Iterator[str]:
    total = 0.0
    for bound, n in zip([*map(str, BOUNDS), "+Inf"], row[:-1], strict=True):
        total += n
        yield f"{name}_bucket{_labels((*labels, ('le', bound)))} {total:.0f}"
    yield f"{name}_sum{_labels(labels)} {row[-1]:.6f}"
    yield f"{name}_count{_labels(labels)} {total:.0f}"


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{key}="{value}"' for key, value in labels) + "}" if labels else ""
