"""What a server has done, in the text format of Prometheus."""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
HELP = {
    "adamerge_requests_total": ("counter", "Requests answered."),
    "adamerge_request_seconds": ("histogram", "Seconds from a request to the end of its answer."),
    "adamerge_searches_total": ("counter", "Searches answered."),
    "adamerge_searches_unanswered_total": (
        "counter",
        "Searches that were not answered: the client hung up, or the server was busy.",
    ),
    "adamerge_search_seconds": (
        "histogram",
        "Seconds of a search, encoding of the query included.",
    ),
    "adamerge_searches_waiting": ("gauge", "Searches that wait for others."),
    "adamerge_search_batches_running": ("gauge", "Batches of searches that are computed now."),
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
        """Start at zero."""
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._histograms: dict[tuple[str, Labels], list[float]] = {}

    def count(self, name: str, **labels: str) -> None:
        """Add one to a counter."""
        with self._lock:
            self._counts[name, tuple(labels.items())] += 1

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Add a duration to a histogram."""
        key = name, tuple(labels.items())
        with self._lock:
            row = self._histograms.setdefault(key, [0.0] * (len(BOUNDS) + 2))
            row[bisect_left(BOUNDS, seconds)] += 1
            row[-1] += seconds

    def text(self, gauges: Mapping[str, float]) -> str:
        """Everything so far, and values of the moment by name."""
        with self._lock:
            counts = sorted(self._counts.items())
            histograms = [(key, list(row)) for key, row in sorted(self._histograms.items())]
        lines = []
        for name, (kind, about) in HELP.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
            if name in gauges:
                lines.append(f"{name} {gauges[name]}")
            for (counted, labels), value in counts:
                if counted == name:
                    lines.append(f"{name}{_labels(labels)} {value}")
            for (observed, labels), row in histograms:
                if observed == name:
                    lines += _histogram(name, labels, row)
        return "\n".join(lines) + "\n"


def _histogram(name: str, labels: Labels, row: list[float]) -> Iterator[str]:
    total = 0.0
    for bound, n in zip([*map(str, BOUNDS), "+Inf"], row[:-1], strict=True):
        total += n
        yield f"{name}_bucket{_labels((*labels, ('le', bound)))} {total:.0f}"
    yield f"{name}_sum{_labels(labels)} {row[-1]:.6f}"
    yield f"{name}_count{_labels(labels)} {total:.0f}"


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{key}="{value}"' for key, value in labels) + "}"
