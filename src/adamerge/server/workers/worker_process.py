"""The process that opens the files of strangers. Tasks come in as lines of JSON, and answers go out as lines of JSON.

Before it reads anything, it limits its memory, turns core files off and lowers its priority, so that searches go first.
"""

import json
import os
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from tempfile import gettempdir
from threading import Thread
from typing import Any

from adamerge.encoders import DEFAULT_ENCODER, Encoder, EncoderSpec
from adamerge.errors import AdamergeError
from adamerge.server.disk_errors import disk_error
from adamerge.server.redact import redact
from adamerge.server.workers.tasks import TASKS, Tell
from adamerge.store import Store


class LoadedEncoders:
    """Encoders that stay loaded from one task to the next."""

    def __init__(self, memory: int) -> None:
        """Load nothing yet; `memory` bytes more than an encoder needs may be taken."""
        self.memory = memory
        self._loaded: dict[str, Encoder] = {}

    def load(self, store: Store, named: str) -> Encoder:
        """The encoder of a store, or the one that is named; the limit on memory counts from when it is loaded."""
        if store.about is None:
            spec = EncoderSpec(named or DEFAULT_ENCODER)
        else:
            spec = store.encoder_spec()
        key = repr(spec)
        if key not in self._loaded:
            limit_memory(-1)
            try:
                self._loaded[key] = spec.load() if store.about is None else store.load_encoder()
            finally:
                limit_memory(self.memory)
        return self._loaded[key]


def main() -> None:
    """Do tasks until the server ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is not an answer
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # meant for the server, which ends us
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(10)
    tasks = read_tasks()

    def tell(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    encoders = LoadedEncoders(int(sys.argv[1]))
    limit_memory(encoders.memory)
    for task in tasks:
        tell({"end": True} | attempt(encoders, task, tell))


def read_tasks() -> Iterator[dict[str, Any]]:
    """Tasks as they come. This process ends with its server, since the next server may write to the store then."""
    lines: SimpleQueue[str] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            lines.put(line)
        end()

    Thread(target=listen, daemon=True).start()
    while True:
        yield json.loads(lines.get())


def end() -> None:
    """End at once, with the processes that were started here and all temporary files."""
    leads_group = os.getpgrp() == os.getpid()
    folder = gettempdir()
    if Path(folder).name.startswith("adamerge-worker-"):
        shutil.rmtree(folder, ignore_errors=True)
    if leads_group:
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def attempt(encoders: LoadedEncoders, task: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The answer to a task; if the task fails, the message and the class of its error."""
    root = task.get("root", "")
    folders = (root, os.path.dirname(root), os.path.dirname(task.get("store", "")))
    try:
        return TASKS[task["do"]](encoders, task, tell)
    except AdamergeError as error:
        return {"error": redact(error, *folders), "kind": type(error).__name__}
    except MemoryError:
        return {"error": "it needs more memory than a worker may take", "kind": "TooLarge"}
    except OSError as error:
        if error.errno is None:  # a library's word for a file that it cannot read
            return {"error": redact(error, *folders), "kind": "BadFile"}
        return {"error": f"disk error: {disk_error(error)}", "kind": "StoreUnavailable"}
    except (
        Exception
    ) as error:  # an error of a library, or a mistake of ours: the next task may work
        traceback.print_exc()
        return {"error": f"it could not be read ({redact(error, *folders)})", "kind": "BadFile"}


def limit_memory(memory: int) -> None:
    """Let this process take so many bytes more than it has now; -1 for as many as the system lets it."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = resource.RLIM_INFINITY if memory < 0 else _memory_now() + memory
    resource.setrlimit(resource.RLIMIT_AS, (_lower(wanted, hard), hard))


def _lower(wanted: int, hard: int) -> int:
    """The lower one of two limits."""
    if hard == resource.RLIM_INFINITY:
        return wanted
    if wanted == resource.RLIM_INFINITY:
        return hard
    return min(wanted, hard)


def _memory_now() -> int:
    """Bytes of address space that this process has, where the system tells it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


if __name__ == "__main__":
    main()
