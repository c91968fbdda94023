"""What a server has done, in the text format of Prometheus."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
disable_created_metrics()  # else each counter has a second line: when it began


class Metrics:
    """Counters, histograms and values of the moment; any thread may add to them."""

    def __init__(self) -> None:
        """Start at zero."""
        self._registry = CollectorRegistry()  # one per server; the default is one per process
        self.requests = self._counter("requests", "Requests answered.", "route", "method", "status")
        self.request_seconds = self._histogram(
            "request_seconds", "Seconds from a request to the end of its answer.", "route"
        )
        self.searches = self._counter("searches", "Searches answered.")
        self.searches_unanswered = self._counter(
            "searches_unanswered",
            "Searches that were not answered: the client hung up, or the server was busy.",
            "reason",
        )
        self.search_seconds = self._histogram(
            "search_seconds", "Seconds of a search, encoding of the query included."
        )
        self.searches_waiting = self._gauge("searches_waiting", "Searches that wait for others.")
        self.search_batches_running = self._gauge(
            "search_batches_running", "Batches of searches that are computed now."
        )
        self.uploads = self._counter("uploads", "Files that were indexed or failed.", "state")
        self.worker_starts = self._counter("worker_starts", "Starts of worker processes.")
        self.pages = self._gauge("pages", "Pages in the store.")
        self.vectors = self._gauge("vectors", "Vectors in the store.")
        self.store_bytes = self._gauge("store_bytes", "Bytes of the store.")

    def text(self) -> str:
        """Everything so far."""
        text: str = generate_latest(self._registry).decode()
        return text

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"adamerge_{name}", about, labels, registry=self._registry)

    def _gauge(self, name: str, about: str) -> Gauge:
        return Gauge(f"adamerge_{name}", about, registry=self._registry)

    def _histogram(self, name: str, about: str, *labels: str) -> Histogram:
        name = f"adamerge_{name}"
        return Histogram(name, about, labels, registry=self._registry, buckets=SECONDS)
