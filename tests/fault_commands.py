"""The commands that are disturbed, each with how to read what it has made and what it has left behind.

A command reads `inputs` and changes only what is below `work`.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lance
import numpy as np
from light import write_pdf

import adamerge as am
from adamerge.errors import AdamergeError
from adamerge.store import is_store

METHOD = "sem-cluster:m=2"
VERSION_HINT = "_versions/latest_version_hint.json"  # Lance's own, which no version names


def nothing(work, inputs):
    """Nothing is there before a command."""


@dataclass(frozen=True)
class Command:
    """A command line, and how to read what it has made."""

    name: str
    words: Callable[[Path, Path], list[Any]]  # of inputs and work
    parts: Callable[[Path], dict[str, Any]]  # of work: what a reader finds there, by name
    left_overs: Callable[[Path], list[str]]  # of work: files that no reader looks at
    # puts into work, of inputs, what is there before
    before: Callable[[Path, Path], None] = nothing
    done: Callable[[str], set[str]] = lambda out: set()  # of stdout: parts that are said to be safe
    at_once: bool = False  # whether all parts have to appear in one moment
    says_done: str = ""  # where there is nothing more to do, it is refused by these words


# ------------------------------------------------------------------------------------------------- what they read


def make_inputs(runner, folder):
    """Vectors, documents, a store of them, and one of how they were before."""
    rng = np.random.default_rng(0)
    pages = {f"page {i}": rng.normal(size=(24, 16)) for i in range(2)}
    np.savez(folder / "pages.npz", **pages)

    docs = folder / "docs"
    write_pdf(docs / "changed.pdf", ["apple pie recipe"])
    write_pdf(docs / "removed.pdf", ["oil every wheel"])
    write_pdf(docs / "same.pdf", ["clock repair manual"])
    index_undisturbed(runner, folder, "before.store")

    write_pdf(docs / "changed.pdf", ["pear pie recipe"])
    (docs / "removed.pdf").unlink()
    index_undisturbed(runner, folder, "store")
    (folder / "years.csv").write_text("source,year\nsame.pdf,1990\n")


def index_undisturbed(runner, folder, store):
    run = runner.run(["index", folder / "docs", "--store", folder / store, *INDEXING], folder)
    assert run.code == 0, run.err


# ------------------------------------------------------------------------------------------- a folder of vectors


def shards_of(work):
    """The shards of a folder of vectors, and its manifest once that says that it is finished."""
    files = {path.name: path.read_bytes() for path in (work / "out").glob("[!.]*")}
    files.pop("plan.jsonl", None)
    if "manifest.json" in files and json.loads(files["manifest.json"])["pages"] is None:
        del files["manifest.json"]
    return files


def left_of_shards(work):
    """Temporary files, and folders in which there is no shard."""
    hidden = [path.name for path in work.rglob(".*")]
    empty = [path.name for path in work.iterdir() if not list(path.glob("shard-*"))]
    return hidden + empty


COMPRESS = Command(
    "compress",
    lambda inputs, work: [
        *("compress", inputs / "pages.npz", "-o", work / "out"),
        *("--method", METHOD, "--dtype", "float32"),
    ],
    shards_of,
    left_of_shards,
)

ENCODE = Command(
    "encode",
    lambda inputs, work: [
        *("encode", inputs / "docs", "-o", work / "out"),
        *("--encoder", "light", "--batch-size", "1"),
    ],
    shards_of,
    left_of_shards,
)

EXPORT = Command(
    "export to a folder",
    lambda inputs, work: ["export", inputs / "store", "-o", work / "out"],
    shards_of,
    left_of_shards,
    at_once=True,
    says_done="is there already",
)

EXPORT_PARQUET = Command(
    "export to Parquet",
    lambda inputs, work: ["export", inputs / "store", "-o", work / "out.parquet"],
    lambda work: {path.name: path.read_bytes() for path in work.glob("[!.]*")},
    lambda work: [path.name for path in work.glob(".*")],
    at_once=True,
    says_done="is there already",
)


# ------------------------------------------------------------------------------------------------------- a store

INDEXING = ("--encoder", "light", "--method", METHOD, "--thumbnail", "16", "--json")


def pages_of(work):
    """The pages of a store by id, with all that it tells of them."""
    if not is_store(work / "store"):
        return {}
    try:
        with am.open_store(work / "store") as store:
            return {entry.id: page_of(entry) for entry in store.entries()}
    except AdamergeError as error:
        return {f"the store ({error})": "cannot be read"}


def page_of(entry):
    vectors, groups = entry.page.vectors.tobytes(), entry.page.groups.tobytes()
    words = [(word.text, word.box) for word in entry.words]
    about = entry.source, entry.number, entry.pages, entry.root, entry.hash, entry.thumbnail
    return vectors, groups, words, about, dict(entry.metadata)


def left_of_store(work):
    """A folder without a table, and files of a table that no version of it names."""
    if not (work / "store").exists():
        return []
    if not is_store(work / "store"):
        return ["store"]
    table = work / "store" / "pages.lance"
    files = {path.relative_to(table).as_posix() for path in table.rglob("*") if path.is_file()}
    named = lance.dataset(table).tracked_files().read_all()["path"].to_pylist()
    return sorted(files - {VERSION_HINT, *named})


def changes_of(out):
    """The pages that `index --json` says it has added, replaced or removed."""
    changes = [json.loads(line) for line in out.splitlines()]
    return {change["page"] for change in changes if change["did"] != "unchanged"}


def copy_of_store(name):
    """A function that puts a copy of a store of the inputs into work."""
    return lambda work, inputs: shutil.copytree(inputs / name, work / "store")


INDEX = Command(
    "index",
    lambda inputs, work: ["index", inputs / "docs", "--store", work / "store", *INDEXING],
    pages_of,
    left_of_store,
    done=changes_of,
)

INDEX_AGAIN = Command(
    "index again",
    lambda inputs, work: [
        *("index", inputs / "docs", "--store", work / "store", *INDEXING),
        *("--metadata", inputs / "years.csv"),
    ],
    pages_of,
    left_of_store,
    before=copy_of_store("before.store"),
    done=changes_of,
)

DELETE = Command(
    "delete",
    lambda inputs, work: ["delete", work / "store", "--source", "same.pdf"],
    pages_of,
    left_of_store,
    before=copy_of_store("store"),
    says_done="holds no file",
)

COPY = Command(
    "copy",
    lambda inputs, work: ["copy", inputs / "store", work / "store", "--dtype", "int4"],
    pages_of,
    left_of_store,
)

OF_FILES = (COMPRESS, ENCODE, EXPORT, EXPORT_PARQUET)
OF_STORES = (INDEX, INDEX_AGAIN, DELETE, COPY)
COMMANDS = {command.name: command for command in OF_FILES + OF_STORES}
