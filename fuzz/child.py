"""The process that meets the inputs: python -m fuzz.child MODULE SEED FIRST LAST FOLDER.

It tells by a shared file which input it is at, so that the driver knows which one ended it, and prints a line of JSON
for each finding that it lives to tell.
"""

import json
import mmap
import os
import resource
import struct
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.judge import Finding, judge
from fuzz.target import load_target

PROGRESS = "progress"  # the shared file: the number of the input in work
READY = struct.Struct("<q")
BEFORE_FIRST = -1
MEMORY = 2 << 30  # bytes more than at the start
UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


def main() -> None:
    """Take the inputs FIRST to LAST of a target through its door."""
    module, seed, first, last, folder = sys.argv[1:]
    target = load_target(module)
    examples = target.examples()
    told: set[str] = set()
    with TemporaryDirectory(dir=folder) as scratch, target.session(Path(scratch)) as try_input:
        judge(target, try_input, examples[0])  # whatever is imported late is imported now
        progress = _share(Path(folder) / PROGRESS)
        most = _peak()
        for number in range(int(first), int(last)):
            READY.pack_into(progress, 0, number)
            finding = judge(target, try_input, target.make_input(examples, int(seed), number))
            peak = _peak()
            if peak > most + MEMORY:
                finding = Finding("memory", target.name, f"took {peak - most:,} bytes")
            most = max(most, peak)
            if finding and finding.signature not in told:
                told.add(finding.signature)
                _tell(number, finding)
        READY.pack_into(progress, 0, int(last))


def _share(path: Path) -> mmap.mmap:
    path.write_bytes(READY.pack(BEFORE_FIRST))
    opened = os.open(path, os.O_RDWR)
    return mmap.mmap(opened, READY.size)


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


def _tell(number: int, finding: Finding) -> None:
    line = {"number": number, "kind": finding.kind, "where": finding.where, "text": finding.text}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
