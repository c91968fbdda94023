"""The process that opens files of others: a line of JSON in, lines of JSON out; the server outlives whatever it meets.

It lays its own limits on before it reads anything: memory, no core files, and a low priority, since searches go first.
"""

import json
import os
import resource
import signal
import sys
import traceback
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from adamerge.encoders import Encoder
from adamerge.errors import AdamergeError, BadFile
from adamerge.pages import count_pages
from adamerge.server.words import said
from adamerge.store import Store, open_named
from adamerge.store.index import Indexing, index_files

PAGES = 5_000  # of one file
PIXELS = 1_600  # of a page shown, on its longer side
Tell = Callable[[dict[str, Any]], None]


@dataclass
class Desk:
    """What stays from one task to the next: the encoder, once it is loaded."""

    memory: int
    encoders: dict[str, Encoder] = field(default_factory=dict)

    def encoder(self, store: Store) -> Encoder:
        """The encoder of a store, loaded once; memory is limited from then on."""
        known = repr(store.encoder_spec())
        if known not in self.encoders:
            limit(-1)
            self.encoders[known] = store.load_encoder()
            limit(self.memory)
        return self.encoders[known]


def main() -> None:
    """Do tasks until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is not an answer
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # meant for the server, which ends us
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(10)
    waiting = tasks()

    def tell(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    desk = Desk(int(sys.argv[1]))
    limit(desk.memory)
    for task in waiting:
        tell({"end": True} | attempt(desk, task, tell))


def tasks() -> Iterator[dict[str, Any]]:
    """Tasks as they come; without a server this process ends at once, since the store is another's to write then."""
    lines: SimpleQueue[str] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    Thread(target=listen, daemon=True).start()
    return (json.loads(lines.get()) for _ in count())


def attempt(desk: Desk, task: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """What became of a task; an error in words if it cannot be done."""
    try:
        return TASKS[task["do"]](desk, task, tell)
    except (AdamergeError, OSError) as error:
        return {"error": said(error, task.get("root", ""))}
    except MemoryError:
        return {"error": "it needs more memory than a worker may take"}
    except (
        Exception
    ) as error:  # a library's own, or a mistake of ours: no reason to lose the encoder
        traceback.print_exc()
        return {"error": f"it could not be read ({said(error, task.get('root', ''))})"}


def limit(memory: int) -> None:
    """Let this process take so many bytes more than it has now; -1 for as many as there are."""
    try:
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        now = 0
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard if memory < 0 else now + memory, hard))


def index(desk: Desk, task: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Index a file that nobody has checked: another one of its name in the store is refused, never replaced."""
    path, skipped = Path(task["root"]) / task["source"], list[str]()
    total = count_pages([path])
    if total > PAGES:
        raise BadFile(f"{task['source']} has {total:,} pages, more than {PAGES:,}")
    tell({"done": 0, "total": total})
    with open_named(task["store"], encoder=task["encoder"] or None) as store:
        about = store.known()
        known = store.sources().get(task["source"])
        if known and task["hash"] not in known.ids.values():
            raise BadFile(f"the store holds another '{task['source']}': give this one another name")
        encoder: Any = Counted(desk.encoder(store), total, tell)
        dpi = {"dpi": about.encoder["dpi"]} if "dpi" in about.encoder else {}
        how = Indexing(
            encoder,
            about.method,
            skip_bad=lambda error: skipped.append(said(error, task["root"])),
            **dpi,
        )
        counts = Counter(change.did for change in index_files([path], store, how))
    if skipped and not counts:
        raise BadFile(skipped[0])
    return {
        "done": total,
        "added": counts["added"],
        "unchanged": counts["unchanged"],
        "skipped": skipped,
    }


def forget(desk: Desk, task: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Remove what a file that failed has left in the store."""
    with open_named(task["store"], encoder=task["encoder"] or None) as store:
        known = store.sources().get(task["source"])
        ours = known is not None and known.root == Path(task["root"]).resolve().as_posix()
        left = (
            [id for id, hash in known.ids.items() if hash == task["hash"]] if known and ours else []
        )
        return {"removed": store.delete(*left) if left else 0}


def render(desk: Desk, task: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """A page of a file as WebP."""
    from adamerge.inspector.source import read_page

    image = read_page(f"{task['path']}#{task['number']}").image
    image.thumbnail((PIXELS, PIXELS))
    out = BytesIO()
    image.save(out, "WEBP", quality=75, method=2)
    return {"image": b64encode(out.getvalue()).decode()}


def inspect(desk: Desk, task: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The inspector of a page, encoded anew from its file."""
    from adamerge.inspector import Query
    from adamerge.inspector import inspect as look_into
    from adamerge.inspector.stored import encode_again

    with open_named(task["store"], encoder=task["encoder"] or None) as store:
        (entry,) = store.get([task["id"]])
        encoder = desk.encoder(store)
        vectors, page = encode_again(store, entry, encoder)
    texts = [task["query"]] if task["query"] else []
    queries = (
        map(Query, texts, encoder.encode_queries(texts), encoder.query_tokens(texts))
        if texts
        else ()
    )
    return {
        "html": look_into(vectors, entry.page.method, page, list(queries)).to_html(task["back"])
    }


@dataclass
class Counted:
    """An encoder that says how far it is."""

    encoder: Encoder
    total: int
    tell: Tell
    done: int = 0

    def __getattr__(self, name: str) -> Any:
        """Everything else is the encoder's own."""
        return getattr(self.encoder, name)

    def encode_pages(self, pages: Sequence[Any]) -> Any:
        """The patches of each page, and a word about them."""
        encoded = self.encoder.encode_pages(pages)
        self.done += len(pages)
        self.tell({"done": min(self.done, self.total), "total": self.total})
        return encoded


TASKS: dict[str, Callable[[Desk, dict[str, Any], Tell], dict[str, Any]]] = {
    "index": index,
    "forget": forget,
    "render": render,
    "inspect": inspect,
}

if __name__ == "__main__":
    main()
