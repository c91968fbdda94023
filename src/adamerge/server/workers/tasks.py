"""What a worker process does: index a file or a folder, remove a file, draw a page, inspect a page."""

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

from adamerge.documents import DPI, count_pages, estimate_pages, other_files
from adamerge.encoders import Encoder
from adamerge.errors import AdamergeError, BadFile
from adamerge.server.redact import redact
from adamerge.store import Indexing, Store, index_files, open_named

MAX_PAGES = 5_000  # of one file
INCHES = 11  # of the longer side of a usual page
PICTURES: dict[str, dict[str, Any]] = {  # how a page is saved
    "webp": {"format": "WEBP", "quality": 75, "method": 2},
    "jpeg": {"format": "JPEG", "quality": 80},
}
TaskMessage = dict[str, Any]
Answer = dict[str, Any]
Tell = Callable[[dict[str, Any]], None]


class Encoders(Protocol):
    """Where a task gets its encoder from."""

    def load(self, store: Store, named: str) -> Encoder:
        """The encoder of a store; of one without pages the one that is named, else the usual one."""


def index(encoders: Encoders, task: TaskMessage, tell: Tell) -> Answer:
    """Index a file that nobody has checked: another one of its name in the store is refused, never replaced."""
    source = task["source"]
    path = Path(task["root"]) / source
    total = count_pages([path])
    if total > MAX_PAGES:
        raise BadFile(f"{source} has {total:,} pages, more than {MAX_PAGES:,}")
    tell({"done": 0, "total": total})

    skipped: list[str] = []
    with _open(task) as store:
        if not task["may_make_store"]:
            store.require_about()  # a store that was moved away is not made anew in its place
        known = store.sources().get(source)
        if known and task["hash"] not in known.hashes.values():
            raise BadFile(f"the store holds another '{source}': give this one another name")
        encoder: Any = ProgressEncoder(encoders.load(store, task["encoder"]), total, tell)
        how = _as_the_store(store, encoder)
        how = replace(how, skip_bad=lambda error: skipped.append(redact(error, task["root"])))
        counts = Counter(change.did for change in index_files([path], store, how))

    if skipped and not counts:
        raise BadFile(skipped[0])
    return {
        "done": total,
        "added": counts["added"],
        "unchanged": counts["unchanged"],
        "skipped": skipped,
    }


def _as_the_store(store: Store, encoder: Encoder) -> Indexing:
    """Index as the pages of a store were indexed, or as usual where it has none."""
    if store.about is None:
        return Indexing(encoder)
    return Indexing(encoder, store.about.method, dpi=store.about.encoder.get("dpi", DPI))


def index_folder(encoders: Encoders, task: TaskMessage, tell: Tell) -> Answer:
    """Bring a store up to date with a folder: new and changed files are indexed, those that are gone are removed."""
    folder = Path(task["root"])
    progress = FolderProgress(estimate_pages([folder], task["password"]), tell)
    skipped: list[str] = []

    def skip(error: AdamergeError) -> None:
        skipped.append(redact(error, task["root"]))
        progress.pass_over()

    counts: Counter[str] = Counter()
    with _open(task) as store:
        store.begin_writing()  # a second writer is refused before the encoder is loaded
        how = _as_the_store(store, encoders.load(store, task["encoder"]))
        how = replace(how, skip_bad=skip, watcher=progress, password=task["password"])
        for change in index_files([folder], store, how):
            counts[change.did] += 1
            if change.did == "unchanged":
                progress.pass_over()

    return {
        "total": progress.total,
        "added": counts["added"],
        "replaced": counts["replaced"],
        "removed": counts["removed"],
        "unchanged": counts["unchanged"],
        "skipped": skipped,
        "passed_over": sorted(other_files([folder], apart=Path(task["store"])).items()),
    }


def delete(encoders: Encoders, task: TaskMessage, tell: Tell) -> Answer:
    """Remove all pages of a file from a store."""
    with _open(task) as store:
        return {"removed": store.delete(source=task["source"])}


def remove(encoders: Encoders, task: TaskMessage, tell: Tell) -> Answer:
    """Remove the pages of a file that failed; those of another file of its name stay."""
    with _open(task) as store:
        known = store.sources().get(task["source"])
        is_ours = known is not None and known.root == Path(task["root"]).resolve().as_posix()
        if known is None or not is_ours:
            return {"removed": 0}
        ids = [id for id, hash in known.hashes.items() if hash == task["hash"]]
        return {"removed": store.delete(*ids) if ids else 0}


def render(encoders: Encoders, task: TaskMessage, tell: Tell) -> Answer:
    """A page of a file as a picture: webp or jpeg."""
    from adamerge.inspector.page_address import read_page

    pixels = task["pixels"]
    dpi = max(DPI, pixels // INCHES)
    image = read_page(f"{task['path']}#{task['number']}", dpi, task["password"]).image
    image.thumbnail((pixels, pixels))
    out = BytesIO()
    image.convert("RGB").save(out, **PICTURES[task["format"]])
    return {"image": b64encode(out.getvalue()).decode()}


def inspect(encoders: Encoders, task: TaskMessage, tell: Tell) -> Answer:
    """The inspector of a page, encoded anew from its file."""
    from adamerge.inspector import Query
    from adamerge.inspector import inspect as inspect_page
    from adamerge.inspector.stored_page import encode_again

    with _open(task) as store:
        (entry,) = store.get([task["id"]])
        encoder = encoders.load(store, task["encoder"])
        vectors, page = encode_again(store, entry, encoder, task["password"])
    queries = []
    if text := task["query"]:
        ((query_vectors,), (tokens,)) = encoder.encode_queries([text]), encoder.query_tokens([text])
        queries = [Query(text, query_vectors, tokens)]
    inspection = inspect_page(vectors, entry.page.method, page, queries)
    return {"html": inspection.to_html(task["back"])}


def _open(task: TaskMessage) -> Store:
    return open_named(task["store"], encoder=task["encoder"] or None)


@dataclass
class ProgressEncoder:
    """An encoder that tells how many pages it has encoded."""

    encoder: Encoder
    total: int
    tell: Tell
    done: int = 0

    def __getattr__(self, name: str) -> Any:
        """Everything else is the encoder's own."""
        return getattr(self.encoder, name)

    def encode_pages(self, pages: Sequence[Any]) -> Any:
        """The patches of each page."""
        encoded = self.encoder.encode_pages(pages)
        self.done += len(pages)
        self.tell({"done": min(self.done, self.total), "total": self.total})
        return encoded


@dataclass
class FolderProgress:
    """Tells how many pages of a folder are done, and which file is being read."""

    total: int
    tell: Tell
    done: int = 0
    current: str = ""

    def begin(self, current: str) -> None:
        """Tell which file is read next."""
        self.current = current
        self._tell()

    def advance(self, count: int = 1) -> None:
        """Tell that so many more pages are done."""
        self.done += count
        self.total = max(self.total, self.done)  # an office file was counted as one page
        self._tell()

    def pass_over(self, count: int = 1) -> None:
        """Tell that so many pages needed no work."""
        self.advance(count)

    def _tell(self) -> None:
        self.tell({"done": self.done, "total": self.total, "current": self.current})


TASKS: dict[str, Callable[[Encoders, TaskMessage, Tell], Answer]] = {
    "index": index,
    "index_folder": index_folder,
    "remove": remove,
    "delete": delete,
    "render": render,
    "inspect": inspect,
}
