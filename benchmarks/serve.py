"""What `adamerge serve` answers under load: 32 clients at once for a minute, on 2,000 pages, over loopback.

python benchmarks/serve.py [--pages 2000 --clients 32 --seconds 60]

Pages are the sample's, their vectors turned a little so that no two are the same; queries are phrases that the encoder
`minilm` has not seen before, so that every search encodes, compares 2,000 pages, and finds the regions of ten hits.
Half way through a PDF is uploaded and indexed, and a damaged one too.
"""

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

import adamerge as am
from adamerge.store.entry import thumbnail

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "examples" / "sample.pdf"
WORDS = re.findall(
    r"\w+", "patch token vector page group tree cut cliff attention encoder merge cosine floor loss"
)


def entries(pages: int) -> Iterator[am.Entry]:
    """As many pages as asked for, like those of the sample."""
    encoder, rng = am.load_encoder("minilm"), np.random.default_rng(0)
    known = [
        (page, encoder.encode_pages([page])[0], thumbnail(page, 512))
        for page in am.read_pages([SAMPLE])
    ]
    for number, (page, vectors, picture) in enumerate(islice(cycle(known), pages), 1):
        noise = 0.02 * rng.normal(size=vectors.vectors.shape)
        turned = replace(vectors, vectors=vectors.vectors + noise, id=f"book.pdf#{number}")
        small = am.compress(turned, method="adamerge")
        yield am.Entry(small, "book.pdf", number, pages, words=page.words, thumbnail=picture)


def phrase(number: int) -> str:
    """A query that nobody has asked before."""
    return (
        " ".join(WORDS[(number * step + step) % len(WORDS)] for step in (1, 3, 5, 7)) + f" {number}"
    )


def gathered(store: am.Store, many: int = 16, count: int = 64) -> None:
    """What answering together is worth: a search alone, and one of many at a time."""
    store.search("first")  # reads the vectors
    took = []
    for size in (1, many):
        texts, start = [phrase(10_000 * size + i) for i in range(count)], time.perf_counter()
        for i in range(0, count, size):
            store.search_all(texts[i : i + size])
        took.append(1e3 * (time.perf_counter() - start) / count)
    print(
        f"a search alone {took[0]:.1f} ms, one of {many} {took[1]:.1f} ms: {took[0] / took[1]:.1f} times\n"
    )


def ask(
    port: int, until: float, numbers: Iterator[int], times: list[float], answers: Counter[int]
) -> None:
    """One client: a search after the other on one connection, until the time is over."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while time.perf_counter() < until:
        text = phrase(next(numbers))
        start = time.perf_counter()
        line.request("GET", f"/api/search?q={quote(text)}")
        answer = line.getresponse()
        body = answer.read()
        times.append(1e3 * (time.perf_counter() - start))
        answers[answer.status if len(json.loads(body).get("hits", ())) == 10 else -1] += 1
    line.close()


def upload(port: int, name: str, content: bytes) -> str:
    """Add a file, wait for it, and say what became of it."""
    form = (
        f'--line\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    )
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    kind = {"Content-Type": "multipart/form-data; boundary=line"}
    line.request("POST", "/api/index", form + content + b"\r\n--line--\r\n", kind)
    job, start = json.loads(line.getresponse().read()), time.perf_counter()
    while job["state"] in ("waiting", "indexing") and time.perf_counter() - start < 300:
        time.sleep(0.5)
        line.request("GET", f"/api/index/{job['id']}")
        job = json.loads(line.getresponse().read())
    line.close()
    return f"{name}: {job['state']}, {job['added']} pages added in {time.perf_counter() - start:.0f} s {job['error']}"


class Load(NamedTuple):
    """What was measured: searches a second, the median time of one in milliseconds, and errors."""

    rate: float
    p50: float
    errors: int


def load(port: int, clients: int, seconds: float, *, adding: bool) -> Load:
    """Let the clients ask, add two files half way, and print what was measured."""
    times: list[float] = []
    answers: Counter[int] = Counter()
    numbers, start = count(), time.perf_counter()
    own_cpu = time.process_time()
    given = port, start + seconds, numbers, times, answers
    threads = [threading.Thread(target=ask, args=given) for _ in range(clients)]
    for thread in threads:
        thread.start()
    time.sleep(seconds / 2)
    files = (
        {"damaged.pdf": b"%PDF-1.7 " + os.urandom(10_000), "new.pdf": SAMPLE.read_bytes()}
        if adding
        else {}
    )
    uploaded: list[str] = []
    adder = threading.Thread(
        target=lambda: uploaded.extend(upload(port, *file) for file in files.items())
    )
    adder.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - start
    adder.join()
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    errors = sum(n for status, n in answers.items() if status != 200)
    rate = len(times) / took
    print(
        f"{clients} clients, {took:.0f} s: {len(times):,} searches, {rate:.1f} a second, {errors} errors"
    )
    print(f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms, longest {max(times):.0f} ms")
    cpu = 1e3 * (time.process_time() - own_cpu) / len(times)
    print(f"the clients took {cpu:.2f} ms of CPU a search, on the same cores as the server")
    print("\n".join(uploaded))
    return Load(rate, float(p50), errors)


@contextmanager
def serving(pages: int) -> Iterator[int]:
    """The port of a server with a store of made-up pages."""
    with TemporaryDirectory() as folder:
        place = Path(folder, "pages.store")
        with am.open_store(place, encoder="minilm") as store:
            store.add(entries(pages))
            facts = store.facts()
            size = f"{facts['bytes in all'] / 1e6:.0f} MB"
            print(f"{facts['pages']:,} pages, {facts['stored']:,} vectors, {size}")
            gathered(store)
        command = [sys.executable, "-m", "adamerge", "serve", str(place), "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            yield int(re.search(r":(\d+)", process.stdout.readline())[1])
        finally:
            process.terminate()
            process.wait()


def main() -> None:
    """Make a store, serve it, load it."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pages", type=int, default=2000)
    options.add_argument("--clients", type=int, default=32)
    options.add_argument("--seconds", type=float, default=60)
    given = options.parse_args()
    with serving(given.pages) as port:
        load(port, 1, min(10, given.seconds), adding=False)
        load(port, given.clients, given.seconds, adding=True)


if __name__ == "__main__":
    main()
