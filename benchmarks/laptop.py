"""What a person with a laptop waits for: commands from a cold start, encoding, searching in a browser.

python benchmarks/laptop.py            three minutes
python benchmarks/laptop.py --quick    a smoke run

Commands run as in an environment of '.[local,store]': with what else is installed here they would import more, so the
packages that this environment lacks are hidden. The peer of encoding is sentence-transformers, with torch's threads as
they are when it is installed.
"""

import argparse
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from serve import load, serving
from timing import best, budget, fastest, say_missed

import adamerge as am
from adamerge.encoders.minilm_weights import find_weights
from adamerge.threads import cores

REPORT = Path(__file__).parent.parent / "examples" / "report.pdf"
COMMAND = """
import sys

class Hidden:
    def find_spec(name, path=None, target=None):
        if name in ("pandas", "scipy", "torch", "transformers"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Hidden)
from adamerge.cli import main
main()
"""
BUSY = 2  # processes that do nothing but work


def commands(seconds: float) -> None:
    """Cold commands as multiples of `import numpy`, in turns."""
    print("## Commands, as multiples of `python -c 'import numpy'`\n")
    with TemporaryDirectory() as folder:
        place = Path(folder, "report.store")
        encoder = am.load_encoder("minilm")
        with am.open_store(place, encoder=encoder) as store:
            for _ in am.index_files([REPORT], store, am.Indexing(encoder)):
                pass
        words = {
            "--help": ["--help"],
            "info": ["info", str(place)],
            "search": ["search", str(place), "who repaired the clock?"],
        }
        works = {"numpy": runs("-c", "import numpy")}
        for name, given in words.items():
            works[name] = runs("-c", COMMAND, *given)
        ms = fastest(works, seconds)
    print(f"import numpy: {ms['numpy']:.0f} ms")
    for name, at_most in (("--help", 4), ("info", 4), ("search", 7)):
        ratio = ms[name] / ms["numpy"]
        print(f"{ms[name]:.0f} ms: {budget(f'adamerge {name}', ratio, at_most=at_most)}")


def runs(*words: str) -> Callable[[], object]:
    """Run Python with some arguments and show nothing."""

    def run() -> None:
        subprocess.run([sys.executable, *words], check=True, capture_output=True)

    return run


def queries(seconds: float) -> None:
    """The vectors of a query of twelve word pieces."""
    encoder = am.load_encoder("minilm", threads=1)
    took = best(lambda: encoder.encode_queries(["how much is a night for a sailing boat"]), seconds)
    print(budget("\nthe vectors of a query, ms", took, at_most=12))


def encoding(pages: int, rounds: int) -> None:
    """Pages a second of the encoder: one core, all cores, and with torch."""
    print(f"\n## Encoding {pages} pages\n")
    report = list(am.read_pages([REPORT]))
    some = [report[i % len(report)] for i in range(pages)]
    one, every = (am.load_encoder("minilm", threads=n) for n in (1, cores()))

    alone = pages_per_second(lambda: one.encode_pages(some), pages, rounds)
    together = pages_per_second(lambda: every.encode_pages(some), pages, rounds)
    torch = pages_per_second(torch_encoder(some), pages, rounds)

    print(f"one core {alone:.1f} a second, {cores()} cores {together:.1f}")
    print(f"sentence-transformers on torch {torch:.1f}: {together / torch:.2f} times\n")
    print(budget(f"encoding on {cores()} cores against one", together / alone, at_least=1.7))


def encode_command(pages: int, rounds: int) -> None:
    """`adamerge encode` from a cold start: bound to one core, on all, and on all beside other work; in turns."""
    one, every, beside = [], [], []
    with TemporaryDirectory() as folder:
        manual, out = Path(folder, "manual.pdf"), Path(folder, "vectors")
        write_manual(manual, pages)
        words = ["encode", str(manual), "-o", str(out)]
        for _ in range(rounds):
            one.append(seconds(words, out, cores_allowed=1))
            every.append(seconds(words, out))
            with busy(BUSY):
                beside.append(seconds(words, out))
    print(
        f"\n`adamerge encode` of {pages} pages: {min(one):.1f} s on one core, {min(every):.1f} s on"
    )
    print(f"all, {min(beside):.1f} s beside {BUSY} busy processes\n")
    print(budget("encode on all cores against one", min(one) / min(every), at_least=1.7))
    print(budget(f"encode beside {BUSY}, of quiet", min(every) / min(beside), at_least=0.5))


def write_manual(path: Path, pages: int) -> None:
    """A PDF with 470 words on each page, as R-intro has: those of the report, again and again."""
    from reportlab.pdfgen.canvas import Canvas

    words = [word.text for page in am.read_pages([REPORT]) for word in page.words]
    canvas = Canvas(str(path), pagesize=(595, 842))
    for page in range(pages):
        canvas.setFont("Helvetica", 8)
        for line in range(47):
            start = (page * 470 + line * 10) % len(words)
            canvas.drawString(50, 800 - 16 * line, " ".join(words[start : start + 10]))
        canvas.showPage()
    canvas.save()


def seconds(words: list[str], out: Path, cores_allowed: int | None = None) -> float:
    """How long a command takes that writes a folder; it may run on all cores, or on some."""
    shutil.rmtree(out, ignore_errors=True)
    some = sorted(os.sched_getaffinity(0))[:cores_allowed]
    start = time.perf_counter()
    command = [sys.executable, "-c", COMMAND, *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        os.sched_setaffinity(process.pid, some)
    assert process.returncode == 0
    return time.perf_counter() - start


def pages_per_second(work: Callable[[], object], pages: int, rounds: int) -> float:
    """The best of some runs."""
    work()
    took = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return pages / min(took)


def torch_encoder(pages: Sequence[am.Page]) -> Callable[[], object]:
    """The token vectors of the same words by sentence-transformers, in windows of 256 pieces as ours."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer

    model = SentenceTransformer(modules=[Transformer(str(find_weights()))], device="cpu")
    model.max_seq_length = 256
    texts = []
    for page in pages:
        words = [word.text for word in page.words]
        half = len(words) // 2  # a page of the report has about 180 words, 250 to 300 pieces
        texts += [" ".join(words[:half]), " ".join(words[half:])]
    return lambda: model.encode(texts, output_value="token_embeddings", batch_size=4)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that multiply matrices all the time."""
    workers = [multiprocessing.Process(target=work_forever, daemon=True) for _ in range(count)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def work_forever() -> None:
    """Keep one core busy."""
    matrix = np.ones((64, 64), np.float32)
    while True:
        matrix = matrix @ matrix / 64


def searching(pages: int, seconds: float) -> None:
    """The server under load by one client and by many."""
    print(f"\n## `adamerge serve`, {pages:,} pages\n")
    with serving(pages) as port:
        one = load(port, 1, seconds, adding=False)
        many = load(port, 32, seconds, adding=False)
    print(budget("serve, one client, p50 in ms", one.p50, at_most=20))
    print(budget("serve, 32 clients, searches a second", many.rate, at_least=120))
    print(budget("serve, errors", one.errors + many.errors, at_most=0))


def main() -> None:
    """Run it all; exit 1 if a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print(f"{cores()} cores, load {os.getloadavg()[0]:.1f}\n")
    commands(0.1 if quick else 6)
    queries(0.1 if quick else 2)
    encoding(*((12, 1) if quick else (48, 3)))
    encode_command(*((6, 1) if quick else (113, 3)))
    searching(*((100, 1) if quick else (2000, 12)))
    say_missed()


if __name__ == "__main__":
    main()
